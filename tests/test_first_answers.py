"""The answers that one gets first: each says what to do; names that are reachable, and choices that editors know."""

import inspect
import typing
from dataclasses import dataclass

import numpy as np
import pytest

import mercer
from mercer import SVC, KernelRidge, kernels
from mercer._registry import ESTIMATORS, LOSSES
from mercer.errors import InputError, KernelError, ParameterError, UnfittedError
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel
from mercer.testing import check_kernel

X = np.random.default_rng(0).normal(size=(6, 2))
Y = [0, 1] * 3


def test_parameters_of_a_kernel_that_is_a_name():
    with pytest.raises(ParameterError, match=r"set_params\(gamma=1\).*kernels\.RBF\(gamma=1\)"):
        SVC().set_params(kernel__gamma=1)
    with pytest.raises(ParameterError, match=r"name 'spectrum'.*kernels\.Spectrum\(p=3\)"):
        KernelRidge(kernel="spectrum").set_params(kernel__p=3)
    model = SVC(kernel=kernels.RBF()).set_params(kernel__gamma=2.0)
    assert model.kernel == kernels.RBF(gamma=2.0)
    assert SVC().set_params(kernel=kernels.RBF(), kernel__gamma=2.0).kernel == kernels.RBF(gamma=2.0)


def test_a_kernel_that_is_not_fitted():
    with pytest.raises(UnfittedError, match=r"kernel\.fit\(X\)\(X\)"):
        kernels.RBF()(X)


def test_columns_by_position():
    for columns in (0, [0, 1], np.int64(3)):
        with pytest.raises(ParameterError, match=r"have no names.*pull_back"):
            kernels.on(columns, kernels.RBF())
    with pytest.raises(ParameterError, match=r"the kernel comes second"):
        kernels.on(kernels.RBF(), "age")


@dataclass(frozen=True)
class ArrayFeatures(Kernel):
    """A kernel whose features are a bare array."""

    domain = Vectors

    def features(self, objects, state, dtype):
        return objects.values.astype(dtype)

    def tile(self, left, right, state, out):
        out[...] = left @ right.T

    def diagonal(self, features, state):
        return (features**2).sum(axis=1)


def test_features_that_are_an_array():
    for act in (lambda: ArrayFeatures().fit(X)(X), lambda: SVC(kernel=ArrayFeatures()).fit(X, Y)):
        with pytest.raises(KernelError, match=r"ArrayFeatures\.features returned an array.*Batch"):
            act()


def test_an_exception_in_a_function_names_the_pair():
    def fails(a, b):
        if "c" in (a, b):
            raise ValueError("no c")
        return 1.0

    with pytest.raises(KernelError, match=r"fails raised ValueError\('no c'\) for the pair '[abc]' and '[abc]'"):
        kernels.FromFunction(fails, objects="strings").fit(["a", "b"])(["a", "b", "c"])
    with pytest.raises(KernelError, match=r"it returned str for the pair 'a' and 'a'"):
        kernels.FromFunction(lambda a, b: "x", objects="strings").fit(["a"])(["a"])
    with pytest.raises(KernelError, match=r"raised .* for blocks of \d+ and \d+ objects\. .*FromFunction"):
        SVC(kernel=lambda A, B: A.nothing).fit(X, Y)


def test_checks_of_items_need_objects():
    with pytest.raises(InputError, match=r"Pass at least 12 objects"):
        check_kernel(kernels.FromFunction(lambda a, b: 1.0, objects="items"))


def test_reachable_names():
    from mercer.losses import Hinge, Loss

    assert isinstance(Hinge(), Loss)
    assert {entry.load().__name__ for entry in LOSSES.values()} <= set(mercer.losses.__all__)
    assert mercer.plots.MarginDisplay
    assert mercer.testing.check_kernel is check_kernel
    assert {"plots", "testing", "losses", "datasets", "kernels"} <= set(dir(mercer))


CHOICES = (
    "gamma", "memory", "psd", "dual", "dtype", "decision_function_shape", "penalty_scaling", "assign_labels", "region",
    "method", "variant", "objective", "multi_class", "penalty",
)  # fmt: skip


def _spelt_out(hint):
    """Whether a type holds a Literal."""
    return typing.get_origin(hint) is typing.Literal or any(_spelt_out(part) for part in typing.get_args(hint))


@pytest.mark.parametrize("name", [*ESTIMATORS, "MultipleKernelMachine"])
def test_choices_are_literal_types(name):
    cls = getattr(mercer, name)
    where = cls if name != "MultipleKernelMachine" else cls.__init__
    hints = typing.get_type_hints(where)
    parameters = inspect.signature(cls).parameters
    for choice in CHOICES:
        if choice in parameters:
            assert _spelt_out(hints[choice]), f"{name}.{choice}: {hints[choice]}"
            allowed = [part for hint in _literals(hints[choice]) for part in typing.get_args(hint)]
            default = parameters[choice].default
            assert not isinstance(default, str) or default in allowed


def _literals(hint):
    if typing.get_origin(hint) is typing.Literal:
        return [hint]
    return [one for part in typing.get_args(hint) for one in _literals(part)]

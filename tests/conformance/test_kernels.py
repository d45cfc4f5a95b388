"""Every registered kernel keeps its promises, on every kind of sample that it accepts."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import mercer.estimators
import mercer.kernels
import mercer.losses
from mercer._registry import ESTIMATORS, INPUTS, KERNELS, LOSSES
from mercer.inputs.base import Objects
from mercer.kernels.base import Kernel
from mercer.losses.base import Loss
from mercer.testing import check_kernel, kernel_checks, objects_for
from mercer.testing.checks import fingerprint
from mercer.testing.examples import examples_of
from mercer.testing.samples import SAMPLES
from tests.conformance.round_trips import PICKLE

EXAMPLES = [
    pytest.param(kernel, id=f"{name}-{number}")
    for name, entry in KERNELS.items()
    for number, kernel in enumerate(examples_of(entry.load()))
]


@pytest.mark.parametrize("kernel", EXAMPLES)
def test_conformance(kernel):
    for name, objects in objects_for(kernel).items():
        try:
            check_kernel(kernel, objects, round_trips=PICKLE)
        except AssertionError as error:
            raise AssertionError(f"on {name}: {error}") from error


@pytest.mark.parametrize("kernel", EXAMPLES)
def test_repr_rebuilds(kernel):
    if "<function" in repr(kernel):
        return  # a function has no text that rebuilds it
    names = {name: entry.load() for name, entry in KERNELS.items()} | vars(np)
    assert eval(repr(kernel), names) == kernel  # noqa: S307


@pytest.mark.parametrize("kernel", EXAMPLES)
def test_samples_are_reproducible(kernel):
    first, again, other = (objects_for(kernel, random_state=seed) for seed in (1, 1, 2))
    assert first.keys() == again.keys() == other.keys()
    for name in first:
        assert fingerprint(first[name]) == fingerprint(again[name]) != fingerprint(other[name])


def test_every_class_has_examples():
    for name, entry in KERNELS.items():
        found = list(examples_of(entry.load()))
        assert found, name
        assert all(type(kernel) is entry.load() for kernel in found)


def test_samples_of_every_kind():
    assert {entry.load() for entry in INPUTS.values()} == set(SAMPLES)


def test_a_kind_without_samples_is_named(monkeypatch):
    monkeypatch.delitem(SAMPLES, mercer.kernels.Spectrum().domain)
    with pytest.raises(LookupError, match=r"no sample strings to try spectrum\(\) on. Add a function for Strings"):
        objects_for(mercer.kernels.Spectrum())


def test_too_few_objects():
    with pytest.raises(ValueError, match="at least 12 objects"):
        list(kernel_checks(mercer.kernels.Linear(), [[1.0], [2.0]]))


# Registration -----------------------------------------------------------------------------------------------------


def classes_in(package, kind):
    """Concrete public classes of this kind, wherever they are defined in the package."""
    found = []
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        members = vars(importlib.import_module(module.name)).values()
        found += [
            member
            for member in members
            if inspect.isclass(member)
            and issubclass(member, kind)
            and member.__module__ == module.name
            and not inspect.isabstract(member)
            and not member.__name__.startswith("_")
        ]
    return found


NOT_NAMED = {
    "Remembered": "names a folder of this machine, which neither a model file nor the command line may do",
    "Streamed": "stands for objects of every other kind, which stay where they are",
}
"""Classes that are in no table, and why."""


def unregistered(classes, table):
    classes = [one for one in classes if one.__name__ not in NOT_NAMED]
    return [one for one in classes if one.__name__ not in table or table[one.__name__].load() is not one]


def test_every_kernel_is_registered():
    classes = classes_in(mercer.kernels, Kernel)
    assert len(classes) >= 12
    assert unregistered(classes, KERNELS) == []


def test_every_loss_is_registered():
    assert unregistered(classes_in(mercer.losses, Loss), LOSSES) == []


def test_every_estimator_is_registered():
    from sklearn.base import BaseEstimator

    classes = [one for one in classes_in(mercer.estimators, BaseEstimator) if hasattr(one, "fit")]
    assert unregistered(classes, ESTIMATORS) == []


def test_every_kind_of_objects_is_registered():
    import mercer.inputs

    kinds = [one for one in classes_in(mercer.inputs, Objects) if hasattr(one, "kind")]
    assert len(kinds) >= 10
    assert unregistered(kinds, INPUTS) == []


def test_a_forgotten_kernel_is_noticed():
    class Forgotten(Kernel):
        pass

    class Linear(Kernel):
        """Not the registered one of this name."""

    assert unregistered([Forgotten, Linear, mercer.kernels.RBF], KERNELS) == [Forgotten, Linear]


@pytest.mark.parametrize("table", [KERNELS, LOSSES, INPUTS], ids=["kernels", "losses", "inputs"])
def test_entries_load_and_are_named_once(table):
    for name, entry in table.items():
        assert entry.load().__name__ == name
        assert entry.summary
    texts = [entry.text for entry in table.values()]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_estimators_load_and_say_what_they_are(name):
    estimator = ESTIMATORS[name].load()
    assert estimator.__name__ == name
    assert estimator.__doc__.partition("\n")[0].endswith(".")

"""Multiple kernel learning: one kernel out of several, with weights learnt from data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer import _check, _deadline
from mercer._stored import Stored
from mercer._types import Float64
from mercer.errors import InputError
from mercer.gram.budget import Memory
from mercer.gram.contract import Gram
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects, refuse_masked
from mercer.kernels.algebra.sums import Scaled, Sum
from mercer.kernels.base import Kernel
from mercer.kernels.memory import calls
from mercer.kernels.text.expression import parse
from mercer.selection import kernel_weights, storing
from mercer.selection.learner import mean_diagonal
from mercer.selection.tags import with_inner_tags
from mercer.training.choices import KernelWeights
from mercer.training.proof import Proof

Method = TypeVar("Method", bound=Callable[..., Any])

METHODS = ("uniform", "alignment", "margin")
_NEGLIGIBLE = 1e-12
"""Kernels with less weight are left out of the sum. Weights add up to one, so these are zero up to rounding."""


def learn_kernel(
    kernels: Sequence[Kernel | str],
    X: Any,
    y: Any,
    *,
    method: KernelWeights = "alignment",
    lam: float = 0.1,
    memory: Memory = "auto",
) -> Kernel:
    """The weighted sum of kernels that suits labelled objects best, as an ordinary kernel.

    It can be printed, saved, and given to any learner. Its weights depend on the labels: for an unbiased score use
    `MultipleKernelMachine`, which learns them again in every fold.

    Parameters
    ----------
    kernels : on one kind of objects, or on columns of a table each (`kernels.on`); objects or text.
    method : ``"alignment"``, the sum most aligned with the labels; ``"margin"``, EasyMKL, for classes only, which
        rarely drops a kernel; ``"uniform"``, equal weights, which are hard to beat.
    lam : a parameter of the margin method in (0, 1): near 0 it uses only support vectors, near 1 the class means.
    memory : for stored Gram matrices: ``"auto"`` or a number of MiB.

    >>> from mercer import kernels, learn_kernel
    >>> strings, labels = ["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0]
    >>> print(learn_kernel([kernels.Spectrum(1), kernels.Spectrum(3)], strings, labels, method="uniform"))
    0.0384...*spectrum(p=1) + 0.1111...*spectrum()
    """
    return _learn(kernels, X, y, method=method, lam=lam, memory=memory, owner="learn_kernel")[0]


def _learn(
    kernels: Sequence[Kernel | str], X: Any, y: Any, *, method: str, lam: float, memory: Memory, owner: str
) -> tuple[Kernel, Float64, Proof | None]:
    """The kernel, its weights, and their certificate if something was optimised."""
    _check.choice(owner, "method", method, METHODS)
    lam = _check.real(owner, "lam", lam, low=0, high=1, low_open=True, high_open=True)
    given = [parse(kernel) if isinstance(kernel, str) else kernel for kernel in kernels]
    if not given or not all(isinstance(kernel, Kernel) for kernel in given):
        raise _check.fail(owner, "kernels", "a list of one or more kernels", kernels)
    objects = [kernel.coerce(X) for kernel in given]
    sizes = [_size(kernel, batch) for kernel, batch in zip(given, objects, strict=True)]
    scaled = [Scaled(kernel, 1.0 / size) for kernel, size in zip(given, sizes, strict=True)]
    targets, signs = _targets(y, len(objects[0]), method)
    weights = np.full(len(given), 1.0 / len(given))
    proof: Proof | None = None
    if method != "uniform" and len(given) > 1:
        grams = _grams(scaled, objects, memory)
        if method == "alignment":
            weights, proof = kernel_weights.alignment(grams, targets)
        else:
            weights, proof = kernel_weights.margin(grams, _sum_of(scaled, X, memory), signs, lam)
    terms: list[Kernel] = [
        Scaled(kernel, float(weight / size))
        for kernel, weight, size in zip(given, weights, sizes, strict=True)
        if weight > _NEGLIGIBLE
    ]
    return (terms[0] if len(terms) == 1 else Sum(tuple(terms))), weights, proof


def _grams(kernels: Sequence[Kernel], objects: Sequence[Objects], memory: Memory) -> list[Gram]:
    """The Gram matrix of each kernel; all of them are stored if there is memory for it."""
    grams = [gram_of(kernel.fit(batch), batch, memory=memory) for kernel, batch in zip(kernels, objects, strict=True)]
    needed = sum(gram.shape[0] ** 2 * np.dtype(gram.dtype).itemsize for gram in grams)
    return [gram.stored() for gram in grams] if needed <= grams[0].budget else grams


def _sum_of(kernels: Sequence[Kernel], X: Any, memory: Memory) -> Gram:
    """The Gram matrix of the sum, stored if there is memory for it."""
    together = Sum(tuple(kernels))
    return gram_of(together.fit(X), together.coerce(X), memory=memory).stored_if_it_fits()


def _size(kernel: Kernel, objects: Objects) -> float:
    size = mean_diagonal(kernel, objects)
    if not size > 0:
        what = "is zero on these objects" if size == 0 else f"has a mean diagonal of {size:g}"
        raise InputError(f"The kernel {kernel} {what} and cannot be weighted. Leave it out.")
    return size


def _targets(y: Any, n: int, method: str) -> tuple[Float64, list[Float64]]:
    """A column per class (or the numbers), and signs for each class against the rest."""
    refuse_masked(y, "y")
    values = np.asarray(y)
    if values.ndim != 1 or len(values) != n:
        raise InputError(f"y must have one entry per object: expected ({n},), got {values.shape}.")
    if values.dtype.kind == "f" and (values != np.round(values)).any():
        if method == "margin":
            raise InputError("The margin method needs classes; y holds numbers. Use method='alignment'.")
        return values[:, None].astype(np.float64), []
    labels, codes = np.unique(values, return_inverse=True)
    if len(labels) < 2:
        raise InputError(
            f"Kernels are weighted by how they tell classes apart, and there is one class: all {n} objects are "
            f"{labels[0]!r}."
        )
    signs = [np.where(codes == label, 1.0, -1.0) for label in range(len(labels))]
    return np.eye(len(labels))[codes], signs[1:] if len(labels) == 2 else signs


def _available_if_the_machine_has_it(method: Method) -> Method:
    """A method that exists if the machine has one of the same name."""
    found: Method = available_if(lambda self: hasattr(self.estimator, method.__name__))(method)
    return found


class MultipleKernelMachine(MetaEstimatorMixin, BaseEstimator):
    """A kernel machine whose kernel is a weighted sum of several, with weights learnt from the same training objects.

    In a cross-validation the weights are learnt in every fold, so scores are unbiased.

    Parameters
    ----------
    estimator : a kernel machine, such as `SVC()`; its `kernel` is replaced. Its `time_limit` limits all of the work,
        weights included.
    kernels, method, lam : as in `learn_kernel`.

    Attributes
    ----------
    estimator_ : the fitted machine.
    kernel_ : the weighted sum, fitted.
    weights_ : of the kernels; they add up to one over kernels of mean diagonal one.
    certificate_ : how close the machine is to its optimum, with this kernel.
    weights_certificate_ : how close the weights are to the optimum of what `method` optimises; None if nothing was
        optimised, as for equal weights or a single kernel.
    classes_ : the labels, if the machine is a classifier.
    n_features_in_ : the number of columns; for vectors only.

    >>> from mercer import SVC, MultipleKernelMachine, kernels
    >>> strings, labels = ["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0]
    >>> machine = MultipleKernelMachine(SVC(), [kernels.Spectrum(1), kernels.Spectrum(3)], method="margin")
    >>> machine.fit(strings, labels).predict(["gatta", "gcgc"])
    array([1, 0])
    """

    def __init__(self, estimator: Any, kernels: Any, *, method: KernelWeights = "alignment", lam: float = 0.1) -> None:
        self.estimator = estimator
        self.kernels = kernels
        self.method = method
        self.lam = lam

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Learn the weights, then train on the weighted sum."""
        memory, limit = getattr(self.estimator, "memory", "auto"), getattr(self.estimator, "time_limit", None)
        owner = type(self).__name__
        if y is None:
            raise InputError(f"{owner} requires y to be passed, but the target y is None.")
        labels = np.asarray(y)
        y = column_or_1d(labels, warn=True) if labels.ndim == 2 and labels.shape[1] == 1 else y
        if limit is not None:
            _check.real(owner, "estimator__time_limit", limit, low=0, low_open=True)
        with calls.once(), _deadline.limited(limit):
            kernel, weights, proof = _learn(
                self.kernels, X, y, method=self.method, lam=self.lam, memory=memory, owner=owner
            )
            model = clone(self.estimator).set_params(kernel=kernel)
            model.fit(X, y, **fit_params)
        self.estimator_ = model
        self.kernel_ = model.kernel_
        self.weights_ = weights
        self.weights_certificate_ = proof
        return self

    @_available_if_the_machine_has_it
    def predict(self, X: Any) -> Any:
        """The predictions of the machine."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @_available_if_the_machine_has_it
    def decision_function(self, X: Any) -> Any:
        """Its decision values."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    @_available_if_the_machine_has_it
    def predict_proba(self, X: Any) -> Any:
        """Its probabilities."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Its score."""
        check_is_fitted(self)
        return float(self.estimator_.score(X, y, sample_weight))

    @property
    def certificate_(self) -> Any:
        """How close the machine is to the optimum of its own problem, with the kernel that was learnt."""
        check_is_fitted(self)
        return self.estimator_.certificate_

    @property
    def classes_(self) -> Any:
        """The labels, if it is a classifier."""
        if not is_classifier(self.estimator):
            raise AttributeError("only classifiers have classes_")
        check_is_fitted(self)
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """The number of features, if objects are vectors."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    def _to_stored(self) -> Stored:
        check_is_fitted(self)
        params = self.get_params(deep=False)
        return storing.take_apart(params, self.estimator_, self.weights_, self.weights_certificate_)

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        params, machine, weights, proof = storing.put_together(stored)
        _check.choice(cls.__name__, "method", params["method"], METHODS)
        model = cls(**params)
        model.estimator_, model.kernel_, model.weights_ = machine, machine.kernel_, weights
        model.weights_certificate_ = proof
        return model

    def __sklearn_tags__(self) -> Any:
        return with_inner_tags(super().__sklearn_tags__(), self.estimator)

"""Support vector classification by the fraction of errors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._types import Float64
from mercer.errors import KernelWarning, ParameterError
from mercer.gram.contract import Gram
from mercer.losses.hinge import Hinge
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Status
from mercer.training.certificate import certify
from mercer.training.margin_classifier import MarginClassifier
from mercer.training.nu import NoMarginError, largest_nu, train_nu_classifier
from mercer.training.pairs import Solved
from mercer.training.targets import Classes
from mercer.training.train import Machine
from mercer.training.voting import pairs


@dataclass(kw_only=True, eq=False, repr=False)
class NuSVC(MarginClassifier):
    """Support vector classification in which nu, not C, says how much error is allowed.

    nu is an upper bound on the fraction of objects that are inside the margin or misclassified, and a lower bound on
    the fraction of support objects. For two classes it minimises 1/2 |w|^2 - nu rho + 1/n sum_i max(0, rho - y_i
    f(x_i)) over f(x) = <w, phi(x)> + b and rho >= 0, and then divides by rho; for more, it does so for every pair of
    classes on one shared Gram matrix. A drop-in for scikit-learn's NuSVC, except that `class_weight` has an effect: it
    multiplies the weights of objects.

    With few errors allowed, a machine depends much on the sample. Probabilities therefore belong to the mean of the
    machine and the five machines that were trained on folds to learn them; decision values are the machine's own.

    Parameters
    ----------
    nu : in (0, 1], and at most twice the fraction of the smaller of any two classes.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter,
        decision_function_shape, break_ties, random_state, time_limit, memory, psd, dtype : as in `SVC`.
    dual : as in `SVC`, but features are used from 5,000 objects on. With up to about a thousand features, Newton's
        method on their weights stops at a duality gap of `tol` / 10,000 of the objective; with more, working sets stop
        by `tol`, as on a Gram matrix.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, class_weight_ : as in `SVC`.
    penalties_ : for each pair of classes, the C with which `SVC` has the same solution.
    kernel_, expansion_, certificate_, n_iter_, fit_status_, shape_fit_, calibration_, probA_, probB_, n_features_in_,
        feature_names_in_ : as in `SVC`.

    >>> from mercer import NuSVC
    >>> model = NuSVC(nu=0.5, kernel="linear").fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> model.predict([[2.0], [3.0]])
    array([0, 1])
    """

    nu: float = 0.5

    _nu_form = True
    _by_the_mean = True
    _without_a_class = " The specified nu is infeasible then."
    _alone = True
    """Whether there is only one pair of classes, which must have a margin."""
    _regressor = "NuSVR"

    def _check_parameters(self) -> None:
        _check.real(type(self).__name__, "nu", self.nu, low=0, high=1, low_open=True)
        super()._check_parameters()

    def _bounds(self, classes: Classes, weights: Float64) -> Float64:
        totals = np.bincount(classes.codes, weights=weights, minlength=len(classes.labels)).astype(np.float64)
        most, pair = largest_nu(totals)
        if float(self.nu) > most * (1 + 1e-12):
            first, second = (f"{classes.labels.tolist()[k]!r} (weight {totals[k]:g})" for k in pair)
            raise ParameterError(
                f"The specified nu is infeasible: nu={self.nu:g}, but between the classes {first} and {second} it can "
                f"be at most {most:.6g}, twice the fraction of the smaller. Lower nu to that, or give both classes the "
                "same weight with class_weight='balanced'."
            )
        self._alone = len(totals) == 2
        return weights

    def _solve(self, gram: Gram, signs: Float64, bounds: Float64, limits: Limits, on_chunk: OnChunk | None) -> Solved:
        totals = np.array([bounds[signs > 0].sum(), bounds[signs < 0].sum()])
        nu = min(float(self.nu), largest_nu(totals)[0])  # parts of the data may be less balanced than the whole
        try:
            return train_nu_classifier(gram, signs, bounds, nu, tol=float(self.tol), limits=limits, on_chunk=on_chunk)
        except NoMarginError:
            if self._alone:
                raise
        nothing = np.zeros(len(signs))
        problem = LossProblem(Hinge(), signs, nothing)
        prove = partial(certify, problem, nothing, nothing, 0.0, iterations=0, dtype="float64")
        return Machine(nothing, 0.0, Status.CONVERGED, 0, prove), 0.0

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on objects X with labels y; `sample_weight` multiplies the weight of each object.

        With several classes, a pair for which nu leaves no margin abstains, with a warning.
        """
        super().fit(X, y, sample_weight)
        silent = [
            pair for pair, scale in zip(pairs(len(self.classes_)), self._penalty_scales, strict=True) if not scale
        ]
        if silent:
            first, second = (repr(self.classes_.tolist()[k]) for k in silent[0])
            warnings.warn(
                f"With nu={self.nu:g} there is no margin between {len(silent)} of {len(self._penalty_scales)} pairs of "
                f"classes, for example {first} and {second}: no boundary leaves so few objects on its wrong side. "
                "Their machines abstain. Raise nu, or use a richer kernel or SVC.",
                KernelWarning,
                stacklevel=2,
            )
        return self

    @property
    def penalties_(self) -> Float64:
        """The C of the same machine in its C-form, for each pair of classes."""
        check_is_fitted(self)
        return self._penalty_scales

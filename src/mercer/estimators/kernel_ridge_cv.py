"""Kernel ridge regression that chooses its own penalty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv

from mercer import _check
from mercer._progress import reporting
from mercer._types import Float64, Indices
from mercer.errors import InputError
from mercer.estimators.kernel_ridge import KernelRidge, Known
from mercer.gram import budget, known
from mercer.gram.block_rows import BlockRows
from mercer.gram.contract import Gram
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel, Kernel
from mercer.losses.squared import Squared
from mercer.solvers.ridge.block_path import leave_one_out
from mercer.solvers.ridge.direct import RidgePath
from mercer.solvers.ridge.path import PrimalRidgePath
from mercer.training.matrix import GramSettings, guard, training_gram
from mercer.training.storing import ArrayField, Field, ValueField
from mercer.training.targets import numbers_of, sample_weights


@dataclass(kw_only=True, eq=False, repr=False)
class KernelRidgeCV(KernelRidge):
    """Kernel ridge regression with alpha chosen by exact cross-validation over a whole path of alphas.

    One reduction of the Gram matrix gives, for every alpha, the leave-one-out residuals (``cv=None``) or those of any
    split into folds, exactly as if each machine had been trained separately. A kernel whose parameters depend on the
    data is fitted again for each fold; for leave-one-out it is fitted once, on all objects.

    Parameters
    ----------
    alphas : the penalties to try.
    cv : None for leave-one-out, a number of folds, or a splitter of scikit-learn.
    scoring : None for minus the mean squared error, or a scorer of scikit-learn by name.
    store_cv_results : keep the cross-validated predictions as `cv_predictions_`, (objects, outputs, alphas).
    kernel, gamma, degree, coef0, fit_intercept, memory, time_limit, psd, dual : as in `KernelRidge`; only the matrix of
        all objects is repaired. Explicit features are used if there are fewer of them than objects.

    Attributes
    ----------
    alpha_ : the penalty that was chosen.
    best_score_ : its score.
    scores_ : the scores of all penalties, in their order.
    dual_coef_, intercept_, kernel_, expansion_, certificate_ : as in `KernelRidge`.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> import numpy as np
    >>> from mercer import KernelRidgeCV
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> noise = np.random.default_rng(0).normal(size=60)
    >>> model = KernelRidgeCV(alphas=[1e-6, 1e-1, 1e5], kernel="rbf", gamma=1.0).fit(X, np.sin(X[:, 0]) + 0.1 * noise)
    >>> model.alpha_
    0.1
    """

    alphas: Any = field(default=(0.1, 1.0, 10.0), kw_only=False)
    cv: Any = None
    scoring: str | None = None
    store_cv_results: bool = False
    alpha: ClassVar[Any] = None  # type: ignore[misc]  # not a parameter here

    _fields: ClassVar[Mapping[str, Field]] = {
        **KernelRidge._fields,
        "scores_": ArrayField("f", "alphas"),
        "alpha_": ValueField(float),
        "best_score_": ValueField(float),
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose alpha by cross-validation, then train on all objects with it; blocks have their own targets."""
        with self._all_or_nothing(), known.sharing():
            alphas = self._checked_alphas()
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            targets, single = numbers_of(self, y, objects, several=True)
            weights = sample_weights(sample_weight, objects)
            whole = _Task(objects, targets, weights, None if self.cv is None else self._folds(objects, targets))
            used = np.flatnonzero(weights > 0)
            task = whole
            if len(used) < len(weights):  # what weighs nothing is neither trained nor tested on
                self._refuse_weightless(weights)
                task = whole.among(used)
            residuals, made = self._residuals(kernel, task, alphas)
            predictions, made = task.targets[:, :, None] - residuals, made if task is whole else None
            score = self._scorer(task.weights)
            scores = np.array([score(task.targets, predictions[:, :, number]) for number in range(len(alphas))])
            best = int(scores.argmax())
            self._fit(X, y, sample_weight, float(alphas[best]), made)
        self.alpha_ = float(alphas[best])
        self.scores_ = scores
        self.best_score_ = float(scores[best])
        if self.store_cv_results:
            self.cv_predictions_ = predictions[:, 0] if single else predictions
        return self

    def _checked_alphas(self) -> Float64:
        rule = "one or more positive numbers"
        try:
            alphas = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64))
        except (TypeError, ValueError):
            raise _check.fail(type(self).__name__, "alphas", rule, self.alphas) from None
        if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas > 0)).all():
            raise _check.fail(type(self).__name__, "alphas", rule, self.alphas)
        return alphas

    def _refuse_weightless(self, weights: Float64) -> None:
        if self.store_cv_results:
            where = int(np.flatnonzero(weights == 0)[0])
            raise InputError(
                f"store_cv_results needs positive weights; object {where} has 0, and is predicted by no fold. Leave "
                "such objects out."
            )

    def _folds(self, objects: Objects, targets: Float64) -> list[Any]:
        splits = list(check_cv(self.cv).split(np.empty((len(objects), 1)), targets))
        tested = np.concatenate([test for _, test in splits])
        complete = len(tested) == len(objects) and len(np.unique(tested)) == len(objects)
        if not complete or any(len(train) + len(test) != len(objects) for train, test in splits):
            raise _check.fail(
                type(self).__name__, "cv", "a split in which every object is tested exactly once", self.cv
            )
        return [test for _, test in splits]

    def _residuals(self, kernel: Kernel, task: _Task, alphas: Float64) -> tuple[Float64, Known | None]:
        """y minus the cross-validated prediction, as (objects, outputs, alphas), and the matrix of all objects."""
        objects, targets, weights, folds = task.objects, task.targets, task.weights, task.folds
        if folds is not None and kernel.data_dependent:
            return self._refitted_residuals(kernel, task, folds, alphas), None
        residuals = np.empty((*targets.shape, len(alphas)))
        fitted = self._fit_kernel(kernel, objects, weights)
        with reporting("Cross-validation") as report:
            gram = training_gram(self._settings(), fitted, objects, [Squared()])
            if folds is None and isinstance(gram.factor, BlockRows):
                intercept, limits = bool(self.fit_intercept), self._limits()
                found = leave_one_out(gram.factor, targets, weights, alphas, intercept=intercept, limits=limits)
                return found, None  # many rows are trained in passes
            path = self._path(fitted, gram, targets, weights, len(alphas))
            for number, alpha in enumerate(alphas):
                one = path.leave_one_out(alpha) if folds is None else path.fold_residuals(alpha, folds)
                residuals[:, :, number] = one
                report((number + 1) / len(alphas))
        return residuals, (fitted, objects, gram)

    def _settings(self) -> GramSettings:
        # The machine itself is checked later; one warning about the kernel is enough.
        psd = "ignore" if self.psd == "warn" else self.psd
        return GramSettings(type(self).__name__, self.dual, self.memory, psd, self._precision)

    def _path(
        self, fitted: FittedKernel, gram: Gram, targets: Float64, weights: Float64, alphas: int
    ) -> RidgePath | PrimalRidgePath:
        """The solver for all alphas: on features of the kernel if requested or cheaper, else on its matrix."""
        settings = self._settings()
        rows, intercept, limits = gram.factor, bool(self.fit_intercept), self._limits()
        if rows is not None and rows.shape[1] < len(targets):
            n, d = rows.shape
            needed = 2 * n * d * np.dtype(np.float64).itemsize
            if not gram.setting.holds(needed):
                what = f"Cross-validation on {n:,} objects of {d:,} features"
                remedy = "Train on fewer objects, raise `memory`, or use a kernel with fewer features."
                budget.require(needed, gram.budget, what, remedy)
            return PrimalRidgePath.of(rows, targets, weights, intercept=intercept, limits=limits)
        K = guard(settings.owner, fitted.kernel, gram, settings.psd).gram.exact()
        return RidgePath.of(K, targets, weights, intercept=intercept, alphas=alphas, limits=limits)

    def _refitted_residuals(self, kernel: Kernel, task: _Task, folds: list[Any], alphas: Float64) -> Float64:
        """Fit the kernel to each training part separately, so scores are those of an exhaustive search."""
        objects, targets, weights = task.objects, task.targets, task.weights
        residuals = np.empty((*targets.shape, len(alphas)))
        for fold in folds:
            train = np.setdiff1d(np.arange(len(objects)), fold)
            fitted = self._fit_kernel(kernel, objects.take(train), weights[train])
            order = np.concatenate([train, fold])
            gram = training_gram(self._settings(), fitted, objects.take(order), [Squared()])
            path = self._path(fitted, gram, targets[order], weights[order], len(alphas))
            held_out = np.arange(len(train), len(order))
            for number, alpha in enumerate(alphas):
                residuals[fold, :, number] = path.fold_residuals(alpha, [held_out])[held_out]
        return residuals

    def _scorer(self, weights: Float64) -> Callable[[Float64, Float64], float]:
        if self.scoring is None:
            return lambda y, predicted: -float(np.average(((y - predicted) ** 2).mean(axis=1), weights=weights))
        scorer = get_scorer(self.scoring)
        return lambda y, predicted: float(scorer(_Echo(predicted), np.empty((len(y), 0)), y, sample_weight=weights))


@final
@dataclass(frozen=True, eq=False)
class _Task:
    """What the alphas are compared on. Without folds, each object is left out once."""

    objects: Objects
    targets: Float64
    weights: Float64
    folds: list[Any] | None

    def among(self, used: Indices) -> _Task:
        """The same for some of the objects."""
        folds = None if self.folds is None else _among(used, self.folds)
        return _Task(self.objects.take(used), self.targets[used], self.weights[used], folds)


def _among(used: Indices, folds: list[Any]) -> list[Any]:
    """The folds of some of the objects, counted among these; folds of which nothing is left are no folds."""
    parts = [np.flatnonzero(np.isin(used, fold)) for fold in folds]
    if max(map(len, parts)) == len(used):
        raise InputError("All objects with positive weights are in one fold, so there is nothing to train on.")
    return [part for part in parts if len(part)]


class _Echo(RegressorMixin, BaseEstimator):
    """An estimator with known predictions, for scikit-learn's scorers."""

    def __init__(self, predicted: Float64) -> None:
        self.predicted = predicted

    def fit(self, X: Any, y: Any) -> Self:
        """Do nothing."""
        return self

    def predict(self, X: Any) -> Float64:
        del X
        return self.predicted[:, 0] if self.predicted.shape[1] == 1 else self.predicted

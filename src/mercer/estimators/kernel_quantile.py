"""Quantile regression with a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.estimators.kernel_machine_regressor import KernelMachineRegressor
from mercer.losses.base import Loss
from mercer.losses.quantile import Quantile


@dataclass(kw_only=True, eq=False, repr=False)
class KernelQuantileRegressor(KernelMachineRegressor):
    """Quantiles of y given x, several at once on one Gram matrix: minimises 1/2 |w|^2 + C sum_i pinball(y_i - f(x_i)).

    Parameters
    ----------
    quantiles : one number in (0, 1), or several; `predict` then returns one column for each, in their order.
    non_crossing : whether to sort the predicted quantiles of an object, which never increases the loss; otherwise a
        higher quantile may be below a lower one.
    C, kernel, degree, gamma, coef0, fit_intercept, tol, max_iter, time_limit, memory, psd, dual, dtype : as in
        `KernelMachineRegressor`.

    Attributes
    ----------
    loss_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, kernel_, expansion_,
        certificate_ : as in `KernelMachineRegressor`.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> import numpy as np
    >>> from mercer import KernelQuantileRegressor
    >>> random = np.random.default_rng(0)
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.3 * random.normal(size=200)
    >>> low, high = KernelQuantileRegressor((0.1, 0.9), C=10.0, gamma=0.5).fit(X, y).predict(X).T
    >>> bool(0.75 < np.mean((low <= y) & (y <= high)) < 0.85)
    True
    """

    quantiles: float | Sequence[float] = field(default=0.5, kw_only=False)
    non_crossing: bool = True
    loss: ClassVar[Any] = None  # type: ignore[misc]  # not a parameter here

    def _losses(self) -> list[Loss]:
        owner = type(self).__name__
        _check.boolean(owner, "non_crossing", self.non_crossing)
        levels = [self.quantiles] if np.ndim(self.quantiles) == 0 else list(np.ravel(np.asarray(self.quantiles)))
        if not levels:
            raise _check.fail(owner, "quantiles", "one number in (0, 1) or several", self.quantiles)
        return [
            Quantile(_check.real(owner, "quantiles", level, low=0, high=1, low_open=True, high_open=True))
            for level in levels
        ]

    def _loss(self) -> Loss:
        return self._losses()[0]

    @property
    def _levels(self) -> Float64:
        return np.array([loss.tau for loss in self._losses() if isinstance(loss, Quantile)])

    def predict(self, X: Any) -> Float64:
        """Predicted quantiles: flat for one number, else one column for each, in the order of `quantiles`."""
        values = self._outputs(X)
        if np.ndim(self.quantiles) == 0:
            return values[:, 0]
        if self.non_crossing:
            order = np.argsort(self._levels, kind="stable")
            values[:, order] = np.sort(values, axis=1)
        return values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """1 - pinball loss / pinball loss of constant quantiles, averaged over quantiles; 1 is best."""
        from sklearn.metrics import d2_pinball_score

        predicted = self.predict(X).reshape(-1, len(self._levels))
        shares = [
            d2_pinball_score(y, column, alpha=level, sample_weight=sample_weight)
            for column, level in zip(predicted.T, self._levels, strict=True)
        ]
        return float(np.mean(shares))

"""Probabilities of margin classifiers: one positive temperature, fitted on cross-validated decision values.

P(k | x) = softmax(temperature * f(x))_k over decision values with one column per class, and 1 / (1 + exp(-temperature
* f(x))) for two classes. There is no offset, so that the class with the largest decision value is the most probable
one, and 0.5 lies on the decision boundary.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize
from scipy.special import expit, softmax

from mercer._types import Float64, Indices

_LEAST = 1e-3
"""The largest decision value times the temperature is at least this, which means classes that cannot be told apart: a
smaller value would round probabilities to equal ones, a larger one would claim knowledge that is not there."""


def wanted(estimator: Any) -> bool:
    """Whether an estimator was asked to learn probabilities; scikit-learn hides `predict_proba` otherwise."""
    if not estimator.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


def probabilities(values: Float64) -> Float64:
    """Probabilities of classes, one column each, from log odds: flat for two classes, else one column per class."""
    if values.ndim == 1:
        return np.column_stack([expit(-values), expit(values)])
    return np.asarray(softmax(values, axis=1))


def log_probabilities(values: Float64) -> Float64:
    """Logarithms of `probabilities`, without underflow."""
    if values.ndim == 1:
        return np.column_stack([-np.logaddexp(0.0, values), -np.logaddexp(0.0, -values)])
    return np.asarray(values - np.logaddexp.reduce(values, axis=1, keepdims=True))


def fit_temperature(values: Float64, codes: Indices, weights: Float64) -> float:
    """The temperature under which held-out objects are most likely, by Platt's softened targets.

    `values` are held-out decision values: flat for two classes, else one column per class. The likelihood is concave in
    the temperature, and softened targets keep its maximum finite where every object is on the right side.
    """
    if not len(codes):
        return 1.0
    columns = np.column_stack([-values / 2, values / 2]) if values.ndim == 1 else values
    n_classes = columns.shape[1]
    totals = np.bincount(codes, weights=weights, minlength=n_classes)
    sure = (totals + 1.0) / (totals + 2.0)
    own = columns[np.arange(len(codes)), codes]
    others = (columns.sum(axis=1) - own) / (n_classes - 1)
    wanted = float(weights @ (sure[codes] * own + (1.0 - sure[codes]) * others))

    def slope(temperature: float) -> float:
        shares = softmax(temperature * columns, axis=1)
        return float(weights @ (shares * columns).sum(axis=1)) - wanted

    scale = max(float(np.abs(columns).max()), np.finfo(float).tiny)
    least = _LEAST / scale
    if slope(least) >= 0.0:
        return least
    most = 1.0 / scale
    while slope(most) < 0.0 and most < 1e12 / scale:
        most *= 4.0
    return float(scipy.optimize.brentq(slope, least, most, rtol=1e-10)) if slope(most) > 0.0 else most

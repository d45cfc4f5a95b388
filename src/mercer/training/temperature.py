"""One number that turns decision values into log odds, where all outputs share a scale."""

from __future__ import annotations

import numpy as np
import scipy.optimize
from scipy.special import softmax

from mercer._types import Float64, Indices

_LEAST = 1e-3
"""The largest decision value times the temperature is at least this, which means classes that cannot be told apart: a
smaller value would round probabilities to equal ones, a larger one would claim knowledge that is not there."""


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

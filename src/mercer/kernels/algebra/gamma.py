"""The width parameter gamma: a number, or a rule that reads it off the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _check
from mercer.inputs.base import Objects
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Measure, State

Gamma = float | str
RULES = ("scale", "auto", "median")
_SAMPLE = 1000
"""Objects, at most about, whose distances tell the width: half a million pairs. More would change a median little, and
take longer than the first tiles of the Gram matrix."""


def checked(owner: str, gamma: Gamma) -> Gamma:
    """A positive number, or the name of a rule."""
    if isinstance(gamma, str):
        return _check.choice(owner, "gamma", gamma, RULES, "Or give a positive number.")
    return _check.real(owner, "gamma", gamma, low=0, low_open=True, high_open=True)


def of_vectors(rule: str, objects: Vectors) -> float | None:
    """The rules that scikit-learn has: 'scale' = 1 / (features * variance), 'auto' = 1 / features; else None."""
    if rule == "auto":
        return 1.0 / objects.n_features
    if rule == "scale":
        values: Any = objects.values
        if objects.is_sparse:
            exact = values.astype(np.float64)
            mean = exact.sum() / np.prod(values.shape)
            variance = float(exact.multiply(exact).sum() / np.prod(values.shape) - mean**2)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                variance = float(np.var(values, dtype=np.float64))
        width = objects.n_features * variance
        # A constant matrix has no scale (1.0, as in scikit-learn); one too large or too small for a number gets the
        # nearest gamma, and the kernel itself then says what is wrong.
        return 1.0 if width == 0 else float(np.clip(1.0 / width, 1e-300, 1e300))
    return None


def of_distances(rule: str, measure: Measure, objects: Objects, state: State) -> float:
    """The rules on any objects, from squared distances in a sample: 1 / mean for 'scale', 1 / median for 'median'.

    Half the mean squared distance is the variance in feature space, so 'scale' divides by the variance as it does on
    vectors. 'auto' has no meaning without features and is refused.
    """
    if rule == "auto":
        raise _check.fail("RBF", "gamma", "a number, 'scale' or 'median' over another kernel", rule)
    step = max(1, -(-len(objects) // _SAMPLE))  # an evenly spread sample: no randomness to reproduce
    sample = measure.features(objects.take(np.arange(0, len(objects), step)), state, np.float64)
    left, right = measure.align(sample, sample, state)
    values = np.empty((len(sample), len(sample)))
    measure.tile(left, right, state, values)
    distances = values[np.triu_indices(len(sample), 1)]
    typical = 0.0
    if len(distances):
        typical = float(np.median(distances)) if rule == "median" else float(distances.mean()) / 2
        typical = typical or float(distances.mean())  # most pairs equal: the median says nothing
    return 1.0 if typical == 0 else 1.0 / typical

"""Probabilities from decision values, learnt from held-out objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.training.voting import votes_and_sums

if TYPE_CHECKING:
    from mercer.training.folds import Split

_C = 100.0
"""The weak regularisation of the slope, which separable decision values would make infinite."""
_KINDS = 3
"""The same for the slopes of evidence of several classes."""
_STEPS, _SHORTEST = 100, 1e-6
"""Newton's method takes about ten full steps; these are limits for unusual values."""


def learn(decisions: Float64, codes: npt.NDArray[np.intp], n_classes: int, weights: Float64 | None = None) -> Float64:
    """For two classes, slope and constant of a logistic curve; for more, slopes of evidence and constants of classes.

    `weights` say how much each object counts. With more than two classes, the first row has the slopes of the three
    kinds of evidence, followed by zeros, and the second the constants. Older files have one row per class, with weights
    of all decision values and a constant.
    """
    if len(np.unique(codes)) < n_classes:  # a class that occurs in no test part: no probabilities
        return np.zeros((0, 0))
    counts = np.ones(len(codes)) if weights is None else weights
    if n_classes == 2 and decisions.shape[1] == 1:
        return _of_two(decisions[:, 0], codes > 0, counts)
    from mercer.training.probabilities import fit_calibration  # imported only here: prediction does not need it

    found = fit_calibration(_evidence(decisions), codes, counts)
    slopes = np.zeros(n_classes)
    slopes[: len(found.slopes)] = found.slopes
    return np.stack([slopes, found.offsets])


def _evidence(decisions: Float64) -> Float64:
    """The evidence for each class: the sum of decision values, the same squeezed, and whether it wins every vote."""
    tally, sums = votes_and_sums(decisions)
    return np.stack([sums, np.tanh(sums), (tally >= decisions.shape[1] - 1).astype(np.float64)], axis=2)


def _of_two(values: Float64, second: npt.NDArray[np.bool_], counts: Float64) -> Float64:
    """Slope and constant of a logistic curve, by Newton's method with step halving: a search needs hundreds.

    Minimises slope^2 / 2 + C sum_i counts_i log(1 + exp(-+(slope v_i + constant))), as scikit-learn does.
    """
    scale = float(np.abs(values).max()) or 1.0
    rows = np.column_stack([values / scale, np.ones(len(values))])
    ridge = np.array([1.0 / scale**2, 0.0])  # of the slope in units of the largest value
    sides, share = np.where(second, 1.0, -1.0), float(np.average(second, weights=counts))
    found = np.array([0.0, np.log(share / (1.0 - share))])

    def objective(at: Float64) -> float:
        return float(0.5 * ridge @ np.square(at) + _C * counts @ np.logaddexp(0.0, -sides * (rows @ at)))

    best = objective(found)
    for _ in range(_STEPS):
        chances = 0.5 * (1.0 + np.tanh(0.5 * (rows @ found)))
        slope = ridge * found + _C * rows.T @ (counts * (chances - second))
        curvature = np.diag(ridge) + _C * (rows.T * (counts * chances * (1.0 - chances))) @ rows
        curvature[np.diag_indices(2)] += 1e-12 * (1.0 + np.trace(curvature))
        step = np.linalg.solve(curvature, slope)
        size = 1.0
        while (value := objective(found - size * step)) > best and size > _SHORTEST:
            size /= 2.0
        if value >= best - 1e-13 * abs(best):
            break
        found, best = found - size * step, value
    return np.array([[found[0] / scale, found[1]]])


def probabilities(calibration: Float64, decisions: Float64) -> Float64:
    """One column per class."""
    if len(calibration) == 2:
        slopes, constants = calibration
        scores = _evidence(decisions) @ slopes[:_KINDS] + constants
    else:
        scores = decisions @ calibration[:, :-1].T + calibration[:, -1]
    scores = np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def most_probable(classes: npt.NDArray[Any], chances: Float64 | None, otherwise: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The most probable class of each object; if probabilities are unknown, the given prediction."""
    if chances is None:
        return otherwise
    known = np.asarray(np.isfinite(chances).all(axis=1))
    return np.where(known, classes[np.where(known[:, None], chances, 0.0).argmax(axis=1)], otherwise)


def held_out(
    decisions: Float64,
    codes: npt.NDArray[np.intp],
    splits: Sequence[Split],
    n_classes: int,
    weights: Float64 | None = None,
) -> Float64:
    """The probabilities of each object from a calibration learnt without its fold, for unbiased figures."""
    found = np.full((len(codes), n_classes), np.nan)
    for train, test in splits:
        if not len(train):  # a single held-out part, as with one block of time: calibrated on itself
            train = test
        calibration = learn(decisions[train], codes[train], n_classes, None if weights is None else weights[train])
        if calibration.size:
            found[test] = probabilities(calibration, decisions[test])
    return found

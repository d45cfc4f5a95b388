"""The votes of machines for pairs of classes. Prediction needs only this module and imports no training code."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Float64


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """Pairs of classes in scikit-learn's order; the machine of (a, b) is positive for a."""
    return list(combinations(range(n_classes), 2))


def votes(decisions: Float64, n_classes: int) -> npt.NDArray[np.intp]:
    """The class that wins most pairs; ties go to the first."""
    tally, _ = _tallied(decisions, n_classes, 0.0)
    winners: npt.NDArray[np.intp] = tally.argmax(axis=1)
    return winners


def one_vs_rest_shape(decisions: Float64, n_classes: int) -> Float64:
    """Votes, with ties broken by the sum of decision values squeezed into (-1/3, 1/3), one column per class."""
    tally, confidence = _tallied(decisions, n_classes, float(np.nextafter(0.0, -1.0)))  # zero counts for the first
    shares: Float64 = tally + confidence / (3 * (np.abs(confidence) + 1))
    return shares


def votes_and_sums(shares: Float64) -> tuple[Float64, Float64]:
    """The inverse of `one_vs_rest_shape`: the votes, and the sums of decision values."""
    tally = np.round(shares)
    squeezed = 3.0 * (shares - tally)
    return tally, squeezed / np.maximum(1.0 - np.abs(squeezed), np.finfo(float).eps)


def _tallied(decisions: Float64, n_classes: int, above: float) -> tuple[Float64, Float64]:
    """The number of wins and the sum of values per class; the first of a pair wins if its value exceeds `above`."""
    tally, confidence = np.zeros((len(decisions), n_classes)), np.zeros((len(decisions), n_classes))
    _tally(np.ascontiguousarray(decisions), above, tally, confidence)
    return tally, confidence


@jit
def _tally(decisions: Array, above: float, tally: Array, confidence: Array) -> None:
    n_classes = tally.shape[1]
    for i in range(decisions.shape[0]):
        values, wins, sums = decisions[i], tally[i], confidence[i]
        column = 0
        for a in range(n_classes):
            won, total = 0.0, 0.0
            for b in range(a + 1, n_classes):  # without branches, so that it vectorises
                value = values[column + b - a - 1]
                win = 1.0 if value > above else 0.0
                won += win
                total += value
                wins[b] += 1.0 - win
                sums[b] -= value
            wins[a] += won
            sums[a] += total
            column += n_classes - a - 1

"""How the matrix fits the labels: alignment, blocks by class, neighbours, and the score of a simple machine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer._types import Float64, Indices
from mercer.errors import InputError
from mercer.inputs.base import refuse_masked
from mercer.theory.alignment import centred_alignment, ideal_matrix
from mercer.theory.geometry import centred, cosines, squared_distances
from mercer.theory.samples import p_value

_ENOUGH = 1000  # fewest different labellings; with fewer, random ones too often equal those of the data
_PERMUTATIONS = 199  # p-values down to 0.005; more take longer and change no verdict, whose threshold is 0.05
_RIDGES = (1e-3, 1e-2, 1e-1, 1.0)
"""Ridges to try, relative to the mean eigenvalue. More would bias the score upwards, since the ridge with the best
score is chosen."""


@final
@dataclass(frozen=True, eq=False)
class Target:
    """Labels as class codes, or as numbers."""

    classes: npt.NDArray[Any] | None
    codes: Indices
    values: Float64

    def take(self, index: Indices) -> Target:
        return Target(self.classes, self.codes[index], self.values[index])

    @property
    def varies(self) -> bool:
        """Whether there are two different labels or more."""
        return len(np.unique(self.codes)) > 1

    @property
    def columns(self) -> Float64:
        """The targets of a ridge machine: indicators of the classes, or the numbers; centred."""
        found = self.values[:, None] if self.classes is None else (self.codes[:, None] == np.arange(len(self.classes)))
        return np.asarray(found - found.mean(axis=0), dtype=np.float64)


@final
@dataclass(frozen=True, eq=False)
class Labels:
    """How a Gram matrix fits the labels."""

    kind: str
    """"classes" or "numbers"."""
    n_classes: int | None
    alignment: float
    """Centred alignment with the ideal matrix of the labels."""
    within: float | None
    """The mean cosine of two objects of the same class; `between` is that of different classes."""
    between: float | None
    p_value: float | None
    """The fraction of random labellings that fit the matrix as well; None if there are too few labellings."""
    neighbours: float
    """How often the nearest other object has the same label; for numbers, 1 - its squared error / the error by
    chance."""
    chance: float
    """The same for random labels."""
    left_out: float
    """How often a ridge machine is right about an unseen object; for numbers, R^2."""
    left_out_chance: float

    @property
    def lift(self) -> float:
        """The better of neighbours and machine, between 0 (chance) and 1 (always right)."""
        found = 0.0
        for reached, chance in ((self.neighbours, self.chance), (self.left_out, self.left_out_chance)):
            if chance < 1.0:
                found = max(found, (reached - chance) / (1.0 - chance))
        return found


def target_of(y: Any, n: int) -> Target:
    """Checked labels: fractions and labels that are nearly all different are numbers, all others are classes."""
    refuse_masked(y, "y")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or len(labels) != n:
        raise InputError(f"One label per object is needed: got {n} objects and labels of shape {labels.shape}.")
    if labels.dtype.kind == "O":
        kinds = {type(label).__name__ for label in labels}
        if len(kinds) > 1 or None in labels.tolist():
            raise InputError(
                f"Labels must all have the same type, and none may be missing; got {', '.join(sorted(kinds))}."
            )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        where = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise InputError(f"Labels must be finite; that of object {where} is {labels[where]}.")
    found, codes = np.unique(labels, return_inverse=True)
    fractions = labels.dtype.kind == "f" and bool((labels != np.round(labels)).any())
    if labels.dtype.kind in "iuf" and (fractions or len(found) > max(20, n // 2)):
        return Target(None, codes, labels.astype(np.float64))
    return Target(found, codes, codes.astype(np.float64))


def labels_of(K: Float64, target: Target, rng: np.random.Generator) -> Labels | None:
    """The statistics; None if all labels are the same, or there is only one object."""
    if not target.varies:
        return None
    classes = target.classes is not None
    within, between = _blocks(K, target.codes) if classes else (None, None)
    ideal = ideal_matrix(target.codes) if classes else np.outer(target.values, target.values)
    return Labels(
        "classes" if classes else "numbers",
        len(np.unique(target.codes)) if classes else None,
        centred_alignment(K, ideal),
        within,
        between,
        _p_value(K, target, rng),
        *neighbour_agreement(K, target),
        *left_out_agreement(K, target),
    )


def neighbour_agreement(K: Float64, target: Target) -> tuple[float, float]:
    """The agreement of objects with their nearest neighbours in feature space (all of them if tied), and by chance."""
    n = len(K)
    squared = squared_distances(K, own=np.inf)
    slack = 1e-9 * max(float(np.abs(np.diagonal(K)).max()), 1e-300)
    nearest = squared <= squared.min(axis=1)[:, None] + slack
    if target.classes is not None:
        same = target.codes[:, None] == target.codes
        reached = float(((same & nearest).sum(axis=1) / nearest.sum(axis=1)).mean())
        counts = np.bincount(target.codes)
        return reached, float((counts * (counts - 1)).sum() / (n * (n - 1)))
    error = (target.values[:, None] - target.values) ** 2
    random = float(error.sum() / (n * (n - 1)))
    return 1.0 - float(((error * nearest).sum(axis=1) / nearest.sum(axis=1)).mean()) / random, 0.0


def left_out_agreement(K: Float64, target: Target) -> tuple[float, float]:
    """Leave-one-out agreement of a ridge machine on the centred matrix, in closed form; the best of a few ridges."""
    n = len(K)
    values, vectors = scipy.linalg.eigh(centred(K))
    values = np.maximum(values, 0.0)
    scale = float(values.sum()) / n
    Y = target.columns
    shares = np.bincount(target.codes, minlength=Y.shape[1]) / n
    majority = float(shares.max()) if target.classes is not None else 0.0
    if scale <= 1e-13 * float(np.abs(K).max()):
        return majority, majority
    rotated = vectors.T @ Y
    scores = []
    for ridge in _RIDGES:
        shrunk = values / (values + ridge * scale)
        fitted = vectors @ (shrunk[:, None] * rotated)
        leverage = np.minimum((vectors**2 @ shrunk) + 1.0 / n, 1.0 - 1e-9)
        predicted = Y - (Y - fitted) / (1.0 - leverage)[:, None]
        if target.classes is None:
            scores.append(1.0 - float(((Y - predicted) ** 2).sum() / (Y**2).sum()))
        else:
            scores.append(float(((predicted + shares).argmax(axis=1) == target.codes).mean()))
    return max(scores), majority


def _blocks(K: Float64, codes: Indices) -> tuple[float | None, float | None]:
    C = cosines(K)
    same = codes[:, None] == codes
    off = ~np.eye(len(K), dtype=bool)
    within = float(C[same & off].mean()) if (same & off).any() else None
    return within, float(C[~same].mean())


def _p_value(K: Float64, target: Target, rng: np.random.Generator) -> float | None:
    """By permutation of the labels; the statistic is the similarity within classes, or y'HKHy for numbers."""
    n = len(K)
    counts = np.bincount(target.codes)
    labellings = math.lgamma(n + 1) - sum(math.lgamma(count + 1) for count in counts)
    if labellings < math.log(_ENOUGH):
        return None
    C = cosines(K) if target.classes is not None else centred(K)
    np.fill_diagonal(C, 0.0)
    statistic = np.empty(_PERMUTATIONS + 1)
    for number in range(_PERMUTATIONS + 1):
        order = np.arange(n) if number == 0 else rng.permutation(n)
        Y = target.take(order).columns if target.classes is None else _indicators(target.codes[order])
        statistic[number] = float((Y * (C @ Y)).sum())
    return p_value(statistic)


def _indicators(codes: Indices) -> Float64:
    return np.asarray(codes[:, None] == np.unique(codes), dtype=np.float64)

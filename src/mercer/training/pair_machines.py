"""The machines of all pairs of classes: what they minimise, which objects each has, and what came out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram.contract import Gram
from mercer.losses.base import Loss
from mercer.solvers.drive import Limits, OnChunk
from mercer.training.certificate import Certificate
from mercer.training.train import Machine

Solved = tuple[Machine, float]
"""A machine, and the factor on the bounds of its coefficients."""
Solve = Callable[[Gram, Float64, Float64, Limits, OnChunk | None], Solved]
Report = Callable[[float, str], None]


@final
@dataclass(frozen=True)
class CForm:
    """Machines that minimise 1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i)) with an intercept, for y = +1 or -1."""

    loss: Loss
    """Its dual is a box problem without kinks."""
    tol: float


@final
class Members:
    """The objects with nonzero weight of each class and of each pair of classes."""

    def __init__(self, codes: Indices, weights: Float64, n_classes: int, *, in_order: bool = False) -> None:
        self._in_order = in_order or n_classes == 2  # keeps the order of the objects
        used = np.flatnonzero(weights > 0)
        own = codes[used]
        ends = np.bincount(own, minlength=n_classes).cumsum()
        self.groups = np.split(used[own.argsort(kind="stable")], ends[:-1])

    def of(self, pair: tuple[int, int]) -> tuple[Indices, Float64]:
        """The objects of a pair and their signs: +1 for the first class."""
        first, second = (self.groups[label] for label in pair)
        ids = np.concatenate((first, second))
        signs = np.repeat((1.0, -1.0), (len(first), len(second)))
        if not self._in_order:
            return ids, signs
        order = np.argsort(ids)
        return ids[order], signs[order]


@final
@dataclass(frozen=True, eq=False)
class PairMachines:
    """The machines of all pairs of classes, as arrays with one row per pair."""

    ids: Indices
    """The objects of all pairs, one pair after another ..."""
    sizes: Indices
    """... and the number of objects of each pair."""
    coefficients: Float64
    """The coefficients of these objects."""
    intercepts: Float64
    iterations: Indices
    scales: Float64
    """The factors on the bounds of coefficients."""
    unfinished: list[Machine]
    """The machines that did not converge."""
    proofs: Callable[[], tuple[Certificate, ...]]

    def columns(self, codes: Indices, n_classes: int) -> tuple[Indices, Any, Float64]:
        """Support objects grouped by class, their number per class, and their coefficients in every machine.

        Coefficients are written to their final place at once: with a hundred classes nearly all are zero, and moving
        them takes longer than training.
        """
        used = np.flatnonzero(self.coefficients)
        ids = self.ids[used]
        place = np.full(len(codes), -1)
        place[ids] = 0
        grouped, counts = grouped_by_class(np.flatnonzero(place == 0), codes, n_classes)
        place[grouped] = np.arange(len(grouped))
        coefficients = np.zeros((len(grouped), len(self.sizes)))
        column = np.arange(len(self.sizes)).repeat(self.sizes)[used]
        coefficients[place[ids], column] = self.coefficients[used]
        return grouped, counts, coefficients


def grouped_by_class(support: Indices, codes: Indices, n_classes: int) -> tuple[Indices, Any]:
    """Support objects grouped by class, and their number per class."""
    own = codes[support]
    counts = np.bincount(own, minlength=n_classes)
    return support[own.argsort(kind="stable")].astype(np.int32), counts.astype(np.int32)

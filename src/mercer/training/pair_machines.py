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
    """Machines that minimise 1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i)) with an intercept, for y = +1 and -1."""

    loss: Loss
    """Its dual is a box problem without kinks."""
    tol: float


@final
class Members:
    """The objects of each class that weigh something, and those of each pair of classes."""

    def __init__(self, codes: Indices, weights: Float64, n_classes: int, *, in_order: bool = False) -> None:
        self._in_order = in_order or n_classes == 2  # of all objects there are, in their order
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
    """The machines of all pairs of classes, in their order: arrays with one row per pair."""

    ids: Indices
    """The objects of all pairs, one pair after the other ..."""
    sizes: Indices
    """... and how many each has."""
    coefficients: Float64
    """Of these objects."""
    intercepts: Float64
    iterations: Indices
    scales: Float64
    """The factors on the bounds of coefficients."""
    unfinished: list[Machine]
    """Those that did not converge."""
    proofs: Callable[[], tuple[Certificate, ...]]

    def columns(self, codes: Indices, n_classes: int) -> tuple[Indices, Any, Float64]:
        """The objects that any machine uses, class after class, how many of each, and their coefficients in every one.

        Coefficients are put where they belong at once: with a hundred classes, nearly all of them are zero, and to
        move them takes longer than to train the machines.
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
    """Support objects class after class, and how many there are of each."""
    own = codes[support]
    counts = np.bincount(own, minlength=n_classes)
    return support[own.argsort(kind="stable")].astype(np.int32), counts.astype(np.int32)

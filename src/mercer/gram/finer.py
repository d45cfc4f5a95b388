"""The same entries in float64: a matrix in float32 is measured against them, and proofs are based on them.

Large matrices are float32, which is enough for solvers but not for a claim about the kernel. So such a matrix remembers
where its entries come from, estimates their errors, and recomputes those of some of its objects in float64.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from mercer._types import DType, Float64, Floating, Indices
from mercer.gram.contract import Gram, Rounding
from mercer.inputs.base import Objects
from mercer.kernels.base import ANY_TILE, FittedKernel

_SAMPLE, _HARDEST = 112, 16
"""Objects whose entries are computed in both precisions: evenly spread ones, and those furthest from the others, whose
distances lose most. 16,384 entries take a millisecond or two; the entry of each object with itself stands for near
neighbours.
"""
_FEWEST = 16
"""The number of such objects if entries are expensive."""
_SHARE_OF_TILE = 1 / 16
"""The fraction of the largest tile of an expensive kernel, which would take seconds."""
_LEAST_LENGTH = 1e-3
"""Lengths below this fraction of the longest are raised to it: errors do not shrink any further."""


def lengths(diagonal: Float64) -> Float64:
    """sqrt(k(x, x)), the lengths in feature space in which errors are measured, all of them positive."""
    squares = np.abs(diagonal)
    return np.asarray(np.sqrt(np.maximum(squares, _LEAST_LENGTH**2 * squares.max(initial=np.finfo(float).tiny))))


def hardest_of(hardness: Float64, count: int) -> Indices:
    """The objects with the largest values."""
    return np.arange(len(hardness)) if len(hardness) <= count else np.argpartition(-hardness, count)[:count]


@dataclass
class _Measured:
    """The measurement, once it is made; shared by all parts of a matrix."""

    rounding: Rounding | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled without the lock: another process has its own."""
        return _Measured, (self.rounding,)


@final
@dataclass(frozen=True, eq=False)
class Finer:
    """Where the entries of a float32 matrix come from."""

    fitted: FittedKernel
    objects: Objects
    make: Callable[[Objects], Gram]
    """The matrix of objects with themselves in float64."""
    sizes: Float64
    """How far each object is from the centre, or another number that grows with the float32 error of its entries."""
    ids: Indices | None = None
    """The objects of the matrix; None for all."""
    measured: _Measured = field(default_factory=_Measured)

    def of(self, ids: Indices) -> Finer:
        """The same for some of the objects."""
        chosen = ids if self.ids is None else self.ids[ids]
        return Finer(self.fitted, self.objects, self.make, self.sizes, chosen, self.measured)

    def gram(self) -> Gram:
        """The matrix in float64; its entries are computed when they are needed."""
        if self.ids is None:
            return self.make(self.objects)
        unique, places = np.unique(self.ids, return_inverse=True)
        whole = self.make(self.objects.take(unique))
        return whole if np.array_equal(unique, self.ids) else whole.view(places)

    def rounding(self) -> Rounding:
        """The errors of entries, measured on a sample."""
        with self.measured.lock:
            if self.measured.rounding is None:
                self.measured.rounding = self._measure()
            return self.measured.rounding

    def hardness(self) -> Float64:
        """The relative loss of float32 in the entries of each object: at least 1, and 2 on average."""
        own = self.sizes if self.ids is None else self.sizes[self.ids]
        return np.asarray(1.0 + own / self._mean)

    @property
    def _mean(self) -> float:
        return max(float(np.abs(self.sizes).mean()), np.finfo(float).tiny)

    def _measure(self) -> Rounding:
        n, fitted = len(self.objects), self.fitted
        hardest = hardest_of(self.sizes, _HARDEST)
        chosen = np.union1d(np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp), hardest)
        features = fitted.features(self.objects.take(chosen[:1]))
        allowed = int((_SHARE_OF_TILE * min(fitted.tile_entries(features, features), ANY_TILE)) ** 0.5)
        chosen = chosen[:: -(-len(chosen) // max(_FEWEST, allowed))]
        few = self.objects.take(chosen)
        size, hardness = lengths(fitted.diagonal(fitted.features(few))), (1.0 + self.sizes[chosen] / self._mean)
        scale = np.outer(size, size) * (0.5 * np.add.outer(hardness, hardness))
        errors = np.abs(self._tile(few, np.float32) - self._tile(few, np.float64)) / scale
        typical = float(np.sqrt(np.mean(errors**2, axis=1)).max(initial=0.0))
        return Rounding(float(errors.max(initial=0.0)), typical)

    def _tile(self, few: Objects, dtype: DType) -> Float64:
        """Entries as tiles compute them, even those of an object with itself, which matrices know exactly."""
        left, right = self.fitted.align(*(2 * [self.fitted.features(few, dtype)]))
        out: Floating = np.empty((len(few), len(few)), dtype=dtype)
        self.fitted.tile(left, right, out)
        return out.astype(np.float64)

"""The same entries in float64: what a matrix in float32 is measured against, and what proofs are made of.

Large matrices are float32, which solvers can do with; a claim about the kernel cannot. So such a matrix remembers where
its entries come from, tells by how much they are off, and gives those of some of its objects anew, in float64.
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
distances lose most. 16,384 entries take a millisecond or two; each object against itself stands for near neighbours."""
_FEWEST = 16
"""Of them where entries are expensive."""
_SHARE_OF_TILE = 1 / 16
"""Of what an expensive kernel allows a tile, which takes seconds."""
_LEAST_LENGTH = 1e-3
"""Lengths below this share of the longest count as that long: errors do not fall with them any further."""


def lengths(diagonal: Float64) -> Float64:
    """sqrt(k(x, x)), the lengths in feature space that errors are told in, none of them nothing."""
    squares = np.abs(diagonal)
    return np.asarray(np.sqrt(np.maximum(squares, _LEAST_LENGTH**2 * squares.max(initial=np.finfo(float).tiny))))


def hardest_of(hardness: Float64, count: int) -> Indices:
    """The objects with the largest numbers."""
    return np.arange(len(hardness)) if len(hardness) <= count else np.argpartition(-hardness, count)[:count]


@dataclass
class _Measured:
    """What was measured, once it has been: shared by all parts of a matrix."""

    rounding: Rounding | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process has a lock of its own."""
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
    """How far each object is from the middle, or another number that grows with what float32 loses of its entries."""
    ids: Indices | None = None
    """Which of the objects the matrix has; None for all."""
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
        """By how much entries are off, measured on a sample."""
        with self.measured.lock:
            if self.measured.rounding is None:
                self.measured.rounding = self._measure()
            return self.measured.rounding

    def hardness(self) -> Float64:
        """What float32 loses of the entries of each object, next to others: 1 and more, 2 on average."""
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
        """Entries as tiles hold them: also those of an object with itself, which matrices know better."""
        left, right = self.fitted.align(*(2 * [self.fitted.features(few, dtype)]))
        out: Floating = np.empty((len(few), len(few)), dtype=dtype)
        self.fitted.tile(left, right, out)
        return out.astype(np.float64)

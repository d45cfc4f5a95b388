"""Kernels on pairs of strings whose values outgrow float64 on long strings."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.inputs.strings import Strings
from mercer.kernels.algebra.logarithmic import LogKernel
from mercer.kernels.base import State
from mercer.kernels.loops.pairs import PairLoop, SequenceFeatures, Sides, recompute
from mercer.kernels.loops.string_lanes import RUNNER, coded, small_codes
from mercer.kernels.strings.base import StringKernel

_LARGEST = 1e300
"""Larger values may have overflowed on the way: they are computed again, with wider range."""
_LONG, _RECOMPUTED = 500, 20
"""Pairs of strings longer than this are often computed again, which costs about so many times as much."""


class LongRange(StringKernel, LogKernel):
    """A dynamic programme in float64 on many pairs at once; pairs that outgrow it are done again, with wider range."""

    cost: ClassVar[float]
    """Numbers computed for a pair of symbols."""

    @abstractmethod
    def pair_loop(self) -> PairLoop:
        """The loop over pairs; its results may be infinite."""

    @abstractmethod
    def pair_logarithm(self, left: Any, right: Any) -> float:
        """log2 k of one pair of arrays of symbols, whatever its size."""

    def coded(self, sequences: Strings) -> Strings:
        """The symbols that the loops read."""
        return sequences

    def features(self, objects: Strings, state: State, dtype: DType) -> SequenceFeatures:
        sequences = self.coded(self.sequences(objects))
        plain = coded(sequences)
        small, _ = small_codes(plain, plain)
        diagonal = RUNNER.own(self.pair_loop(), small, self.cost)
        return coded(sequences, diagonal=diagonal, logarithms=self._logarithms(diagonal, small, small))

    def align(self, left: SequenceFeatures, right: SequenceFeatures, state: State) -> Sides:
        return small_codes(left, right)

    def tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Floating) -> None:
        if out.dtype == np.float64:
            RUNNER.fill(self.pair_loop(), left, right, self.cost, out)
            return
        values = np.empty(out.shape)
        RUNNER.fill(self.pair_loop(), left, right, self.cost, values)
        with np.errstate(over="ignore"):
            out[...] = values

    def tile_entries(self, left: SequenceFeatures, right: SequenceFeatures, state: State) -> int:
        factor = 1 if max(left.longest, right.longest) < _LONG else _RECOMPUTED
        return RUNNER.entries(left, right, factor * self.cost)

    def log_tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Float64) -> None:
        RUNNER.fill(self.pair_loop(), left, right, self.cost, out)
        out[...] = self._logarithms(out, left, right)

    def _logarithms(self, values: Float64, left: SequenceFeatures, right: SequenceFeatures) -> Float64:
        logs = np.full(values.shape, -np.inf)
        np.log2(values, out=logs, where=values > 0)
        logs[~(values < _LARGEST)] = np.nan  # infinite, or not a number after infinity times 0
        return recompute(logs, left, right, self.pair_logarithm)

    def diagonal(self, features: SequenceFeatures, state: State) -> Float64:
        return np.where(features.diagonal < _LARGEST, features.diagonal, np.inf)

    def log_diagonal(self, features: SequenceFeatures, state: State) -> Float64:
        return features.logarithms

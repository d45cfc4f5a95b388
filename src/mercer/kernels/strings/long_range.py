"""Kernels on pairs of strings whose values outgrow float64 on long strings."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.inputs.strings import Strings
from mercer.kernels.algebra.logarithmic import LogKernel
from mercer.kernels.base import State
from mercer.kernels.strings.base import StringKernel
from mercer.kernels.strings.lanes import Coded, diagonal_by, entries_by, small_codes, tile_by

_LARGEST = 1e300


class LongRange(StringKernel, LogKernel):
    """A dynamic programme in float64 on many pairs at once; pairs that outgrow it are done again, with wider range."""

    cost: ClassVar[float]
    """Numbers computed for a pair of symbols."""

    @abstractmethod
    def pair_loop(self) -> Any:
        """The loop over pairs; its results may be infinite."""

    @abstractmethod
    def pair_logarithm(self, left: Any, right: Any) -> float:
        """log2 k of one pair of arrays of symbols, whatever its size."""

    def coded(self, sequences: Strings) -> Strings:
        """The symbols that the loops read."""
        return sequences

    def features(self, objects: Strings, state: State, dtype: DType) -> Coded:
        sequences = self.coded(self.sequences(objects))
        plain = Coded.of(sequences)
        coded, _ = small_codes(plain, plain)
        diagonal = diagonal_by(self.pair_loop(), sequences, self.cost)
        everywhere = np.arange(len(sequences))
        return Coded.of(sequences, diagonal, self._logarithms(diagonal, coded, coded, everywhere, everywhere))

    def align(self, left: Coded, right: Coded, state: State) -> tuple[Coded, Coded]:
        return small_codes(left, right)

    def tile(self, left: Coded, right: Coded, state: State, out: Floating) -> None:
        if out.dtype == np.float64:
            tile_by(self.pair_loop(), left, right, self.cost, out)
            return
        values = np.empty(out.shape)
        tile_by(self.pair_loop(), left, right, self.cost, values)
        with np.errstate(over="ignore"):
            out[...] = values

    def tile_entries(self, left: Coded, right: Coded, state: State) -> int:
        longest = max(left.lengths.max(initial=0), right.lengths.max(initial=0))
        return entries_by(left, right, self.cost if longest < 500 else 20 * self.cost)

    def log_tile(self, left: Coded, right: Coded, state: State, out: Float64) -> None:
        tile_by(self.pair_loop(), left, right, self.cost, out)
        rows, columns = out.shape
        first, second = np.repeat(np.arange(rows), columns), np.tile(np.arange(columns), rows)
        out[...] = self._logarithms(out.ravel(), left, right, first, second).reshape(out.shape)

    def _logarithms(self, values: Float64, left: Coded, right: Coded, first: Any, second: Any) -> Float64:
        large = ~(values < _LARGEST)  # infinite, or not a number after infinity times 0
        logs: Float64 = np.log2(
            np.where(large, 1.0, values), out=np.full(len(values), -np.inf), where=large | (values > 0)
        )
        for k in np.flatnonzero(large):
            i, j = first[k], second[k]
            logs[k] = self.pair_logarithm(
                left.symbols[left.offsets[i] : left.offsets[i + 1]],
                right.symbols[right.offsets[j] : right.offsets[j + 1]],
            )
        return logs

    def diagonal(self, features: Coded, state: State) -> Float64:
        return np.where(features.diagonal < _LARGEST, features.diagonal, np.inf)

    def log_diagonal(self, features: Coded, state: State) -> Float64:
        return features.logarithms

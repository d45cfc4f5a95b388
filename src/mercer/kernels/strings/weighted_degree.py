"""Weighted degree kernels: words at the same position, or nearly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._jit import Array, jit
from mercer._record import integer
from mercer._types import DType, Float64, Floating
from mercer.inputs.strings import Strings
from mercer.kernels.base import State
from mercer.kernels.features.feature_map import FeatureMap
from mercer.kernels.loops.pairs import SequenceFeatures, Sides
from mercer.kernels.loops.string_lanes import LANES, coded, empty_lanes, fill_lanes, small_codes
from mercer.kernels.strings.spectrum import WordKernel

_STEPS_PER_TILE = 4e9
"""Symbols compared per tile: about a second. Tiles cannot be interrupted, and small ones need more calls."""


@final
@dataclass(frozen=True)
class WeightedDegree(WordKernel):
    """The weighted degree kernel (Raetsch and Sonnenburg): common words of length 1 .. degree at the same position.

    k(s, t) = sum over q = 1 .. d of beta_q sum over positions i of [s_i .. s_{i+q-1} = t_i .. t_{i+q-1}],
    beta_q = 2 (d - q + 1) / (d (d + 1)), so that a run of r matches counts r (2d - r + 1) / (d (d + 1)) at its end.

    With `shift` = S > 0, words up to S positions apart match too (Raetsch, Sonnenburg and Schoelkopf): each pair of
    positions at distance j >= 1 counts 1 / (2 (j + 1)). Strings are compared from their first symbol to the end of the
    shorter one.

    >>> from mercer import kernels
    >>> kernels.WeightedDegree(degree=2).fit(["ACGT"])(["ACGT"], ["ACTT"]).round(6)
    array([[2.333333]])
    """

    degree: int = integer(5, low=1, high=400)
    shift: int = integer(0, low=0, high=10_000)

    placed = True
    shortest = 1
    variants = (
        {},
        {"degree": 3, "shift": 2},
    )

    def features(self, objects: Strings, state: State, dtype: DType) -> SequenceFeatures:
        sequences = self.sequences(objects)
        return coded(sequences, diagonal=_diagonal(sequences.symbols, sequences.offsets, self.degree, self.shift))

    def align(self, left: SequenceFeatures, right: SequenceFeatures, state: State) -> Sides:
        return small_codes(left, right)

    def tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Floating) -> None:
        order = np.argsort(right.lengths, kind="stable")
        farthest = int(max(left.lengths.max(initial=0), right.lengths.max(initial=0)))
        shift = min(self.shift, farthest)  # shifts beyond the length of strings match nothing
        _tile(left.items, left.offsets, right.items, right.offsets, order, self.degree, shift, out)

    def tile_entries(self, left: SequenceFeatures, right: SequenceFeatures, state: State) -> int:
        steps = (2 * self.shift + 1) * (1.0 + float(left.lengths.mean()))
        return max(LANES, int(_STEPS_PER_TILE / steps))

    def diagonal(self, features: SequenceFeatures, state: State) -> Float64:
        return features.diagonal

    @property
    def values(self) -> Float64:
        """The square roots of beta."""
        lengths = np.arange(self.degree + 1)
        return np.asarray(np.sqrt(2.0 * (self.degree - lengths + 1) / (self.degree * (self.degree + 1.0))))

    def feature_map(self, state: State) -> FeatureMap | None:
        return super().feature_map(state) if self.shift == 0 else None


@jit
def _tile(
    left: Array,
    left_offsets: Array,
    right: Array,
    right_offsets: Array,
    order: Array,
    degree: int,
    shift: int,
    out: Array,
) -> None:
    """One string against `LANES` others: on each diagonal, the length of the run of matches determines the value."""
    columns = empty_lanes(right_offsets, order)
    run = np.empty(LANES, dtype=np.float32)
    on_diagonal = np.empty(LANES, dtype=np.float32)
    total = np.empty(LANES, dtype=np.float64)
    top = np.float32(degree)
    twice = np.float32(2 * degree + 1)
    one = np.float32(1)
    zero = np.float32(0)
    unit = 1.0 / (degree * (degree + 1.0))
    for start in range(0, order.shape[0], LANES):
        m = fill_lanes(right, right_offsets, order, start, -2, columns)
        for r in range(out.shape[0]):
            n = left_offsets[r + 1] - left_offsets[r]
            total[:] = 0
            for d in range(-shift, shift + 1):
                share = 1.0 if d == 0 else 0.5 / (abs(d) + 1.0)
                run[:] = 0
                first = max(0, -d)
                last = min(n, m - d)
                while first < last:
                    on_diagonal[:] = 0  # summed exactly in float32 over short stretches, then in float64
                    for i in range(first, min(last, first + 64)):
                        symbol = left[left_offsets[r] + i]
                        for lane in range(LANES):
                            longer = min(run[lane] + one, top) if columns[i + d, lane] == symbol else zero
                            run[lane] = longer
                            on_diagonal[lane] += longer * (twice - longer)
                    for lane in range(LANES):
                        total[lane] += share * on_diagonal[lane]
                    first += 64
            for lane in range(min(LANES, order.shape[0] - start)):
                out[r, order[start + lane]] = unit * total[lane]


@jit
def _diagonal(symbols: Array, offsets: Array, degree: int, shift: int) -> Any:
    """The same for each string with itself."""
    values = np.empty(offsets.shape[0] - 1)
    for r in range(values.shape[0]):
        n = offsets[r + 1] - offsets[r]
        total = 0.0
        for d in range(min(shift, n) + 1):
            share = 1.0 if d == 0 else 1.0 / (d + 1.0)  # in both orders
            run = 0
            for i in range(n - d):
                run = min(run + 1, degree) if symbols[offsets[r] + i] == symbols[offsets[r] + i + d] else 0
                total += share * run * (2.0 * degree - run + 1.0)
        values[r] = total / (degree * (degree + 1.0))
    return values

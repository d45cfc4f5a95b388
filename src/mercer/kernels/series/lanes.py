"""Series side by side, one pair per lane, for the dynamic programmes on pairs of series."""

from __future__ import annotations

from typing import Any

from mercer._jit import Array, jit
from mercer.inputs.series import Series, refuse_other_channels
from mercer.kernels.base import State
from mercer.kernels.loops.pairs import PairRunner, SequenceFeatures, longest_of

LANES = 16
"""Pairs compared at once: a few vector registers of float64; with more, the moments of a row leave the L1 cache."""

RUNNER = PairRunner(LANES, cells_per_call=2e8, cells_per_tile=1e7)
"""Tiles take some hundredths of a second, so a few dozen series are enough work for every thread."""


def moments(series: Series, state: State) -> SequenceFeatures:
    """Series as features; refuses series whose channels differ from those of training."""
    refuse_other_channels(series, int(state.values["channels"]))
    return SequenceFeatures.of(series.values, series.offsets)


def entries(left: SequenceFeatures, right: SequenceFeatures, cost: float = 1.0) -> int:
    """How many pairs a tile may have; `cost` is the cost of a cell relative to the usual one."""
    return RUNNER.entries(left, right, cost * left.items.shape[1])


@jit
def fill_lanes(values: Array, offsets: Array, pairs: Array, table: Array) -> Any:
    """table[q, channel, lane] = moment q of the series of that lane, or 0; returns the length of the longest series."""
    longest = longest_of(offsets, pairs)
    for lane in range(LANES):
        length = 0
        if lane < pairs.shape[0]:
            start = offsets[pairs[lane]]
            length = offsets[pairs[lane] + 1] - start
            for q in range(length):
                for channel in range(values.shape[1]):
                    table[q, channel, lane] = values[start + q, channel]
        for q in range(length, longest):
            for channel in range(values.shape[1]):
                table[q, channel, lane] = 0.0
    return longest


@jit
def squared_distances(rows: Array, columns: Array, i: int, low: int, high: int, out: Array) -> None:
    """out[j, lane] = the squared distance of moment i on the left from moment j on the right."""
    for j in range(low, high):
        for lane in range(LANES):
            gap = rows[i, 0, lane] - columns[j, 0, lane]
            out[j, lane] = gap * gap
        for channel in range(1, rows.shape[1]):
            for lane in range(LANES):
                gap = rows[i, channel, lane] - columns[j, channel, lane]
                out[j, lane] += gap * gap

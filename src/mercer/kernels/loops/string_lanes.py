"""Strings side by side, one pair per lane, for the dynamic programmes on pairs of strings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mercer._jit import Array, jit
from mercer.inputs.strings import Strings
from mercer.kernels.loops.pairs import PairRunner, SequenceFeatures, Sides, longest_of

LANES = 64
"""Pairs compared at once: enough to fill several vector registers, few enough for rows of tables to stay in cache."""

RUNNER = PairRunner(LANES, cells_per_call=1e9, cells_per_tile=1e9)


def coded(sequences: Strings, **own: Any) -> SequenceFeatures:
    """Strings as features; `own` has the `diagonal` and the `logarithms`, if known."""
    return SequenceFeatures.of(sequences.symbols, sequences.offsets, **own)


def small_codes(left: SequenceFeatures, right: SequenceFeatures, known: int = 0) -> Sides:
    """Both sides in int32: names of tokens become common small codes; symbols below `known` are unchanged."""
    if left.items.dtype == right.items.dtype == np.int32:
        return left, right
    alphabet = np.unique(np.concatenate([np.arange(known), left.items, right.items]))
    columns = replace(right, items=np.searchsorted(alphabet, right.items).astype(np.int32))
    if left is right:
        return columns, columns
    return replace(left, items=np.searchsorted(alphabet, left.items).astype(np.int32)), columns


@jit
def empty_lanes(offsets: Array, pairs: Array) -> Any:
    """A table for the symbols of any group of these pairs."""
    return np.empty((longest_of(offsets, pairs), LANES), dtype=np.int32)


@jit
def fill_lanes(symbols: Array, offsets: Array, pairs: Array, start: int, padding: int, table: Array) -> Any:
    """table[q, lane] = symbol q of the string of that lane, or padding; returns the length of the longest string."""
    longest = longest_of(offsets, pairs[start : start + LANES])
    for lane in range(LANES):
        length = 0
        if start + lane < pairs.shape[0]:
            k = pairs[start + lane]
            length = offsets[k + 1] - offsets[k]
            for q in range(length):
                table[q, lane] = symbols[offsets[k] + q]
        for q in range(length, longest):
            table[q, lane] = padding
    return longest


@jit
def save_lanes(values: Array, start: int, out: Array) -> None:
    """Write the value of each lane to its pair."""
    for lane in range(min(LANES, out.shape[0] - start)):
        out[start + lane] = values[lane]

"""Pairs of strings side by side: a dynamic programme runs on `LANES` pairs at once, one per lane of vector registers.

Strings in a group of pairs are padded to the longest with symbols that match nothing, so pairs are grouped by length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Float64, Floating, Index
from mercer.inputs.ragged import take_rows
from mercer.inputs.strings import Strings

LANES = 64
_LEFT_PADDING = np.int32(-1)
_RIGHT_PADDING = np.int32(-2)
_CELLS_PER_CALL = 1e9
"""A second or so: calls into compiled code cannot be interrupted."""

PairLoop = Callable[[Any, Any, Any, Any, Any, Any, Any], None]
"""(left symbols, left offsets, right symbols, right offsets, left pair, right pair, out): out[k] = k(pair k)."""


@final
@dataclass(frozen=True, eq=False)
class Coded:
    """Strings as int32 symbols with offsets, and the kernel value of each with itself."""

    symbols: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]
    diagonal: Float64
    logarithms: Float64
    """The base-2 logarithm of the diagonal, for kernels that work with it."""

    @classmethod
    def of(cls, sequences: Strings, diagonal: Float64 | None = None, logarithms: Float64 | None = None) -> Self:
        unknown = np.zeros(len(sequences))
        return cls(
            sequences.symbols,
            sequences.offsets,
            unknown if diagonal is None else diagonal,
            unknown if logarithms is None else logarithms,
        )

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: Index) -> Coded:
        symbols, offsets = take_rows(index, self.offsets, self.symbols)
        return Coded(symbols, offsets, self.diagonal[index], self.logarithms[index])


def small_codes(left: Coded, right: Coded, known: int = 0) -> tuple[Coded, Coded]:
    """Both sides in int32: names of tokens become common small codes; symbols below `known` stay what they are."""
    if left.symbols.dtype == right.symbols.dtype == np.int32:
        return left, right
    alphabet = np.unique(np.concatenate([np.arange(known), left.symbols, right.symbols]))
    columns = replace(right, symbols=np.searchsorted(alphabet, right.symbols).astype(np.int32))
    if left is right:
        return columns, columns
    return replace(left, symbols=np.searchsorted(alphabet, left.symbols).astype(np.int32)), columns


def diagonal_by(loop: PairLoop, sequences: Strings, cost: float, known: int = 0) -> Float64:
    """k(x, x) of each string; `cost` is how many numbers are computed for a pair of symbols."""
    order = np.argsort(sequences.lengths, kind="stable")
    plain = Coded.of(sequences)
    coded, _ = small_codes(plain, plain, known)
    values = np.empty(len(sequences))
    values[order] = _pairs(loop, coded, coded, order, order, cost, np.float64)
    return values


def tile_by(loop: PairLoop, left: Coded, right: Coded, cost: float, out: Floating) -> None:
    """out[i, j] = k(left i, right j)."""
    rows, columns = out.shape
    order = np.argsort(right.lengths, kind="stable")
    first = np.repeat(np.arange(rows), columns)
    values = _pairs(loop, left, right, first, np.tile(order, rows), cost, out.dtype.type)
    out[:, order] = values.reshape(rows, columns)


def entries_by(left: Coded, right: Coded, cost: float) -> int:
    """How many pairs a tile may have."""
    return max(LANES, int(_CELLS_PER_CALL / max(1.0, _cells(left, right, cost))))


def _cells(left: Coded, right: Coded, cost: float) -> float:
    return cost * (float(left.lengths.mean()) + 1.0) * (float(right.lengths.mean()) + 1.0)


def _pairs(loop: PairLoop, left: Coded, right: Coded, first: Any, second: Any, cost: float, dtype: Any) -> Any:
    out = np.empty(len(first), dtype=dtype)
    longest = cost * (float(left.lengths.max(initial=0)) + 1.0) * (float(right.lengths.max(initial=0)) + 1.0)
    step = LANES * max(1, int(_CELLS_PER_CALL / longest / LANES))
    sides = (left.symbols, left.offsets, right.symbols, right.offsets)
    for start in range(0, len(first), step):
        chosen = slice(start, start + step)
        loop(*sides, first[chosen], second[chosen], out[chosen])
    return out


@jit
def longest_of_all(offsets: Array, pairs: Array) -> int:
    """The length of the longest string in any of these pairs."""
    longest = 0
    for k in pairs:
        longest = max(longest, offsets[k + 1] - offsets[k])
    return longest


@jit
def longest_of(offsets: Array, pairs: Array, start: int) -> int:
    """The length of the longest string in a group of pairs."""
    longest = 0
    for lane in range(min(LANES, pairs.shape[0] - start)):
        k = pairs[start + lane]
        longest = max(longest, offsets[k + 1] - offsets[k])
    return longest


@jit
def fill_lanes(
    symbols: Array, offsets: Array, pairs: Array, start: int, longest: int, padding: int, table: Array
) -> None:
    """table[q, lane] = symbol q of the string of that lane, or padding."""
    for lane in range(LANES):
        length = 0
        if start + lane < pairs.shape[0]:
            k = pairs[start + lane]
            length = offsets[k + 1] - offsets[k]
            for q in range(length):
                table[q, lane] = symbols[offsets[k] + q]
        for q in range(length, longest):
            table[q, lane] = padding

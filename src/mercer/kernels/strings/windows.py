"""All windows of one length in a batch of strings, for trie and mask algorithms."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Index
from mercer.inputs.ragged import offsets_of, take_rows


@final
@dataclass(frozen=True, eq=False)
class Windows:
    """The start of each window of `length` symbols, string after string, and how many times it counts.

    With `both_strands`, the second half of each string's windows are those of its reverse complement.
    """

    symbols: npt.NDArray[Any]
    starts: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    length: int
    both_strands: bool = False
    n_symbols: int = 0
    """After `compacted`, symbols are below this."""
    diagonal: Float64 = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, symbols: npt.NDArray[Any], offsets: npt.NDArray[np.int64], length: int) -> Self:
        """The windows without a negative symbol."""
        starts = np.arange(max(0, len(symbols) - length + 1))
        negative = np.append(0, np.cumsum(symbols < 0))
        ends = np.repeat(offsets[1:], np.diff(offsets))[: len(starts)]
        starts = starts[(starts + length <= ends) & (negative[starts] == negative[starts + length])]
        return cls(symbols, starts, np.searchsorted(starts, offsets), length)

    def with_complements(self, offsets: npt.NDArray[np.int64], complements: npt.NDArray[np.int32]) -> Windows:
        """These windows and those of the reverse complement of each string; `offsets` are those of the strings."""
        ends = np.repeat(offsets[:-1] + offsets[1:] - 1, np.diff(offsets))  # first position plus last
        turned = self.symbols[ends - np.arange(len(ends))]
        turned = np.where(turned < 0, turned, complements[turned])
        mirrored = ends[self.starts] - (self.starts + self.length - 1)
        lengths = np.diff(self.offsets)
        bounds = offsets_of(2 * lengths)
        starts = np.empty(2 * len(self.starts), dtype=np.int64)
        place = np.arange(len(self.starts)) + np.repeat(self.offsets[:-1], lengths)
        starts[place] = self.starts
        starts[place + np.repeat(lengths, lengths)] = mirrored + len(self.symbols)
        return Windows(np.concatenate([self.symbols, turned]), starts, bounds, self.length, both_strands=True)

    def forward(self) -> Windows:
        """Only the windows of the strings as given."""
        if not self.both_strands:
            return self
        lengths = np.diff(self.offsets)
        place = np.arange(len(self.starts)) - np.repeat(self.offsets[:-1], lengths)
        kept = self.starts[place < np.repeat(lengths // 2, lengths)]
        return replace(self, starts=kept, offsets=offsets_of(lengths // 2), both_strands=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: Index) -> Windows:
        starts, offsets = take_rows(index, self.offsets, self.starts)
        diagonal = self.diagonal[index] if len(self.diagonal) else self.diagonal
        return replace(self, starts=starts, offsets=offsets, diagonal=diagonal)

    def columns(self) -> npt.NDArray[Any]:
        """Symbol q of every window in row q: contiguous, one row per position."""
        return np.stack([self.symbols[self.starts + q] for q in range(self.length)])

    def owners(self) -> npt.NDArray[np.int32]:
        """The string of every window."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.offsets))


def compacted(left: Windows, right: Windows) -> tuple[Windows, Windows]:
    """Both sides over common symbols 0, 1, 2 ..., in the smallest integers that hold them."""
    parts = (left.symbols,) if left is right else (left.symbols, right.symbols)
    alphabet = np.unique(np.concatenate([np.unique(part) for part in parts]))
    kind = np.uint8 if len(alphabet) <= 256 else np.int32

    def compact(side: Windows) -> Windows:
        codes = np.searchsorted(alphabet, side.symbols).astype(kind)
        return replace(side, symbols=codes, n_symbols=max(1, len(alphabet)))

    columns = compact(right)
    return (columns if left is right else compact(left)), columns

"""Where the features of a string stand in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.inputs.hashing import LOWEST_NAME
from mercer.inputs.strings import Strings
from mercer.kernels.base import Kernel
from mercer.kernels.strings.base import StringKernel
from mercer.kernels.strings.blended import BlendedSpectrum
from mercer.kernels.strings.gapped import GappedKmer
from mercer.kernels.strings.mismatch import Mismatch
from mercer.kernels.strings.restricted import RestrictedGapWeighted
from mercer.kernels.strings.spectrum import Spectrum
from mercer.kernels.strings.weighted_degree import WeightedDegree

Names = npt.NDArray[np.uint64]


@final
@dataclass(frozen=True, eq=False)
class Occurrences:
    """Every occurrence of a feature in one string: its name, its value, and the positions of its symbols.

    Positions lie in the first `sizes` columns of their row; the rest is 0.
    """

    symbols: tuple[Any, ...]
    names: Names
    values: Float64
    positions: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    shown: npt.NDArray[np.int64]
    """The symbols at those positions, as the feature reads them (on the other strand, complemented)."""

    @classmethod
    def known(cls, kernel: Kernel) -> bool:
        """Whether the features of this kernel have positions."""
        known = Spectrum | BlendedSpectrum | Mismatch | GappedKmer | WeightedDegree | RestrictedGapWeighted
        return isinstance(kernel, known) and kernel.explicit

    def renamed(self, number: int) -> Self:
        """The names that the features have as those of one term of a sum."""
        with np.errstate(over="ignore"):
            return replace(self, names=self.names * np.uint64(2 * number + 1) + np.uint64(number))

    def word(self, k: int) -> tuple[Any, ...]:
        """The symbols of one occurrence, from its first to its last, with None where any will do."""
        places = self.positions[k, : self.sizes[k]]
        word: list[Any] = [None] * int(places.max() - places.min() + 1)
        backwards = len(places) > 1 and places[0] > places[-1]
        for place, symbol in zip(places, self.shown[k], strict=False):
            word[int(places.max() - place if backwards else place - places.min())] = _readable(int(symbol))
        return tuple(word)


def occurrences(kernel: Kernel, one: Strings) -> Occurrences:
    """Where the features of a single string stand."""
    assert isinstance(kernel, StringKernel)
    sequence = kernel.sequences(one)
    if isinstance(kernel, GappedKmer):
        return _gapped(kernel, one, sequence)
    if isinstance(kernel, Mismatch):
        return _mismatched(kernel, one, sequence)
    if isinstance(kernel, RestrictedGapWeighted):
        return _restricted(kernel, sequence)
    return _words(kernel, sequence)


def _words(kernel: StringKernel, sequence: Strings) -> Occurrences:
    from mercer.kernels.strings import weighted_degree, words

    symbols, offsets = sequence.symbols, sequence.offsets
    if isinstance(kernel, WeightedDegree):
        shortest, longest = 1, kernel.degree
        names, values, _ = weighted_degree.name_placed_words(symbols, offsets, kernel.values)
    elif isinstance(kernel, BlendedSpectrum):
        shortest, longest = 1, kernel.p
        names, values, _ = words.name_words(symbols, offsets, 1, kernel.p, kernel.values)
    else:
        assert isinstance(kernel, Spectrum)
        shortest = longest = kernel.p
        names, values, _ = words.name_words(symbols, offsets, kernel.p, kernel.p, np.ones(kernel.p + 1))
    length = len(symbols)
    pairs = [(start, q) for start in range(length) for q in range(shortest, min(longest, length - start) + 1)]
    starts, sizes = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    positions = starts[:, None] + np.arange(longest)[None, :]
    positions = np.where(np.arange(longest)[None, :] < sizes[:, None], positions, 0)
    shown = symbols[positions] if length else np.zeros(positions.shape, dtype=np.int64)
    return Occurrences(_all(sequence), names, values, positions, sizes, np.asarray(shown, dtype=np.int64))


def _gapped(kernel: GappedKmer, one: Strings, sequence: Strings) -> Occurrences:
    windows = kernel.windows(one)
    found = kernel.masked_names(windows)
    masks = kernel.masks
    longest = max(len(places) for places in masks)
    padded = np.asarray([places + places[-1:] * (longest - len(places)) for places in masks], dtype=np.int64)
    read = (windows.starts[:, None, None] + padded[None, :, :]).reshape(-1, longest)
    length = len(sequence.symbols)
    # The reverse complement lies behind the string: its place q is the place length - 1 - q of the string itself.
    positions = np.where(read < length, read, 2 * length - 1 - read)
    codes = windows.symbols[read] if len(read) else np.zeros(read.shape, dtype=np.int64)
    sizes = np.tile(np.asarray([len(places) for places in masks], dtype=np.int64), len(windows.starts))
    values = np.tile(kernel.mask_values, len(windows.starts))
    return Occurrences(_all(sequence), found, values, positions, sizes, _letters(kernel, codes))


def _mismatched(kernel: Mismatch, one: Strings, sequence: Strings) -> Occurrences:
    """A window stands for every word near it; all of its symbols share what they add, also those that differ."""
    windows = kernel.windows(one)
    names, words = kernel.neighbours(windows, spelt=True)
    times = len(names) // max(1, len(windows.starts))
    positions = np.repeat(windows.starts, times)[:, None] + np.arange(kernel.p)
    sizes = np.full(len(names), kernel.p, dtype=np.int64)
    return Occurrences(_all(sequence), names, np.ones(len(names)), positions, sizes, _letters(kernel, words))


def _restricted(kernel: RestrictedGapWeighted, sequence: Strings) -> Occurrences:
    names, values, _ = kernel.placed(sequence)
    length = len(sequence.symbols)
    starts = [np.arange(max(0, length - int(pattern[-1])))[:, None] + pattern for pattern in kernel.patterns]
    positions = np.concatenate(starts)
    shown = sequence.symbols[positions] if len(positions) else np.zeros(positions.shape, dtype=np.int64)
    sizes = np.full(len(names), kernel.p, dtype=np.int64)
    return Occurrences(_all(sequence), names, values, positions, sizes, np.asarray(shown, dtype=np.int64))


def _letters(kernel: GappedKmer | Mismatch, codes: Any) -> npt.NDArray[np.int64]:
    """The symbols that codes stand for, where an alphabet was declared."""
    if kernel.alphabet is not None:
        letters = np.asarray([ord(str(letter)[:1]) for letter in kernel.letters(kernel.alphabet)], dtype=np.int64)
        codes = letters[codes]
    return np.asarray(codes, dtype=np.int64)


def _all(sequence: Strings) -> tuple[Any, ...]:
    return tuple(_readable(int(symbol)) for symbol in sequence.symbols)


def _readable(symbol: int) -> Any:
    return chr(symbol) if symbol < LOWEST_NAME else symbol

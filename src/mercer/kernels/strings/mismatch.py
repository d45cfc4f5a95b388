"""Kernels on pairs of windows by their number of mismatches."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer._jit import Array, jit
from mercer._record import choice, integer
from mercer._types import DType, Float64, Floating
from mercer.errors import KernelError
from mercer.inputs.ragged import offsets_of
from mercer.inputs.strings import Strings
from mercer.kernels.base import State
from mercer.kernels.features.alphabet import Alphabet, checked_alphabet, symbols_of
from mercer.kernels.features.counting import CountsFeatures
from mercer.kernels.features.counts import EXACT_IN_SINGLE, CountFeatures
from mercer.kernels.features.occurrences import Occurrences
from mercer.kernels.loops.mixing import mix
from mercer.kernels.strings.base import OverAlphabet, at_places, word_of
from mercer.kernels.strings.masks import coefficients, mask_diagonal, mask_products
from mercer.kernels.strings.windows import Windows, compacted

_LARGEST_MAP = 2**28
"""The most names of neighbours that a feature map computes at a time: 2 GB."""
_LONGEST, _MOST_MISMATCHES = 200, 20
"""Longer windows and more mismatches match by chance only; the weights of distances take cubic time."""
_UPDATES_PER_TILE = 1e9
"""Additions per tile: about a second, since tiles cannot be interrupted."""


class MismatchProfile(OverAlphabet, CountsFeatures):
    """k(s, t) = sum over pairs of windows of s and t of h(number of mismatches), for windows of one length."""

    @property
    @abstractmethod
    def profile(self) -> tuple[float, ...]:
        """h(0), h(1), ...; 0 beyond the end."""

    def windows(self, objects: Strings) -> Windows:
        """All windows that are compared."""
        coded = self.coded(self.sequences(objects))
        return Windows.of(coded.symbols, coded.offsets, self.shortest)

    @property
    def mask_weights(self) -> Float64:
        """The weights of masks by size, such that agreements sum to h."""
        return coefficients(list(self.profile), self.shortest)

    def features(self, objects: Strings, state: State, dtype: DType) -> Windows:
        windows = self.windows(objects)
        own, _ = compacted(windows, windows)
        return replace(windows, diagonal=mask_diagonal(own, self.mask_weights, _strands(own)))

    def align(self, left: Windows, right: Windows, state: State) -> tuple[Windows, Windows]:
        return compacted(left, right)

    def tile(self, left: Windows, right: Windows, state: State, out: Floating) -> None:
        # Reversing both strands changes no distance: compare one strand with both, and double the result.
        mask_products(left.forward(), right, self.mask_weights, _strands(left), out)

    def diagonal(self, features: Windows, state: State) -> Float64:
        return features.diagonal

    def single_precision(self, features: Windows, state: State) -> bool:
        # Weights of opposite signs cancel: intermediate sums are larger than the value.
        weights = self.mask_weights
        swell = np.abs(weights).sum() / max(abs(float(weights.sum())), 1.0) if (weights < 0).any() else 1.0
        return bool(features.diagonal.max(initial=0.0) * swell < EXACT_IN_SINGLE)

    def tile_entries(self, left: Windows, right: Windows, state: State) -> int:
        weights = self.mask_weights
        pairs = _mean(left) * _mean(right)
        letters = max(2, right.n_symbols)
        updates = sum(pairs * comb(len(weights) - 1, j) / letters**j for j in np.flatnonzero(weights))
        return max(1, int(_UPDATES_PER_TILE / max(updates, 1.0)))


@final
@dataclass(frozen=True)
class Mismatch(MismatchProfile):
    """The (p, m)-mismatch kernel: k(s, t) = sum over all words u of length p of count_u(s) count_u(t), where
    count_u(s) is the number of windows of s that differ from u in at most m positions.

    The words u are over the whole `alphabet`, seen or not: the value depends on how many letters there are, so the
    alphabet is part of the kernel. `unknown` is ``"error"``, or ``"skip"`` to leave out windows with other symbols.

    >>> from mercer import kernels
    >>> kernels.Mismatch("abcrt", p=3, m=1).fit(["bar"])(["bar"], ["bat"])
    array([[5.]])
    """

    alphabet: Alphabet
    p: int = integer(3, low=1, high=_LONGEST)
    m: int = 1
    unknown: str = choice("error", "skip")

    variants = (
        {"alphabet": "ACGT", "p": 3, "m": 1, "unknown": "skip"},
        {"alphabet": "abcdefghijklmnopqrstuvwxyz", "p": 4, "m": 2, "unknown": "skip", "lowercase": True},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.integer("Mismatch", "m", self.m, low=0, high=min(self.p - 1, _MOST_MISMATCHES))
        object.__setattr__(self, "alphabet", checked_alphabet("Mismatch", self.alphabet))

    @property
    def shortest(self) -> int:
        return self.p

    @property
    def profile(self) -> tuple[float, ...]:
        return tuple(
            float(common_neighbours(self.p, self.m, len(self.alphabet), distance))
            for distance in range(min(2 * self.m, self.p) + 1)
        )

    def counts(self, objects: Strings, state: State, dtype: DType) -> CountFeatures:
        windows = self.windows(objects)
        names, _ = self.neighbours(windows, spelt=False)
        times = common_neighbours(self.p, self.m, len(self.alphabet), 0)
        return CountFeatures.of(names, windows.offsets * times, dtype)

    def occurrences(self, one: Strings, state: State) -> Occurrences:
        """A window counts for every word near it; all its symbols, also those that differ, share the contribution."""
        windows = self.windows(one)
        names, words = self.neighbours(windows, spelt=True)
        times = len(names) // max(1, len(windows.starts))
        places = np.repeat(windows.starts, times)[:, None] + np.arange(self.p)
        sizes = np.full(len(names), self.p, dtype=np.int64)
        letters = symbols_of(self.letters or ())
        counted = np.ones(len(names))
        return at_places(
            self.sequences(one), names, counted, places, sizes, lambda k: word_of(letters[words[k]].tolist())
        )

    def neighbours(self, windows: Windows, *, spelt: bool) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """The names of all words within m mismatches of each window, in order; if `spelt`, also their codes."""
        letters = len(self.alphabet)
        times = common_neighbours(self.p, self.m, letters, 0)
        if times * len(windows.starts) > _LARGEST_MAP:
            raise KernelError(
                f"The feature map of {self} has {times:,} words for each of {len(windows.starts):,} windows, which is "
                "too many. Map fewer objects at a time, or lower m; the kernel itself has no such limit."
            )
        changed = [places for size in range(self.m + 1) for places in combinations(range(self.p), size)]
        sizes = offsets_of(len(places) for places in changed)
        flat = np.asarray([place for places in changed for place in places], dtype=np.int64)
        found: tuple[Any, Any] = _name_neighbours(
            windows.symbols, windows.starts, self.p, letters, flat, sizes, times, spelt
        )
        return found


def _strands(windows: Windows) -> float:
    return 2.0 if windows.both_strands else 1.0


def _mean(windows: Windows) -> float:
    return len(windows.starts) / max(1, len(windows))


def common_neighbours(p: int, m: int, letters: int, distance: int) -> int:
    """The number of words of length p within m mismatches of both of two words at this distance from each other."""
    total = 0
    for outside in range(m + 1):  # changes at positions where the two agree
        for like_first in range(distance + 1):
            for like_second in range(distance - like_first + 1):
                neither = distance - like_first - like_second
                if outside + distance - like_first > m or outside + distance - like_second > m:
                    continue
                total += (
                    comb(p - distance, outside) * (letters - 1) ** outside
                    * comb(distance, like_first) * comb(distance - like_first, like_second)
                    * (letters - 2) ** neither
                )  # fmt: skip
    return total


@jit
def _name_neighbours(
    symbols: Array, starts: Array, p: int, letters: int, changed: Array, bounds: Array, neighbours: int, spelt: bool
) -> Any:
    """The names of all words that differ from a window in one of the sets of positions `changed`, in order."""
    names = np.empty(starts.shape[0] * neighbours, dtype=np.uint64)
    words = np.empty((starts.shape[0] * neighbours if spelt else 1, p), dtype=np.int64)
    steps = np.empty(p, dtype=np.int64)
    used = 0
    for w in range(starts.shape[0]):
        for c in range(bounds.shape[0] - 1):
            size = bounds[c + 1] - bounds[c]
            steps[:] = 1
            while True:
                word = words[used if spelt else 0]
                for q in range(p):
                    word[q] = symbols[starts[w] + q]
                for t in range(size):  # an odometer over the other letters of each position
                    place = changed[bounds[c] + t]
                    word[place] = (word[place] + steps[t]) % letters
                h = np.uint64(0)
                for q in range(p):
                    h = mix(h + np.uint64(word[q]))
                names[used] = h
                used += 1
                t = 0
                while t < size:
                    steps[t] += 1
                    if steps[t] < letters:
                        break
                    steps[t] = 1
                    t += 1
                if t == size:
                    break
    return names, words

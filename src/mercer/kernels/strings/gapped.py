"""The gapped k-mer kernel."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer._jit import Array, jit
from mercer._record import boolean, choice, integer
from mercer._types import DType, Float64
from mercer.inputs.ragged import offsets_of
from mercer.inputs.strings import Strings
from mercer.kernels.base import State
from mercer.kernels.features.alphabet import Alphabet, checked_alphabet, complement_codes, symbols_of
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.feature_map import FeatureMap
from mercer.kernels.features.occurrences import Occurrences
from mercer.kernels.loops.mixing import finished, mix
from mercer.kernels.strings.base import at_places, word_of
from mercer.kernels.strings.mismatch import MismatchProfile
from mercer.kernels.strings.windows import Windows


@final
@dataclass(frozen=True)
class GappedKmer(MismatchProfile):
    """The gapped k-mer kernel: windows of l symbols, compared at every choice of k positions.

    k(s, t) = sum over pairs of windows of C(l - d, k), where d is their number of mismatches: the inner product of
    counts of (positions, symbols there). With `weights`, h(0), h(1) ..., the value is the sum of h(d) instead, and `k`
    is not used; it is positive semi-definite for every alphabet if h is a non-negative mixture of such binomials.

    With `reverse_complement`, the counts of both strands of a DNA string are added. `alphabet` declares the symbols
    (``"ACGT"`` by default for reverse complements); `unknown` is ``"error"``, or ``"skip"`` to leave out windows with
    any other symbol, such as N.

    >>> from mercer import kernels
    >>> kernels.GappedKmer(l=4, k=2).fit(["ACGTAC"])(["ACGTAC"], ["ACGGAC"])
    array([[9.]])
    """

    l: int = integer(10, low=1, high=60)  # noqa: E741
    k: int = 6
    reverse_complement: bool = boolean()
    alphabet: Alphabet | None = None
    unknown: str = choice("error", "skip")
    weights: tuple[float, ...] | None = None

    variants = (
        {"l": 4, "k": 2},
        {"l": 5, "k": 3, "reverse_complement": True, "unknown": "skip"},
        {"l": 4, "k": 2, "weights": (6.0, 1.0)},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.integer("GappedKmer", "k", self.k, low=1, high=self.l)
        if self.weights is not None:
            numbers = _check.reals("GappedKmer", "weights", self.weights, high_open=True)
            if not 1 <= len(numbers) <= self.l + 1:
                raise _check.fail("GappedKmer", "weights", f"1 to {self.l + 1} numbers, h(0), h(1) ...", self.weights)
            object.__setattr__(self, "weights", numbers)
        if self.alphabet is not None or self.reverse_complement:
            alphabet = checked_alphabet("GappedKmer", "ACGT" if self.alphabet is None else self.alphabet)
            object.__setattr__(self, "alphabet", alphabet)
            if self.reverse_complement:
                complement_codes("GappedKmer", alphabet)

    @property
    def shortest(self) -> int:
        return self.l

    @property
    def psd(self) -> bool:
        return self.weights is None or bool((self.mask_weights >= 0).all())

    @property
    def profile(self) -> tuple[float, ...]:
        if self.weights is not None:
            return self.weights
        return tuple(float(comb(self.l - distance, self.k)) for distance in range(self.l - self.k + 1))

    def windows(self, objects: Strings) -> Windows:
        windows = super().windows(objects)
        if not self.reverse_complement:
            return windows
        return windows.with_complements(
            self.sequences(objects).offsets, complement_codes("GappedKmer", self.letters or ())
        )

    def feature_map(self, state: State) -> FeatureMap | None:
        return super().feature_map(state) if self.psd else None  # a feature is the square root of the weight of a mask

    def counts(self, objects: Strings, state: State, dtype: DType) -> CountFeatures:
        values = self.mask_values
        windows = self.windows(objects)
        names = self.masked_names(windows)
        offsets = windows.offsets * len(values)
        if (values == values[0]).all():
            counted = CountFeatures.of(names, offsets, dtype)
            return counted if values[0] == 1.0 else counted.scaled(np.full(len(windows), values[0]))
        return CountFeatures.of(names, offsets, dtype, np.tile(values, len(windows.starts)))

    def occurrences(self, one: Strings, state: State) -> Occurrences:
        windows, sequence = self.windows(one), self.sequences(one)
        masks, length = self.masks, len(sequence.symbols)
        sizes = np.asarray([len(places) for places in masks], dtype=np.int64)
        padded = np.asarray([places + places[-1:] * (int(sizes.max()) - len(places)) for places in masks])
        read = (windows.starts[:, None, None] + padded[None, :, :]).reshape(-1, int(sizes.max()))
        # The reverse complement follows the string: its position q is the position length - 1 - q of the string itself.
        places = np.where(read < length, read, 2 * length - 1 - read)
        letters = None if self.letters is None else symbols_of(self.letters)

        def spell(k: int) -> str:
            word: list[int | None] = [None] * self.l
            for place, at in zip(masks[k % len(masks)], read[k], strict=False):
                code = int(windows.symbols[at])
                word[place] = code if letters is None else int(letters[code])
            return word_of(word)

        values, times = np.tile(self.mask_values, len(windows.starts)), np.tile(sizes, len(windows.starts))
        return at_places(sequence, self.masked_names(windows), values, places, times, spell)

    @property
    def masks(self) -> list[tuple[int, ...]]:
        """The positions of a window that are compared together, one choice after another."""
        sizes = np.flatnonzero(self.mask_weights)
        return [places for size in sizes for places in combinations(range(self.l), int(size))]

    @property
    def mask_values(self) -> Float64:
        """The value of the feature of each mask: the square root of its weight."""
        weights = self.mask_weights
        return np.asarray([np.sqrt(weights[len(places)]) for places in self.masks])

    def masked_names(self, windows: Windows) -> npt.NDArray[np.uint64]:
        """The names of every window under every mask, window after window."""
        masks = self.masks
        flat = np.asarray([place for places in masks for place in places], dtype=np.int64)
        bounds = offsets_of(len(places) for places in masks)
        names: npt.NDArray[np.uint64] = _name_masked(windows.symbols, windows.starts, flat, bounds)
        return names


@jit
def _name_masked(symbols: Array, starts: Array, places: Array, bounds: Array) -> Any:
    """The names of the symbols of each window at the positions of each mask, window after window."""
    masks = bounds.shape[0] - 1
    names = np.empty(starts.shape[0] * masks, dtype=np.uint64)
    for w in range(starts.shape[0]):
        for m in range(masks):
            h = finished(np.uint64(m + 1))
            for q in range(bounds[m], bounds[m + 1]):
                h = mix(h + np.uint64(symbols[starts[w] + places[q]]))
            names[w * masks + m] = h
    return names

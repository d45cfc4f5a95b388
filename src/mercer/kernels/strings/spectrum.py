"""The p-spectrum kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64, Floating
from mercer.inputs.strings import Strings
from mercer.kernels.base import Features, State
from mercer.kernels.features.counting import CountsFeatures
from mercer.kernels.features.counts import EXACT_IN_SINGLE, CountFeatures, align, inner_products
from mercer.kernels.features.occurrences import Occurrences
from mercer.kernels.strings.base import StringKernel
from mercer.kernels.strings.masks import mask_diagonal, mask_products
from mercer.kernels.strings.occurrences import of_words
from mercer.kernels.strings.windows import Windows, compacted
from mercer.kernels.strings.words import name_words


@final
@dataclass(frozen=True)
class Spectrum(StringKernel, CountsFeatures):
    """The p-spectrum kernel: k(s, t) = sum over all words u of length p of count_u(s) count_u(t).

    Counts are of contiguous substrings, overlaps included; strings shorter than `p` have none and compare as 0 to
    everything. `algorithm` is ``"counts"``, products of counts, or ``"trie"``, the walk of a trie of words that both
    sides have; the values are the same.

    >>> from mercer import kernels
    >>> kernels.Spectrum(p=3).fit(["statistics"])(["statistics"], ["computation"])
    array([[2.]])
    """

    p: int = 3
    algorithm: str = "counts"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.integer("Spectrum", "p", self.p, low=1)
        _check.choice("Spectrum", "algorithm", self.algorithm, ("counts", "trie"))

    @property
    def shortest(self) -> int:
        return self.p

    def _named(self, sequences: Strings) -> tuple[Any, Any, Any]:
        named: tuple[Any, Any, Any] = name_words(
            sequences.symbols, sequences.offsets, self.p, self.p, np.ones(self.p + 1)
        )
        return named

    def counts(self, objects: Strings, state: State, dtype: DType) -> CountFeatures:
        names, _, offsets = self._named(self.sequences(objects))
        return CountFeatures.of(names, offsets, dtype)

    def occurrences(self, one: Strings, state: State) -> Occurrences:
        sequence = self.sequences(one)
        names, values, _ = self._named(sequence)
        return of_words(sequence, names, values, self.p, self.p)

    def features(self, objects: Strings, state: State, dtype: DType) -> Features:
        if self.algorithm == "counts":
            return self.counts(objects, state, dtype)
        sequences = self.sequences(objects)
        windows = Windows.of(sequences.symbols, sequences.offsets, self.p)
        own, _ = compacted(windows, windows)
        return windows.with_diagonal(mask_diagonal(own, self._one_mask, 1.0))

    @property
    def _one_mask(self) -> Float64:
        return np.append(np.zeros(self.p), 1.0)

    def align(self, left: Any, right: Any, state: State) -> tuple[Any, Any]:
        return align(left, right) if self.algorithm == "counts" else compacted(left, right)

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        if self.algorithm == "counts":
            inner_products(left, right, out)
        else:
            mask_products(left, right, self._one_mask, 1.0, out)

    def diagonal(self, features: Any, state: State) -> Float64:
        return features.squared_lengths if isinstance(features, CountFeatures) else np.asarray(features.diagonal)

    def single_precision(self, features: Any, state: State) -> bool:
        return bool(self.diagonal(features, state).max(initial=0.0) < EXACT_IN_SINGLE)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(p=1)
        yield cls(p=5)
        yield cls(p=2, algorithm="trie")
        yield cls(p=1, tokens="words", lowercase=True)

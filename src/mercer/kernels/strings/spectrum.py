"""Kernels that count contiguous words: the p-spectrum kernel, and the blended one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np

from mercer._jit import Array, jit
from mercer._record import choice, integer, real
from mercer._types import DType, Float64, Floating
from mercer.inputs.strings import Strings
from mercer.kernels.base import SAFE_IN_SINGLE, State
from mercer.kernels.features.counting import Counting, CountsFeatures
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.occurrences import Occurrences
from mercer.kernels.loops.mixing import finished, mix
from mercer.kernels.strings.base import StringKernel, at_places, word_of
from mercer.kernels.strings.masks import mask_diagonal, mask_products
from mercer.kernels.strings.windows import Windows, compacted

LONGEST_WORD = 10_000
"""The longest words: the work grows with their length, and longer ones would be whole texts rather than features."""


class WordKernel(StringKernel, CountsFeatures):
    """A kernel whose features are words, from the length `shortest` on, each with a value that depends on its length.

    Subclasses define `values`.
    """

    placed: ClassVar[bool] = False
    """Whether equal words at different positions are different features."""

    @property
    @abstractmethod
    def values(self) -> Float64:
        """The value of words by their length, from 0 to the longest."""

    def _named(self, sequences: Strings) -> tuple[Any, Any, Any]:
        arrays = (sequences.symbols, sequences.offsets, self.shortest, self.values, self.placed)
        named: tuple[Any, Any, Any] = name_words(*arrays)
        return named

    def counts(self, objects: Strings, state: State, dtype: DType) -> CountFeatures:
        names, values, offsets = self._named(self.sequences(objects))
        plain = (self.values[self.shortest :] == 1.0).all()
        return CountFeatures.of(names, offsets, dtype, None if plain else values)

    def occurrences(self, one: Strings, state: State) -> Occurrences:
        sequence, longest = self.sequences(one), len(self.values) - 1
        names, values, _ = self._named(sequence)
        length = len(sequence.symbols)
        pairs = [(start, q) for start in range(length) for q in range(self.shortest, min(longest, length - start) + 1)]
        starts, sizes = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
        behind = np.arange(longest)[None, :]
        places = np.where(behind < sizes[:, None], starts[:, None] + behind, 0)

        def with_place(k: int) -> str:
            return f"{word_of(sequence.symbols[starts[k] : starts[k] + sizes[k]].tolist())}@{starts[k]}"

        return at_places(sequence, names, values, places, sizes, with_place if self.placed else None)


@final
@dataclass(frozen=True)
class Spectrum(WordKernel, Counting):
    """The p-spectrum kernel: k(s, t) = sum over all words u of length p of count_u(s) count_u(t).

    Counts are of contiguous substrings, overlaps included; strings shorter than `p` have none, and the value 0 with any
    string. `algorithm` is ``"counts"`` (products of counts) or ``"trie"`` (a walk over the trie of common words); the
    values are the same.

    >>> from mercer import kernels
    >>> kernels.Spectrum(p=3).fit(["statistics"])(["statistics"], ["computation"])
    array([[2.]])
    """

    p: int = integer(3, low=1, high=LONGEST_WORD)
    algorithm: str = choice("counts", "trie")

    variants = ({}, {"p": 1}, {"p": 5}, {"p": 2, "algorithm": "trie"}, {"p": 1, "tokens": "words", "lowercase": True})

    @property
    def shortest(self) -> int:
        return self.p

    @property
    def values(self) -> Float64:
        return np.append(np.zeros(self.p), 1.0)

    # A window has a single mask, so `values` are the weights of masks, too.
    def features(self, objects: Strings, state: State, dtype: DType) -> Any:
        if self.algorithm == "counts":
            return super().features(objects, state, dtype)
        sequences = self.sequences(objects)
        windows = Windows.of(sequences.symbols, sequences.offsets, self.p)
        own, _ = compacted(windows, windows)
        return replace(windows, diagonal=mask_diagonal(own, self.values, 1.0))

    def align(self, left: Any, right: Any, state: State) -> tuple[Any, Any]:
        return super().align(left, right, state) if self.algorithm == "counts" else compacted(left, right)

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        if self.algorithm == "counts":
            super().tile(left, right, state, out)
        else:
            mask_products(left, right, self.values, 1.0, out)

    def diagonal(self, features: Any, state: State) -> Float64:
        return super().diagonal(features, state) if self.algorithm == "counts" else np.asarray(features.diagonal)


@final
@dataclass(frozen=True)
class BlendedSpectrum(WordKernel, Counting):
    """All words up to length p: k(s, t) = sum over q = 1 .. p of decay^(2q) k_q(s, t), with k_q the q-spectrum kernel.

    A word of length q has the weight decay^q in the features of a string; occurrences overlap. `decay` below 1 favours
    short words, above 1 long ones.

    >>> from mercer import kernels
    >>> kernels.BlendedSpectrum(p=3, decay=0.5).fit(["banana"])(["banana"], ["ananas"])
    array([[3.828125]])
    """

    p: int = integer(3, low=1, high=LONGEST_WORD)
    decay: float = real(1.0, low=0, low_open=True, high_open=True)

    largest_in_single = SAFE_IN_SINGLE
    shortest = 1
    variants = ({}, {"p": 4, "decay": 0.5}, {"p": 2, "tokens": "words"})

    @property
    def values(self) -> Float64:
        return np.asarray(float(self.decay) ** np.arange(self.p + 1))


@jit
def name_words(symbols: Array, offsets: Array, shortest: int, values: Array, placed: bool) -> Any:
    """The names of all words from the length `shortest` on, string after string, each with ``values[length]``.

    Equal words get equal names in any batch; if `placed`, only those at the same position.
    """
    longest = values.shape[0] - 1
    bounds = np.zeros(offsets.shape[0], dtype=np.int64)
    for i in range(offsets.shape[0] - 1):
        length = offsets[i + 1] - offsets[i]
        total = 0
        for q in range(shortest, longest + 1):
            total += max(0, length - q + 1)
        bounds[i + 1] = bounds[i] + total
    names = np.empty(bounds[-1], dtype=np.uint64)
    weights = np.empty(bounds[-1], dtype=np.float64)
    used = 0
    for i in range(offsets.shape[0] - 1):
        for start in range(offsets[i], offsets[i + 1]):
            h = finished(np.uint64(start - offsets[i] + 1)) if placed else np.uint64(0)
            for q in range(1, min(longest, offsets[i + 1] - start) + 1):
                h = mix(h + np.uint64(symbols[start + q - 1]))
                if q >= shortest:
                    names[used] = finished(h + np.uint64(q))
                    weights[used] = values[q]
                    used += 1
    return names, weights, bounds

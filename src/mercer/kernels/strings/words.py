"""Kernels that count contiguous words, and how words are named."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from mercer._jit import Array, jit
from mercer._types import DType, Float64
from mercer.inputs.strings import Strings
from mercer.kernels.base import State
from mercer.kernels.features.counting import CountsFeatures
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.occurrences import Occurrences
from mercer.kernels.loops.mixing import finished, mix
from mercer.kernels.strings.base import StringKernel
from mercer.kernels.strings.occurrences import at_places, word_of


class WordKernel(StringKernel, CountsFeatures):
    """A kernel whose features are words, from the length `shortest` on, each with a value that depends on its length.

    Subclasses give `values`.
    """

    placed: ClassVar[bool] = False
    """Whether words are the same feature at the same place only."""

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


@jit
def name_words(symbols: Array, offsets: Array, shortest: int, values: Array, placed: bool) -> Any:
    """The names of all words from the length `shortest` on, string after string, each with ``values[length]``.

    Equal words get equal names in any batch, if `placed` those at the same place.
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

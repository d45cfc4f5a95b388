"""The blended spectrum kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64
from mercer.inputs.strings import Strings
from mercer.kernels.base import SAFE_IN_SINGLE, State
from mercer.kernels.features.counting import Counting
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.occurrences import Occurrences
from mercer.kernels.strings.base import StringKernel
from mercer.kernels.strings.occurrences import of_words
from mercer.kernels.strings.words import name_words


@final
@dataclass(frozen=True)
class BlendedSpectrum(StringKernel, Counting):
    """All words up to length p: k(s, t) = sum over q = 1 .. p of decay^(2q) k_q(s, t), with k_q the q-spectrum kernel.

    A word of length q has the weight decay^q in the features of a string; occurrences overlap. `decay` below 1 favours
    short words, above 1 long ones.

    >>> from mercer import kernels
    >>> kernels.BlendedSpectrum(p=3, decay=0.5).fit(["banana"])(["banana"], ["ananas"])
    array([[3.828125]])
    """

    p: int = 3
    decay: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.integer("BlendedSpectrum", "p", self.p, low=1)
        _check.real("BlendedSpectrum", "decay", self.decay, low=0, low_open=True, high_open=True)

    @property
    def shortest(self) -> int:
        return 1

    @property
    def values(self) -> Float64:
        """The weight of words, by their length."""
        return np.asarray(float(self.decay) ** np.arange(self.p + 1))

    def counts(self, objects: Strings, state: State, dtype: DType) -> CountFeatures:
        names, weights, offsets = self._named(self.sequences(objects))
        return CountFeatures.of(names, offsets, dtype, weights)

    def occurrences(self, one: Strings, state: State) -> Occurrences:
        sequence = self.sequences(one)
        names, values, _ = self._named(sequence)
        return of_words(sequence, names, values, 1, self.p)

    def _named(self, sequences: Strings) -> tuple[Any, Any, Any]:
        named: tuple[Any, Any, Any] = name_words(sequences.symbols, sequences.offsets, 1, self.p, self.values)
        return named

    def single_precision(self, features: CountFeatures, state: State) -> bool:
        return bool(features.squared_lengths.max(initial=0.0) < SAFE_IN_SINGLE)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(p=4, decay=0.5)
        yield cls(p=2, tokens="words")

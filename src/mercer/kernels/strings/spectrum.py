"""The p-spectrum kernel, and the blended one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._fields import choice, integer, real
from mercer._types import DType, Float64, Floating
from mercer.inputs.strings import Strings
from mercer.kernels.base import SAFE_IN_SINGLE, Features, State
from mercer.kernels.features.counting import Counting
from mercer.kernels.strings.masks import mask_diagonal, mask_products
from mercer.kernels.strings.windows import Windows, compacted
from mercer.kernels.strings.words import WordKernel


@final
@dataclass(frozen=True)
class Spectrum(WordKernel, Counting):
    """The p-spectrum kernel: k(s, t) = sum over all words u of length p of count_u(s) count_u(t).

    Counts are of contiguous substrings, overlaps included; strings shorter than `p` have none and compare as 0 to
    everything. `algorithm` is ``"counts"``, products of counts, or ``"trie"``, the walk of a trie of words that both
    sides have; the values are the same.

    >>> from mercer import kernels
    >>> kernels.Spectrum(p=3).fit(["statistics"])(["statistics"], ["computation"])
    array([[2.]])
    """

    p: int = integer(3, low=1)
    algorithm: str = choice("counts", "trie")

    example_settings = (
        {},
        {"p": 1},
        {"p": 5},
        {"p": 2, "algorithm": "trie"},
        {"p": 1, "tokens": "words", "lowercase": True},
    )

    @property
    def shortest(self) -> int:
        return self.p

    @property
    def values(self) -> Float64:
        return np.append(np.zeros(self.p), 1.0)

    # A window counts where it agrees on its one mask: `values` are the weights of masks, too.
    def features(self, objects: Strings, state: State, dtype: DType) -> Features:
        if self.algorithm == "counts":
            return super().features(objects, state, dtype)
        sequences = self.sequences(objects)
        windows = Windows.of(sequences.symbols, sequences.offsets, self.p)
        own, _ = compacted(windows, windows)
        return windows.with_diagonal(mask_diagonal(own, self.values, 1.0))

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

    p: int = integer(3, low=1)
    decay: float = real(1.0, low=0, low_open=True, high_open=True)

    largest_in_single = SAFE_IN_SINGLE
    example_settings = ({}, {"p": 4, "decay": 0.5}, {"p": 2, "tokens": "words"})

    @property
    def shortest(self) -> int:
        return 1

    @property
    def values(self) -> Float64:
        return np.asarray(float(self.decay) ** np.arange(self.p + 1))

"""Subsequences of a fixed length."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64, Floating
from mercer.inputs.strings import Strings
from mercer.kernels.base import SAFE_IN_SINGLE, State
from mercer.kernels.loops.pairs import PairLoop, SequenceFeatures, Sides
from mercer.kernels.loops.string_lanes import RUNNER, coded, small_codes
from mercer.kernels.strings.base import StringKernel
from mercer.kernels.strings.gaps import EQUAL_ONLY, gap_loop


class Subsequences(StringKernel):
    """k(s, t) = sum over words u of length p of phi_u(s) phi_u(t), phi_u(s) the weight of all ways to read u in s.

    Computed pair by pair with a dynamic programme.
    """

    p: int

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.integer(type(self).__name__, "p", self.p, low=1)

    @property
    def shortest(self) -> int:
        return self.p

    @property
    def known(self) -> int:
        """How many of the smallest symbols of `coded` have weights of their own."""
        return 0

    @abstractmethod
    def pair_loop(self, dtype: DType) -> PairLoop:
        """The loop over pairs of strings, in one precision."""

    def coded(self, sequences: Strings) -> Strings:
        """The symbols that the loop reads."""
        return sequences

    def features(self, objects: Strings, state: State, dtype: DType) -> SequenceFeatures:
        sequences = self.coded(self.sequences(objects))
        plain = coded(sequences)
        small, _ = small_codes(plain, plain, self.known)
        return coded(sequences, diagonal=RUNNER.own(self.pair_loop(np.float64), small, self.p))

    def align(self, left: SequenceFeatures, right: SequenceFeatures, state: State) -> Sides:
        return small_codes(left, right, self.known)

    def tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Floating) -> None:
        RUNNER.fill(self.pair_loop(out.dtype.type), left, right, self.p, out)

    def tile_entries(self, left: SequenceFeatures, right: SequenceFeatures, state: State) -> int:
        return RUNNER.entries(left, right, self.p)

    def diagonal(self, features: SequenceFeatures, state: State) -> Float64:
        return features.diagonal

    def single_precision(self, features: SequenceFeatures, state: State) -> bool:
        positive = features.diagonal[features.diagonal > 0]
        return not len(positive) or bool(positive.max() < SAFE_IN_SINGLE and positive.min() > 1.0 / SAFE_IN_SINGLE**0.5)


@final
@dataclass(frozen=True)
class FixedLengthSubsequences(Subsequences):
    """All subsequences of length p, gaps free: k(s, t) = sum over words u of length p of count_u(s) count_u(t).

    count_u(s) is the number of index tuples i_1 < ... < i_p that spell u in s, whatever lies between.

    >>> from mercer import kernels
    >>> kernels.FixedLengthSubsequences(p=2).fit(["gatta"])(["gatta"], ["cata"])
    array([[5.]])
    """

    p: int = 3

    def pair_loop(self, dtype: DType) -> PairLoop:
        return gap_loop(self.p, np.ones(1), np.ones(1), EQUAL_ONLY, dtype)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(p=1)
        yield cls(p=3)


@final
@dataclass(frozen=True)
class GapWeighted(Subsequences):
    """Subsequences of length p, faded by their span: phi_u(s) = sum over index tuples i that spell u of decay^len(i).

    len(i) = i_last - i_first + 1 counts matched symbols and the gaps between them, so every value carries a factor
    decay^(2p), which the cosine (`kernels.normalise`) cancels. decay = 1 counts subsequences; as it goes to 0 the
    kernel becomes the p-spectrum kernel.

    >>> from mercer import kernels
    >>> kernels.GapWeighted(p=2, decay=0.5).fit(["gatta"])(["gatta"], ["cata"])
    array([[0.1953125]])
    """

    p: int = 3
    decay: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.real("GapWeighted", "decay", self.decay, low=0, low_open=True, high=1)

    def pair_loop(self, dtype: DType) -> PairLoop:
        decay = np.full(1, float(self.decay))
        return gap_loop(self.p, decay, decay, EQUAL_ONLY, dtype)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(p=1, decay=0.9)
        yield cls(p=2, decay=0.7, tokens="words")

"""Subsequences of a fixed length."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64, Floating
from mercer.inputs.strings import Strings
from mercer.kernels.base import SAFE_IN_SINGLE, State
from mercer.kernels.strings.base import FixedLength
from mercer.kernels.strings.gaps import even_pairs, gap_pairs
from mercer.kernels.strings.lanes import Coded, PairLoop, diagonal_by, entries_by, small_codes, tile_by

HARD = np.empty((0, 0))
"""No table of similarities: symbols match when they are equal."""


class PairwiseSubsequences(FixedLength):
    """A kernel on subsequences of length p, computed pair by pair with a dynamic programme."""

    p: int

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

    def features(self, objects: Strings, state: State, dtype: DType) -> Coded:
        sequences = self.coded(self.sequences(objects))
        return Coded.of(sequences, diagonal_by(self.pair_loop(np.float64), sequences, self.p, self.known))

    def align(self, left: Coded, right: Coded, state: State) -> tuple[Coded, Coded]:
        return small_codes(left, right, self.known)

    def tile(self, left: Coded, right: Coded, state: State, out: Floating) -> None:
        tile_by(self.pair_loop(out.dtype.type), left, right, self.p, out)

    def tile_entries(self, left: Coded, right: Coded, state: State) -> int:
        return entries_by(left, right, self.p)

    def diagonal(self, features: Coded, state: State) -> Float64:
        return features.diagonal

    def single_precision(self, features: Coded, state: State) -> bool:
        positive = features.diagonal[features.diagonal > 0]
        return not len(positive) or bool(positive.max() < SAFE_IN_SINGLE and positive.min() > 1.0 / SAFE_IN_SINGLE**0.5)


class GapSubsequences(PairwiseSubsequences):
    """k(s, t) = sum over words u of length p of phi_u(s) phi_u(t), phi_u(s) the weight of all ways to read u in s."""

    @abstractmethod
    def weights(self) -> tuple[Float64, Float64, Float64]:
        """What symbols passed over are multiplied by, what matched symbols weigh, and how similar two symbols are."""

    def pair_loop(self, dtype: DType) -> PairLoop:
        fade, weight, similarity = (np.ascontiguousarray(table, dtype=dtype) for table in self.weights())
        if len(fade) == 1 and not len(similarity):
            squared = np.square(weight)

            def even(left: Any, starts: Any, right: Any, ends: Any, first: Any, second: Any, out: Any) -> None:
                even_pairs(left, starts, right, ends, first, second, out, self.p, fade, squared)

            return even

        def loop(left: Any, starts: Any, right: Any, ends: Any, first: Any, second: Any, out: Any) -> None:
            gap_pairs(left, starts, right, ends, first, second, out, self.p, fade, weight, similarity)

        return loop


@final
@dataclass(frozen=True)
class FixedLengthSubsequences(GapSubsequences):
    """All subsequences of length p, gaps free: k(s, t) = sum over words u of length p of count_u(s) count_u(t).

    count_u(s) is the number of index tuples i_1 < ... < i_p that spell u in s, whatever lies between.

    >>> from mercer import kernels
    >>> kernels.FixedLengthSubsequences(p=2).fit(["gatta"])(["gatta"], ["cata"])
    array([[5.]])
    """

    p: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.integer("FixedLengthSubsequences", "p", self.p, low=1)

    def weights(self) -> tuple[Float64, Float64, Float64]:
        return np.ones(1), np.ones(1), HARD

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(p=1)
        yield cls(p=3)

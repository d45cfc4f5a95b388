"""Subsequences of a fixed length, weighted by their gaps."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._record import boolean, choice, integer, real
from mercer._types import DType, Floating
from mercer.inputs.hashing import symbol_of
from mercer.inputs.strings import Strings
from mercer.kernels.base import SAFE_IN_SINGLE, State
from mercer.kernels.features.alphabet import Alphabet
from mercer.kernels.features.substitution import REPAIRS, checked_matrix, repaired
from mercer.kernels.loops.pairs import PairLoop, SequenceFeatures, with_numbers
from mercer.kernels.strings.base import OverAlphabet, PairedStrings
from mercer.kernels.strings.gaps import EQUAL_ONLY, gap_loop, gap_number_pairs

Decays = tuple[tuple[Hashable, float], ...]


LONGEST = 1000
"""The longest subsequences: the work grows with their length, and longer ones are shared by chance only."""


class Subsequences(PairedStrings):
    """k(s, t) = sum over words u of length p of phi_u(s) phi_u(t), phi_u(s) the weight of all ways to read u in s."""

    p: int

    @property
    def shortest(self) -> int:
        return self.p

    @property
    def cost(self) -> float:
        return self.p

    def tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Floating) -> None:
        if min(left.lengths.max(initial=0), right.lengths.max(initial=0)) < self.p:
            out[...] = 0  # no string has a subsequence of that length
        else:
            super().tile(left, right, state, out)

    def single_precision(self, features: SequenceFeatures, state: State) -> bool:
        positive = features.diagonal[features.diagonal > 0]
        return not len(positive) or bool(positive.max() < SAFE_IN_SINGLE and positive.min() > 1.0 / SAFE_IN_SINGLE**0.5)


@final
@dataclass(frozen=True)
class FixedLengthSubsequences(Subsequences):
    """All subsequences of length p, with any gaps: k(s, t) = sum over words u of length p of count_u(s) count_u(t).

    count_u(s) is the number of index tuples i_1 < ... < i_p that spell u in s.

    >>> from mercer import kernels
    >>> kernels.FixedLengthSubsequences(p=2).fit(["gatta"])(["gatta"], ["cata"])
    array([[5.]])
    """

    p: int = integer(3, low=1, high=LONGEST)

    variants = ({"p": 1}, {"p": 3})

    def pair_loop(self, dtype: DType) -> PairLoop:
        return gap_loop(self.p, np.ones(1), np.ones(1), EQUAL_ONLY, dtype)


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

    p: int = integer(3, low=1, high=LONGEST)
    decay: float = real(0.5, low=0, low_open=True, high=1)

    variants = ({}, {"p": 1, "decay": 0.9}, {"p": 2, "decay": 0.7, "tokens": "words"})

    def pair_loop(self, dtype: DType) -> PairLoop:
        decay = np.full(1, float(self.decay))
        return gap_loop(self.p, decay, decay, EQUAL_ONLY, dtype)


@final
@dataclass(frozen=True)
class GapNumberWeighted(Subsequences):
    """Subsequences of length p, weighted by how many gaps they have: phi_u(s) = sum over i that spell u of decay^g(i).

    g(i) is the number of gaps of any length between consecutive indices; matched symbols have weight 1. decay = 0 gives
    the p-spectrum kernel, decay = 1 counts subsequences.

    >>> from mercer import kernels
    >>> kernels.GapNumberWeighted(p=2, decay=0.5).fit(["gatta"])(["gatta"], ["cata"])
    array([[3.25]])
    """

    p: int = integer(3, low=1, high=LONGEST)
    decay: float = real(0.5, low=0, high_open=True)

    variants = (
        {},
        {"p": 2, "decay": 0.0},
    )

    def pair_loop(self, dtype: DType) -> PairLoop:
        return with_numbers(gap_number_pairs, self.p, dtype(self.decay))


@final
@dataclass(frozen=True)
class CharacterWeighted(Subsequences):
    """Subsequences of length p, each symbol of whose span pays its own decay: phi_u(s) = sum over i that spell u of the
    product of decay(s_r) for r = i_first .. i_last.

    `decays` maps symbols to numbers >= 0, and `default` is for all others: 1 makes skipping a symbol free, 0 forbids
    it. With `gaps_only`, matched symbols have weight 1 and only skipped symbols decay.

    >>> from mercer import kernels
    >>> kernel = kernels.CharacterWeighted({"c": 0.9, "a": 0.5, "t": 0.8, "g": 0.3}, p=2)
    >>> kernel.fit(["gatta"])(["gatta"], ["cata"]).round(6)
    array([[0.608]])
    """

    decays: Decays
    p: int = integer(3, low=1, high=LONGEST)
    default: float = real(0.5, low=0, high_open=True)
    gaps_only: bool = boolean()

    variants = (
        {"decays": (("a", 0.9), ("t", 0.3)), "p": 2},
        {"decays": (("a", 1.0), ("C", 0.0)), "p": 3, "gaps_only": True},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = "CharacterWeighted"
        pairs: Any = self.decays.items() if isinstance(self.decays, Mapping) else self.decays
        rule = "a mapping from symbols to numbers >= 0"
        try:
            items = [(symbol, decay) for symbol, decay in pairs]
        except (TypeError, ValueError):
            raise _check.fail(owner, "decays", rule, self.decays) from None
        for symbol, decay in items:
            _check.real(owner, f"decays[{symbol!r}]", decay, low=0, high_open=True)
        object.__setattr__(self, "decays", tuple((symbol, float(decay)) for symbol, decay in items))

    def _folded_decays(self) -> dict[int, float]:
        return {
            symbol_of(self.folded(symbol) if isinstance(symbol, str) else symbol): decay
            for symbol, decay in self.decays
        }

    @property
    def known(self) -> int:
        return len(self.decays)

    def coded(self, sequences: Strings) -> Strings:
        """Symbols with their own decay come first, in order; the others get distinct codes after them."""
        known = np.asarray(sorted(self._folded_decays()), dtype=np.int64)
        codes = np.asarray(sequences.symbols + len(known), dtype=sequences.symbols.dtype)
        if len(known):
            place = np.minimum(np.searchsorted(known, sequences.symbols), len(known) - 1)
            codes = np.where(known[place] == sequences.symbols, place, codes).astype(codes.dtype)
        return Strings(codes, sequences.offsets)

    def pair_loop(self, dtype: DType) -> PairLoop:
        table = self._folded_decays()
        fade = np.asarray([*(table[symbol] for symbol in sorted(table)), float(self.default)])
        return gap_loop(self.p, fade, np.ones_like(fade) if self.gaps_only else fade, EQUAL_ONLY, dtype)


@final
@dataclass(frozen=True)
class SoftMatching(OverAlphabet, Subsequences):
    """Gap-weighted subsequences whose symbols need not be equal:

    k(s, t) = sum over index tuples i, j of length p of decay^(len(i) + len(j)) prod over r of A(s_{i_r}, t_{j_r}).

    `matrix` is the symmetric table A over the symbols of `alphabet`, or the name of a substitution matrix such as
    ``"BLOSUM62"`` (extra ``bio``). A must be positive semi-definite; scores usually are not, and `repair` says what to
    do: ``"none"`` refuses them, ``"clip"`` sets negative eigenvalues to 0, ``"shift"`` adds a constant to the diagonal.

    >>> from mercer import kernels
    >>> similar = [[1.0, 0.5, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    >>> kernels.SoftMatching(similar, "bcat", p=2, decay=0.5).fit(["cat"])(["cat"], ["bat"])
    array([[0.1015625]])
    """

    matrix: Any
    alphabet: Alphabet | None = None
    p: int = integer(3, low=1, high=LONGEST)
    decay: float = real(0.5, low=0, low_open=True, high=1)
    repair: str = choice(*REPAIRS)

    variants = (
        {
            "matrix": [[1.0, 0.4, 0.0, 0.1], [0.4, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.3], [0.1, 0.0, 0.3, 1.0]],
            "alphabet": "ACGT",
            "p": 2,
        },
    )

    def __post_init__(self) -> None:
        _check.choice("SoftMatching", "repair", self.repair, REPAIRS)
        alphabet, matrix = checked_matrix("SoftMatching", self.alphabet, self.matrix)
        object.__setattr__(self, "alphabet", alphabet)
        object.__setattr__(self, "matrix", repaired("SoftMatching", matrix, self.repair))
        super().__post_init__()

    def pair_loop(self, dtype: DType) -> PairLoop:
        decay = np.full(1, float(self.decay))
        return gap_loop(self.p, decay, decay, self.matrix, dtype)

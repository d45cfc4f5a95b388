"""Subsequences whose weight depends on which symbols they span."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._types import DType
from mercer.inputs.hashing import symbol_of
from mercer.inputs.strings import Strings
from mercer.kernels.loops.pairs import PairLoop
from mercer.kernels.strings.gaps import EQUAL_ONLY, gap_loop
from mercer.kernels.strings.subsequences import Subsequences

Decays = tuple[tuple[Hashable, float], ...]


@final
@dataclass(frozen=True)
class CharacterWeighted(Subsequences):
    """Subsequences of length p, each symbol of whose span pays its own decay: phi_u(s) = sum over i that spell u of the
    product of decay(s_r) for r = i_first .. i_last.

    `decays` maps symbols to numbers >= 0, and `default` is for all others: 1 makes crossing a symbol free, 0 forbids
    it. With `gaps_only`, matched symbols weigh 1 and only the symbols skipped between them pay.

    >>> from mercer import kernels
    >>> kernel = kernels.CharacterWeighted({"c": 0.9, "a": 0.5, "t": 0.8, "g": 0.3}, p=2)
    >>> kernel.fit(["gatta"])(["gatta"], ["cata"]).round(6)
    array([[0.608]])
    """

    decays: Decays
    p: int = 3
    default: float = 0.5
    gaps_only: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = "CharacterWeighted"
        _check.real(owner, "default", self.default, low=0, high_open=True)
        _check.boolean(owner, "gaps_only", self.gaps_only)
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
        """Symbols with a decay of their own come first, in order; the others keep apart behind them."""
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

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls((("a", 0.9), ("t", 0.3)), p=2)
        yield cls((("a", 1.0), ("C", 0.0)), p=3, gaps_only=True)

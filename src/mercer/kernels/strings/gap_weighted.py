"""Subsequences whose weight fades with their span."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.kernels.strings.subsequences import HARD, GapSubsequences


@final
@dataclass(frozen=True)
class GapWeighted(GapSubsequences):
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
        _check.integer("GapWeighted", "p", self.p, low=1)
        _check.real("GapWeighted", "decay", self.decay, low=0, low_open=True, high=1)

    def weights(self) -> tuple[Float64, Float64, Float64]:
        return np.full(1, float(self.decay)), np.full(1, float(self.decay)), HARD

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(p=1, decay=0.9)
        yield cls(p=2, decay=0.7, tokens="words")

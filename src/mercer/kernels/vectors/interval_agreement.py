"""The kernel of where two intervals agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer.kernels.vectors.intervals import IntervalKernel
from mercer.kernels.vectors.products import AGREE


@final
@dataclass(frozen=True)
class IntervalAgreement(IntervalKernel):
    """How much of [lower, upper] is in both of [lower, x] and [lower, z] or in neither: (upper - lower) - |x - z|.

    Of several coordinates, the product or the sum, as `across` says. Numbers outside [lower, upper] are refused.

    >>> from mercer import kernels
    >>> kernels.IntervalAgreement(lower=-1.0, upper=3.0).fit([[0.5]])([[0.5]], [[2.0]])
    array([[2.5]])
    """

    lower: float = 0.0
    upper: float = 1.0
    across: str = "product"

    def __post_init__(self) -> None:
        super().__post_init__()
        low = _check.real("IntervalAgreement", "lower", self.lower, low_open=True, high_open=True)
        _check.real("IntervalAgreement", "upper", self.upper, low=low, low_open=True, high_open=True)

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.lower), float(self.upper)

    @property
    def term(self) -> tuple[int, float]:
        return AGREE, float(self.upper - self.lower)

    def own(self, rows: Any) -> Any:
        return np.full_like(rows, self.upper - self.lower)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(lower=-1.0, upper=3.0, across="sum")

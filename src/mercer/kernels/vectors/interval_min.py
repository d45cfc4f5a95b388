"""The kernel of intervals that begin at a common point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer.kernels.vectors.intervals import IntervalKernel
from mercer.kernels.vectors.products import ABOVE


@final
@dataclass(frozen=True)
class IntervalMin(IntervalKernel):
    """The overlap of the intervals [lower, x] and [lower, z]: k(x, z) = min(x, z) - lower, for x, z >= lower.

    Of several coordinates, the product (the volume of overlapping boxes) or the sum, as `across` says. Numbers below
    `lower` are refused: min(x, z) of negative numbers is no kernel.

    >>> from mercer import kernels
    >>> kernels.IntervalMin(lower=-1.0).fit([[0.5]])([[0.5]], [[2.0]])
    array([[1.5]])
    """

    lower: float = 0.0
    across: str = "product"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.real("IntervalMin", "lower", self.lower, low_open=True, high_open=True)

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.lower), np.inf

    @property
    def term(self) -> tuple[int, float]:
        return ABOVE, float(self.lower)

    def own(self, rows: Any) -> Any:
        return rows - self.lower

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(lower=-1.0, across="sum")

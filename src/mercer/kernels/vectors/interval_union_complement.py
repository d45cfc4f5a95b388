"""The kernel of what two intervals leave uncovered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer.kernels.vectors.intervals import IntervalKernel
from mercer.kernels.vectors.products import BELOW


@final
@dataclass(frozen=True)
class IntervalUnionComplement(IntervalKernel):
    """What both intervals up to x and up to z leave of the line below `upper`: k(x, z) = upper - max(x, z).

    Of several coordinates, the product or the sum, as `across` says. Numbers above `upper` are refused.

    >>> from mercer import kernels
    >>> kernels.IntervalUnionComplement(upper=3.0).fit([[0.5]])([[0.5]], [[2.0]])
    array([[1.]])
    """

    upper: float = 1.0
    across: str = "product"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.real("IntervalUnionComplement", "upper", self.upper, low_open=True, high_open=True)

    @property
    def bounds(self) -> tuple[float, float]:
        return -np.inf, float(self.upper)

    @property
    def term(self) -> tuple[int, float]:
        return BELOW, float(self.upper)

    def own(self, rows: Any) -> Any:
        return self.upper - rows

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(upper=2.0, across="sum")

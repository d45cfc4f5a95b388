"""The tent kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer.kernels.vectors.intervals import IntervalKernel
from mercer.kernels.vectors.products import TENT


@final
@dataclass(frozen=True)
class Tent(IntervalKernel):
    """The overlap of the intervals of half-width w around x and z: k(x, z) = max(0, 2 w - |x - z|).

    Of several coordinates, the product (overlapping boxes) or the sum, as `across` says; a tent of the Euclidean
    distance would be no kernel. It is 0 beyond a distance of 2 `half_width`.

    >>> from mercer import kernels
    >>> kernels.Tent(half_width=1.0).fit([[0.5]])([[0.5]], [[2.0]])
    array([[0.5]])
    """

    half_width: float = 1.0
    across: str = "product"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.real("Tent", "half_width", self.half_width, low=0, low_open=True, high_open=True)

    @property
    def term(self) -> tuple[int, float]:
        return TENT, 2.0 * self.half_width

    def own(self, rows: Any) -> Any:
        return np.full_like(rows, 2.0 * self.half_width)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(half_width=0.3, across="sum")

"""The periodic kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

from mercer import _check
from mercer._types import Floating
from mercer.kernels.algebra.pointwise import Pointwise
from mercer.kernels.base import Measure, State
from mercer.kernels.loops import epilogues
from mercer.kernels.vectors.circular import CircularDistance


@final
@dataclass(frozen=True)
class Periodic(Pointwise):
    """The periodic kernel, k(x, z) = exp(-2 sum_i sin^2(pi (x_i - z_i) / period) / length_scale^2).

    For quantities that repeat, such as the hour of a day. The sum runs over coordinates, which keeps it a kernel in
    any dimension; the sine of a distance, as found elsewhere, is one on single numbers only.

    >>> from mercer import kernels
    >>> hours = kernels.Periodic(period=24.0)
    >>> hours.fit([[1.0]])([[1.0]], [[25.0], [13.0]]).round(6)
    array([[1.      , 0.135335]])
    """

    period: float = 1.0
    length_scale: float = 1.0

    formula = r"\exp\left(-\frac{2}{<length_scale>^2} \sum_i \sin^2 \frac{\pi (<x>_i - <z>_i)}{<period>}\right)"

    def __post_init__(self) -> None:
        _check.real("Periodic", "period", self.period, low=0, low_open=True, high_open=True)
        _check.real("Periodic", "length_scale", self.length_scale, low=0, low_open=True, high_open=True)

    @property
    def measure(self) -> Measure:
        return CircularDistance(float(self.period))

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.exp_of_negative(values, min(0.5 / self.length_scale / self.length_scale, 1e308))

    def single_precision(self, features: Any, state: State) -> bool:
        # Distances between points on circles are known to about 1e-7 of their number; a sharp kernel magnifies that.
        return bool(self.length_scale**2 >= 0.02 * features.squared_lengths.max(initial=0.0))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(period=3.0, length_scale=0.8)

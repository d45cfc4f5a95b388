"""The rational quadratic kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer import _check
from mercer._types import Floating
from mercer.kernels.algebra.pointwise import Pointwise
from mercer.kernels.base import Measure, State
from mercer.kernels.loops import epilogues
from mercer.kernels.vectors.distance import SquaredEuclidean


@final
@dataclass(frozen=True)
class RationalQuadratic(Pointwise):
    """The rational quadratic kernel, k(x, z) = (1 + |x - z|^2 / (2 alpha length_scale^2))^-alpha.

    A mixture of `RBF` kernels of all widths; as alpha grows it becomes the one of gamma = 1 / (2 length_scale^2).
    Whole `alpha` up to 8 are fastest.

    >>> from mercer import kernels
    >>> kernels.RationalQuadratic(alpha=1.5, length_scale=2.0).fit([[0.0]])([[0.0]], [[1.5]]).round(6)
    array([[0.772769]])
    """

    alpha: float = 1.0
    length_scale: float = 1.0

    formula = (
        r"\left(1 + \frac{\left\lVert <x> - <z> \right\rVert^2}{2 \cdot <alpha> \cdot <length_scale>^2}\right)"
        r"^{-<alpha>}"
    )

    def __post_init__(self) -> None:
        _check.real("RationalQuadratic", "alpha", self.alpha, low=0, low_open=True, high_open=True)
        _check.real("RationalQuadratic", "length_scale", self.length_scale, low=0, low_open=True, high_open=True)

    @property
    def measure(self) -> Measure:
        return SquaredEuclidean()

    def pointwise(self, values: Floating, state: State) -> None:
        # Divided one by one: the product of three legal numbers can be too large or too small for a float.
        epilogues.rational(values, 0.5 / self.alpha / self.length_scale / self.length_scale, float(self.alpha))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(alpha=2.0, length_scale=0.5)
        yield cls(alpha=0.7, length_scale=2.0)

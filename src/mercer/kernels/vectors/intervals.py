"""Kernels on real numbers that represent intervals: the length of the overlap of two intervals."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._types import Float64, Floating
from mercer.kernels.base import Kernel, State
from mercer.kernels.vectors.coordinate_loops import ABOVE, AGREE, BELOW, TENT, coordinate_products
from mercer.kernels.vectors.coordinates import CoordinateFeatures, Coordinatewise

_LARGEST_RATIO = 16.0
"""The largest ratio of numbers to the shortest interval for tiles in float32. A difference then loses at most four of
24 bits; a larger ratio would trade more digits for speed."""


class IntervalKernel(Coordinatewise, Kernel):
    """A kernel of two numbers, multiplied (boxes) or added over the coordinates. Subclasses define it."""

    across: str
    lower: float = -np.inf
    upper: float = np.inf

    every = True

    def __post_init__(self) -> None:
        _check.choice(type(self).__name__, "across", self.across, ("product", "sum"))

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.lower), float(self.upper)

    @property
    @abstractmethod
    def term(self) -> tuple[int, float]:
        """Which term of `coordinate_products`, and its parameter."""

    def _lengths(self, numbers: Any) -> Any:
        """The value between each number and itself: the length of its interval."""
        term, parameter = self.term
        if term == ABOVE:
            return numbers - parameter
        return parameter - numbers if term == BELOW else np.full_like(numbers, parameter)

    def own(self, rows: Float64) -> Float64:
        lengths = self._lengths(rows)
        return np.asarray(lengths.sum(axis=1) if self.across == "sum" else lengths.prod(axis=1))

    def tile(self, left: CoordinateFeatures, right: CoordinateFeatures, state: State, out: Floating) -> None:
        term, parameter = self.term
        summed = self.across == "sum"
        coordinate_products(left, right, term, out, parameters=np.array([parameter]), summed=summed, every=True)

    def single_precision(self, features: CoordinateFeatures, state: State) -> bool:
        # Differences lose digits if the numbers are much larger than the lengths of the intervals.
        rows = features.rows.data if not isinstance(features.rows, np.ndarray) else features.rows
        size = np.abs(rows.astype(np.float64)).max(initial=abs(self.term[1]))
        lengths = self._lengths(rows.astype(np.float64))
        shortest = lengths[lengths > 0].min(initial=np.inf)
        precise = size <= _LARGEST_RATIO * shortest or self.term[1] == 0
        return bool(precise) and super().single_precision(features, state)


@final
@dataclass(frozen=True)
class IntervalMin(IntervalKernel):
    """The overlap of the intervals [lower, x] and [lower, z]: k(x, z) = min(x, z) - lower, for x, z >= lower.

    For several coordinates, it is the product (the volume of overlapping boxes) or the sum, as `across` says. Numbers
    below `lower` are refused: min(x, z) of negative numbers is not a kernel.

    >>> from mercer import kernels
    >>> kernels.IntervalMin(lower=-1.0).fit([[0.5]])([[0.5]], [[2.0]])
    array([[1.5]])
    """

    lower: float = 0.0
    across: str = "product"

    variants = (
        {},
        {"lower": -1.0, "across": "sum"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.real("IntervalMin", "lower", self.lower, low_open=True, high_open=True)

    @property
    def term(self) -> tuple[int, float]:
        return ABOVE, float(self.lower)


@final
@dataclass(frozen=True)
class IntervalUnionComplement(IntervalKernel):
    """The overlap of the intervals [x, upper] and [z, upper]: k(x, z) = upper - max(x, z), for x, z <= upper.

    For several coordinates, it is the product or the sum, as `across` says. Numbers above `upper` are refused.

    >>> from mercer import kernels
    >>> kernels.IntervalUnionComplement(upper=3.0).fit([[0.5]])([[0.5]], [[2.0]])
    array([[1.]])
    """

    upper: float = 1.0
    across: str = "product"

    variants = (
        {},
        {"upper": 2.0, "across": "sum"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.real("IntervalUnionComplement", "upper", self.upper, low_open=True, high_open=True)

    @property
    def term(self) -> tuple[int, float]:
        return BELOW, float(self.upper)


@final
@dataclass(frozen=True)
class IntervalAgreement(IntervalKernel):
    """How much of [lower, upper] is in both of [lower, x] and [lower, z] or in neither: (upper - lower) - |x - z|.

    For several coordinates, it is the product or the sum, as `across` says. Numbers outside [lower, upper] are refused.

    >>> from mercer import kernels
    >>> kernels.IntervalAgreement(lower=-1.0, upper=3.0).fit([[0.5]])([[0.5]], [[2.0]])
    array([[2.5]])
    """

    lower: float = 0.0
    upper: float = 1.0
    across: str = "product"

    variants = (
        {},
        {"lower": -1.0, "upper": 3.0, "across": "sum"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        low = _check.real("IntervalAgreement", "lower", self.lower, low_open=True, high_open=True)
        _check.real("IntervalAgreement", "upper", self.upper, low=low, low_open=True, high_open=True)

    @property
    def term(self) -> tuple[int, float]:
        return AGREE, float(self.upper - self.lower)


@final
@dataclass(frozen=True)
class Tent(IntervalKernel):
    """The overlap of the intervals of half-width w around x and z: k(x, z) = max(0, 2 w - |x - z|).

    For several coordinates, it is the product (overlapping boxes) or the sum, as `across` says; a tent of the Euclidean
    distance would not be a kernel. It is 0 beyond a distance of 2 `half_width`.

    >>> from mercer import kernels
    >>> kernels.Tent(half_width=1.0).fit([[0.5]])([[0.5]], [[2.0]])
    array([[0.5]])
    """

    half_width: float = 1.0
    across: str = "product"

    variants = (
        {},
        {"half_width": 0.3, "across": "sum"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.real("Tent", "half_width", self.half_width, low=0, low_open=True, high_open=True)

    @property
    def term(self) -> tuple[int, float]:
        return TENT, 2.0 * self.half_width

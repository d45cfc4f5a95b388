"""Sums, products and positive multiples of kernels are kernels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._types import Float64, Floating
from mercer.kernels.algebra.of_kernel import PointwiseOf
from mercer.kernels.algebra.several import PartFeatures, Several, check_terms
from mercer.kernels.base import Kernel, Measure, State
from mercer.kernels.features.columns import ColumnProducts, multiplied
from mercer.kernels.features.feature_map import FeatureMap, SideBySide, Stretched
from mercer.kernels.text import latex
from mercer.kernels.text.form import FACTOR, SUM, TERM, call_text, operand, text_of_value


class Combination(Several):
    """Several kernels on the same objects, combined entry by entry."""

    @staticmethod
    @abstractmethod
    def combine(total: Floating, values: Floating) -> None:
        """Fold the values of one more term into `total`, in place."""

    @classmethod
    def of(cls, left: Kernel, right: Kernel) -> Self:
        """Flatten terms of exactly this class: ``a + b*c`` keeps its product."""
        terms = [term for side in (left, right) for term in (side.terms if type(side) is cls else (side,))]
        return cls(tuple(terms))  # type: ignore[call-arg]

    def __post_init__(self) -> None:
        check_terms(type(self).__name__, self.terms, least=2)

    def tile(self, left: PartFeatures, right: PartFeatures, state: State, out: Floating) -> None:
        def measured(place: int, measure: Measure, own: State) -> Floating:
            first = place == 0 and len(self.groups[0][1]) == 1
            values = out if first else np.empty_like(out)
            measure.tile(left.parts[place], right.parts[place], own, values)
            return values

        total = self._combined(self.values_of_terms(measured, state))
        if total is not out:
            out[...] = total

    def diagonal(self, features: PartFeatures, state: State) -> Float64:
        def measured(place: int, measure: Measure, own: State) -> Float64:
            return measure.diagonal(features.parts[place], own).reshape(1, -1).copy()

        return np.asarray(self._combined(self.values_of_terms(measured, state))[0])

    def _combined(self, terms: Iterator[Floating]) -> Floating:
        total = next(terms)
        for values in terms:
            with np.errstate(over="ignore", invalid="ignore"):  # FittedKernel.diagonal refuses overflow
                self.combine(total, values)
        return total


@final
@dataclass(frozen=True)
class Sum(Combination):
    """k(x, z) = k1(x, z) + k2(x, z) + ...: the features of all terms side by side.

    >>> from mercer import kernels
    >>> print(kernels.Linear() + 0.5 * kernels.RBF(gamma=0.1))
    linear() + 0.5*rbf(gamma=0.1)
    """

    terms: tuple[Kernel, ...]

    reason = "it puts the features of its terms side by side"
    binding = SUM

    def feature_map(self, state: State) -> FeatureMap | None:
        parts = [term.feature_map(own) for term, own in zip(self.terms, state.parts, strict=True)]
        known = tuple(part for part in parts if part is not None)
        return SideBySide(known) if len(known) == len(parts) else None

    @property
    def summands(self) -> tuple[Kernel, ...]:
        return self.terms

    def column_products(self, state: State) -> ColumnProducts | None:
        parts = [term.column_products(own) for term, own in zip(self.terms, state.parts, strict=True)]
        known = [part for part in parts if part is not None]
        return sum(known, ()) if len(known) == len(parts) else None

    def latex(self, x: str = "x", z: str = "z") -> str:
        return " + ".join(term.latex(x, z) for term in self.terms)

    @staticmethod
    def combine(total: Floating, values: Floating) -> None:
        total += values

    def __str__(self) -> str:
        if any(type(term) is Sum for term in self.terms):  # ``+`` would flatten it
            return call_text(self)
        return " + ".join(operand(term, SUM) for term in self.terms)


@final
@dataclass(frozen=True)
class Product(Combination):
    """k(x, z) = k1(x, z) k2(x, z) ...: its features are all products of one feature of each of its `terms`.

    >>> from mercer import kernels
    >>> print(kernels.Linear() * (kernels.Linear() + kernels.RBF(gamma=0.1)))
    linear()*(linear() + rbf(gamma=0.1))
    """

    terms: tuple[Kernel, ...]

    reason = "its features are all products of one feature of each factor"
    binding = TERM

    def column_products(self, state: State) -> ColumnProducts | None:
        return multiplied([term.column_products(own) for term, own in zip(self.terms, state.parts, strict=True)])

    def latex(self, x: str = "x", z: str = "z") -> str:
        return r" \cdot ".join(latex.factor(term.latex(x, z)) for term in self.terms)

    @staticmethod
    def combine(total: Floating, values: Floating) -> None:
        total *= values

    def __str__(self) -> str:
        if any(type(term) is Product for term in self.terms):  # ``*`` would flatten it
            return call_text(self)
        first, *rest = self.terms
        return "*".join([operand(first, TERM), *(operand(factor, FACTOR) for factor in rest)])


@final
@dataclass(frozen=True)
class Scaled(PointwiseOf):
    """k(x, z) = factor * k0(x, z) with factor > 0.

    >>> from mercer import kernels
    >>> (2.0 * kernels.Linear()).fit([[3.0]])([[3.0]])
    array([[18.]])
    """

    kernel: Kernel
    factor: float = 1.0

    reason = "it is a positive multiple of a kernel"
    binding = TERM

    def feature_map(self, state: State) -> FeatureMap | None:
        features = self.kernel.feature_map(state.parts[0])
        root = np.sqrt(self.factor)
        return None if features is None else Stretched(features, lambda lengths: np.full_like(lengths, root))

    def column_products(self, state: State) -> ColumnProducts | None:
        parts = self.kernel.column_products(state.parts[0])
        return None if parts is None else tuple(part.scaled(self.factor) for part in parts)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"{latex.number(self.factor)}\,{latex.factor(self.kernel.latex(x, z))}"

    def __post_init__(self) -> None:
        _check.instance("Scaled", "kernel", self.kernel, Kernel, "a kernel")
        remedy = "A negative multiple of a kernel is not a kernel."
        _check.real("Scaled", "factor", self.factor, low=0, low_open=True, high_open=True, remedy=remedy)

    @classmethod
    def of(cls, kernel: Kernel, factor: Any) -> Self:
        return cls(kernel, float(factor))

    def outer(self, values: Floating) -> None:
        with np.errstate(over="ignore"):
            values *= values.dtype.type(self.factor)

    def __str__(self) -> str:
        return f"{text_of_value(self.factor)}*{operand(self.kernel, FACTOR)}"

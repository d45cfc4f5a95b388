"""Polynomials of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._jit import Array, jit
from mercer._types import Floating
from mercer.kernels.algebra.pointwise import PointwiseOf
from mercer.kernels.algebra.power import SINGLE_DEGREE
from mercer.kernels.base import Kernel, State
from mercer.kernels.text import latex


@final
@dataclass(frozen=True)
class PolynomialOf(PointwiseOf):
    """k(x, z) = c0 + c1 k0(x, z) + c2 k0(x, z)^2 + ..., with coefficients that are zero or positive.

    `coefficients` lists c0, c1, c2 ... A negative one would not be positive semi-definite, and is refused.

    >>> from mercer import kernels
    >>> kernel = kernels.PolynomialOf(kernels.Linear(), [1.0, 0.0, 2.0, 0.5])
    >>> kernel.fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]])
    array([[3.5]])
    """

    kernel: Kernel
    coefficients: tuple[float, ...]

    reason = "it is a polynomial of the kernel with coefficients of zero or more"

    def __post_init__(self) -> None:
        _check.instance("PolynomialOf", "kernel", self.kernel, Kernel, "a kernel")
        rule = "a non-empty list of numbers, the coefficients of k^0, k^1, k^2 ..."
        try:
            given = tuple(self.coefficients)
        except TypeError:
            raise _check.fail("PolynomialOf", "coefficients", rule, self.coefficients) from None
        if not given:
            raise _check.fail("PolynomialOf", "coefficients", rule, self.coefficients)
        remedy = "A negative coefficient is not positive semi-definite in general."
        checked = tuple(
            _check.real("PolynomialOf", f"coefficients[{power}]", value, low=0, high_open=True, remedy=remedy)
            for power, value in enumerate(given)
        )
        object.__setattr__(self, "coefficients", checked)

    def latex(self, x: str = "x", z: str = "z") -> str:
        base = self.kernel.latex(x, z)
        terms = []
        for power, coefficient in enumerate(self.coefficients):
            if coefficient:
                factors = [latex.number(coefficient)] if coefficient != 1 or power == 0 else []
                if power:
                    factors.append(latex.factor(base) if power == 1 else rf"{latex.bracketed(base)}^{{{power}}}")
                terms.append(r"\,".join(factors))
        return " + ".join(terms) or "0"

    def outer(self, values: Floating) -> None:
        _horner(values, np.array(self.coefficients[::-1], dtype=values.dtype))

    def single_precision(self, features: Any, state: State) -> bool:
        return len(self.coefficients) <= SINGLE_DEGREE + 1 and super().single_precision(features, state)


@jit
def _horner(tile: Array, falling: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            value = falling[0]
            for power in range(1, len(falling)):
                value = value * row[j] + falling[power]
            row[j] = value

"""Functions of a kernel that are kernels again: powers, polynomials and the exponential."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._jit import Array, jit
from mercer._types import Floating
from mercer.kernels.algebra.of_kernel import PointwiseOf
from mercer.kernels.base import Kernel, State
from mercer.kernels.loops import epilogues
from mercer.kernels.text import latex
from mercer.kernels.text.form import ATOM, FACTOR, operand

_SINGLE_DEGREE = 32
"""float32 is offered only if relative errors grow by at most this factor."""
_SINGLE_LARGEST = 16.0
"""An absolute error in k0 is a relative one in exp(k0): float32 keeps five digits up to about here."""


@final
@dataclass(frozen=True)
class Power(PointwiseOf):
    """k(x, z) = k0(x, z)^exponent for a whole exponent: written ``kernel**2``.

    Its features are all products of `exponent` features of k0. A fractional power of a kernel is not a kernel in
    general and is refused; the power 0 is the constant 1.

    >>> from mercer import kernels
    >>> (kernels.Linear() ** 2).fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, 1.0]])
    array([[25.]])
    """

    kernel: Kernel
    exponent: int

    reason = "its features are all products of that many features of the kernel"
    formula = r"\left(<kernel>\right)^{<exponent>}"
    binding = FACTOR

    def __post_init__(self) -> None:
        _check.instance("Power", "kernel", self.kernel, Kernel, "a kernel")
        remedy = "A negative or fractional power is not positive semi-definite in general."
        _check.integer("Power", "exponent", self.exponent, low=0, remedy=remedy)

    def outer(self, values: Floating) -> None:
        epilogues.power(values, 1.0, 0.0, self.exponent)

    def single_precision(self, features: Any, state: State) -> bool:
        return self.exponent <= _SINGLE_DEGREE and super().single_precision(features, state)

    def __str__(self) -> str:
        return f"{operand(self.kernel, ATOM)}**{self.exponent}"


@final
@dataclass(frozen=True)
class PolynomialOf(PointwiseOf):
    """k(x, z) = c0 + c1 k0(x, z) + c2 k0(x, z)^2 + ..., with coefficients that are zero or positive.

    `coefficients` lists c0, c1, c2 ... Negative ones are refused: the result would not be positive semi-definite.

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
        given = tuple(_check.instance("PolynomialOf", "coefficients", self.coefficients, Iterable, rule))
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
        return len(self.coefficients) <= _SINGLE_DEGREE + 1 and super().single_precision(features, state)


@final
@dataclass(frozen=True)
class ExpOf(PointwiseOf):
    """k(x, z) = exp(k0(x, z)): written ``kernels.exp(kernel)``.

    Its power series 1 + k0 + k0^2 / 2 + ... has positive coefficients, so it is a kernel whenever k0 is. Values grow
    fast and overflow is refused; ``exp(normalise(kernel))`` stays between 1/e and e.

    >>> from mercer import kernels
    >>> kernels.exp(kernels.Linear()).fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]]).round(6)
    array([[2.718282]])
    """

    kernel: Kernel

    reason = "it is a power series of the kernel with positive coefficients"
    formula = r"\exp\left(<kernel>\right)"

    def __post_init__(self) -> None:
        _check.instance("exp", "kernel", self.kernel, Kernel, "a kernel")

    def outer(self, values: Floating) -> None:
        epilogues.exp(values, 1.0)

    def single_precision(self, features: Any, state: State) -> bool:
        inner = self.kernel.diagonal(features, state.parts[0]).max(initial=0.0)
        return bool(inner < _SINGLE_LARGEST) and super().single_precision(features, state)


def exp(kernel: Kernel) -> ExpOf:
    """The exponential of a kernel: `ExpOf`."""
    return ExpOf(kernel)


@jit
def _horner(tile: Array, falling: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            value = falling[0]
            for power in range(1, len(falling)):
                value = value * row[j] + falling[power]
            row[j] = value

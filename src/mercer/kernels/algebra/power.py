"""Whole powers of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from mercer import _check
from mercer._types import Floating
from mercer.kernels.algebra.pointwise import PointwiseOf
from mercer.kernels.base import Kernel, State
from mercer.kernels.loops import epilogues
from mercer.kernels.text.form import ATOM, FACTOR, operand
from mercer.kernels.text.latex import bracketed

SINGLE_DEGREE = 32
"""A relative error grows by this factor at most before float32 is no longer offered."""


@final
@dataclass(frozen=True)
class Power(PointwiseOf):
    """k(x, z) = k0(x, z)^exponent for a whole exponent: written ``kernel**2``.

    Its features are all products of `exponent` features of k0. A fractional power of a kernel is no kernel in general
    and is refused; the power 0 is the constant 1.

    >>> from mercer import kernels
    >>> (kernels.Linear() ** 2).fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, 1.0]])
    array([[25.]])
    """

    kernel: Kernel
    exponent: int

    reason = "its features are all products of that many features of the kernel"

    def __post_init__(self) -> None:
        _check.instance("Power", "kernel", self.kernel, Kernel, "a kernel")
        remedy = "A negative or fractional power is not positive semi-definite in general."
        _check.integer("Power", "exponent", self.exponent, low=0, remedy=remedy)

    binding = FACTOR

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"{bracketed(self.kernel.latex(x, z))}^{{{self.exponent}}}"

    def outer(self, values: Floating) -> None:
        epilogues.power(values, 1.0, 0.0, self.exponent)

    def single_precision(self, features: Any, state: State) -> bool:
        return self.exponent <= SINGLE_DEGREE and super().single_precision(features, state)

    def __str__(self) -> str:
        return f"{operand(self.kernel, ATOM)}**{self.exponent}"

"""The exponential of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from mercer import _check
from mercer._types import Floating
from mercer.kernels.algebra.pointwise import PointwiseOf
from mercer.kernels.base import Kernel, State
from mercer.kernels.loops import epilogues
from mercer.kernels.text.latex import bracketed

_SINGLE_LARGEST = 16.0
"""An absolute error in k0 is a relative one in exp(k0): float32 keeps five digits up to about here."""


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

    def __post_init__(self) -> None:
        _check.instance("exp", "kernel", self.kernel, Kernel, "a kernel")

    def latex(self, x: str = "x", z: str = "z") -> str:
        return rf"\exp{bracketed(self.kernel.latex(x, z))}"

    def outer(self, values: Floating) -> None:
        epilogues.exp(values, 1.0)  # FittedKernel.diagonal answers overflow in words

    def single_precision(self, features: Any, state: State) -> bool:
        inner = self.kernel.diagonal(features, state.parts[0]).max(initial=0.0)
        return bool(inner < _SINGLE_LARGEST) and super().single_precision(features, state)


def exp(kernel: Kernel) -> ExpOf:
    """The exponential of a kernel: `ExpOf`."""
    return ExpOf(kernel)

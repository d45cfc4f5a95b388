"""The sigmoid kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

from mercer import _check
from mercer._types import Floating
from mercer.kernels.algebra import gamma
from mercer.kernels.base import State
from mercer.kernels.loops import epilogues
from mercer.kernels.vectors.linear import OfDotProduct


@final
@dataclass(frozen=True)
class Sigmoid(OfDotProduct):
    """The sigmoid kernel, k(x, z) = tanh(gamma x'z + coef0), which is **not** positive semi-definite.

    Kept for comparison with neural networks and older work; expect a warning where it is used. `gamma` is a positive
    number, or ``"scale"``, ``"auto"`` or ``"median"`` as in `RBF`.

    >>> from mercer import kernels
    >>> kernels.Sigmoid(gamma=1.0).fit([[1.0]])([[1.0]], [[0.5]]).round(6)
    array([[0.462117]])
    >>> kernels.Sigmoid().psd
    False
    """

    gamma: gamma.Gamma = "scale"
    coef0: float = 0.0

    formula = r"\tanh\left(<gamma>\,<x>^\top <z> + <coef0>\right)"

    def __post_init__(self) -> None:
        gamma.checked("Sigmoid", self.gamma)
        _check.real("Sigmoid", "coef0", self.coef0, low_open=True, high_open=True)

    @property
    def psd(self) -> bool:
        return False

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.tanh(values, state.number("gamma"), float(self.coef0))

    def single_precision(self, features: Any, state: State) -> bool:
        # With a negative offset k(x, x) may be next to zero, beside which no rounding is small.
        return self.coef0 >= 0 and super().single_precision(features, state)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(gamma=0.2, coef0=-1.0)

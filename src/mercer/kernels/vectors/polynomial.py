"""Powers of the dot product."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import final

from mercer import _check
from mercer._types import Floating
from mercer.kernels.algebra.pointwise import Gamma
from mercer.kernels.base import State
from mercer.kernels.features.feature_map import FeatureMap
from mercer.kernels.loops import epilogues
from mercer.kernels.vectors.linear import OfDotProduct
from mercer.kernels.vectors.monomials import Monomial, Monomials


@final
@dataclass(frozen=True)
class Polynomial(OfDotProduct):
    """The polynomial kernel, k(x, z) = (gamma x'z + coef0)^degree.

    Its features are all monomials of degree up to `degree` (exactly `degree` when ``coef0 = 0``). `gamma` is a
    positive number, or ``"scale"``, ``"auto"`` or ``"median"`` as in `RBF`. A negative `coef0` or a fractional
    `degree` would not be positive semi-definite, and is refused.

    >>> from mercer import kernels
    >>> kernels.Polynomial(degree=3, coef0=1.0).fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]])
    array([[8.]])
    """

    degree: int = 3
    gamma: Gamma = 1.0
    coef0: float = 1.0

    reason = "it is a power of a dot product plus a constant, so its features are monomials"
    formula = r"\left(<gamma>\,<x>^\top <z> + <coef0>\right)^{<degree>}"
    variants = ({}, {"degree": 2, "gamma": 0.5, "coef0": 0.0}, {"degree": 5, "gamma": "scale"}, {"degree": 0})

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.integer("Polynomial", "degree", self.degree, low=0, remedy="A fractional degree does not give a kernel.")
        _check.real(
            "Polynomial", "coef0", self.coef0, low=0, high_open=True, remedy="A negative coef0 does not give a kernel."
        )

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.power(values, state.number("gamma"), float(self.coef0), self.degree)

    def feature_map(self, state: State) -> FeatureMap:
        """Every monomial of the kernel, weighted so that products of rows are its values.

        >>> from mercer import kernels
        >>> kernels.Polynomial(degree=2).feature_matrix([[2.0, 3.0]]).names
        ('1', 'x0', 'x1', 'x0^2', 'x0 x1', 'x1^2')
        """
        gain, offset = state.number("gamma"), float(self.coef0)
        degrees = range(self.degree + 1) if self.coef0 > 0 else [self.degree]
        weight = partial(_weight, degree=self.degree, gain=gain, offset=offset)
        return Monomials(str(self), lambda n_columns: degrees, repeated=True, weight=weight).feature_map()


def _weight(monomial: Monomial, degree: int, gain: float, offset: float) -> float:
    """The square root of the multinomial coefficient of the monomial in (gain x'z + offset)^degree."""
    used = len(monomial)
    ways = math.factorial(degree) // math.factorial(degree - used)
    for repeats in Counter(monomial).values():
        ways //= math.factorial(repeats)
    return math.sqrt(ways * gain**used * offset ** (degree - used))

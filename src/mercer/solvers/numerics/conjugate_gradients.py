"""Preconditioned conjugate gradients, one product at a time.

Problem   A x = r with A positive definite
Given     products with A, products with a preconditioner (about the inverse of A), and r
Result    x, to which each step adds the best multiple of a new direction
Source    Golub and Van Loan, Matrix Computations (2013), 11.5; projected on linear constraints after Gould, Hribar and
          Nocedal, On the solution of equality constrained quadratic programming problems arising in optimization (2001)

The caller decides, in any norm, when the residual is small enough, and may pause between any two steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from mercer._types import Float64

Product = Callable[[Float64], Float64]


@final
class ConjugateGradients:
    """One system being solved; vectors are arrays of any shape.

    With `by_column`, each column is a system of its own, with its own step sizes, and all share the products.
    A preconditioner may change the residual in place: linear constraints project it that way.

    >>> A = np.diag([1.0, 2.0, 4.0])
    >>> system = ConjugateGradients(lambda v: A @ v, lambda r: r, np.ones(3))
    >>> for _ in range(3):
    ...     _ = system.step()
    >>> system.x.round(9).tolist()
    [1.0, 0.5, 0.25]
    """

    def __init__(self, product: Product, precondition: Product, right: Float64, *, by_column: bool = False) -> None:
        self._product, self._precondition, self._by_column = product, precondition, by_column
        self.x = np.zeros_like(right)
        self.residual = right.copy()
        self._search = precondition(self.residual).copy()  # the identity returns the residual itself
        self._squared = self._dot(self.residual, self._search)
        self.length = float(np.sqrt(np.maximum(self._squared, 0.0).sum()))
        """The length of the residual in the norm of the preconditioner."""
        self.products = 0
        self.exhausted = False
        """Whether no further step is possible, because of rounding or a direction in which A is not positive."""

    def step(self) -> Any:
        """Take one step; returns its size (one per column with `by_column`), which is zero if no step is left."""
        image = self._product(self._search)
        self.products += 1
        size = _ratio(self._squared, self._dot(self._search, image))
        self.exhausted = not np.any(size)
        if self.exhausted:
            return size
        self.x += size * self._search
        self.residual -= size * image
        preconditioned = self._precondition(self.residual)
        before, self._squared = self._squared, self._dot(self.residual, preconditioned)
        self.length = float(np.sqrt(np.maximum(self._squared, 0.0).sum()))
        self.exhausted = not np.any(self._squared > 0.0)
        self._search = preconditioned + _ratio(self._squared, before) * self._search
        return size

    @property
    def direction(self) -> Float64:
        """x or, if no step was taken, the preconditioned residual: either is a descent direction."""
        return self.x if self.x.any() else self._search

    def _dot(self, left: Float64, right: Float64) -> Any:
        return np.einsum("ij,ij->j", left, right) if self._by_column else np.vdot(left, right)


def _ratio(above: Any, below: Any) -> Any:
    """Their quotient, or zero where the divisor is not positive."""
    positive = np.asarray(below > 0.0)
    return np.divide(above, below, out=np.zeros(positive.shape), where=positive)

"""The linear systems of Newton's method in function space.

Problem   solve (1 + S'KS) v + B dc = -S'K r  subject to  B'v = e,  with B = S'1 for each intercept
Given     S with S_i S_i' the curvature at object i, a low-rank factor F with K ~ F F', and products with K
Result    the step db = r + S v and the step dc of the intercepts that brings sum(b + db) to zero
Source    Diaz, Epperly, Frangella, Tropp and Webber, Robust, randomized preconditioning for kernel ridge regression
          (2023), with conjugate gradients projected on the constraint

The system is positive definite with eigenvalues of at least 1; (1 + S'F F'S) is inverted through a small matrix. With
several outputs each is preconditioned separately; together they would cost the cube of their number. If g is the
residual of the system, S g is to first order the violation of optimality after the step. So the system is solved until
S g is small in the norm of the optimality conditions, and no further.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
import scipy.linalg

from mercer._types import Float64
from mercer.gram.executors import Threads
from mercer.losses.curvature import CurvatureRoot
from mercer.solvers.numerics.conjugate_gradients import ConjugateGradients, Product

_MOST_PRODUCTS = 400
"""Maximum number of iterations. A preconditioned system takes a few dozen; one that takes more is defeated by
rounding."""
_NOTHING = 1e-10
"""Eigenvalues below this, of a matrix with unit diagonal, are rounding errors."""


@final
class NewtonSystem:
    """One step being computed, for coefficients b with the residual r, until S g / C is at most `goal`."""

    def __init__(
        self,
        root: CurvatureRoot,
        factor: Float64,
        b: Float64,
        residual: Float64,
        C: Float64,
        *,
        intercept: bool,
        goal: float,
        product: Product,
    ) -> None:
        self._root, self._C, self._goal, self._product = root, C, goal, product
        self._preconditioner = _Preconditioner(root, factor)
        self._dc = np.zeros(b.shape[1])
        self._constraint = _Constraint(root, self._preconditioner, b.shape) if intercept else None
        v = np.zeros_like(b) if self._constraint is None else self._constraint.met(-(b + residual).sum(axis=0))
        self._first = residual + root.applied(v)
        self._Kdb = product(self._first)
        self._cg = ConjugateGradients(self._times, self._projected, -(v + root.transposed(self._Kdb)))

    def _times(self, p: Float64) -> Float64:
        """(1 + S'KS) p; keeps K S p, from which K times the step is computed."""
        self._KSp = self._product(self._root.applied(p))
        return p + self._root.transposed(self._KSp)

    def _projected(self, g: Float64) -> Float64:
        """The preconditioned residual within the constraint; the part that the intercepts explain is removed from the
        residual."""
        z = self._preconditioner(g)
        if self._constraint is not None:
            for _ in range(2):  # rounding errors in the constraint would be multiplied by K, hence a second time
                y = self._constraint.explained(z)
                self._dc += y
                g -= self._constraint.times(y)
                z = z - self._constraint.preconditioned_times(y)
        return z

    def iterate(self) -> bool:
        """Take one conjugate-gradient step; returns whether the system is solved."""
        size = self._cg.step()
        if size:
            self._Kdb += size * self._KSp
        return self._cg.exhausted or self._cg.products >= _MOST_PRODUCTS or self._left() <= self._goal

    @property
    def lost(self) -> bool:
        """Whether the iteration limit was reached and the step would increase the violation."""
        return self._cg.products >= _MOST_PRODUCTS and self._left() > 1.0

    def _left(self) -> float:
        """The largest violation of optimality that the step would leave, to first order."""
        return float((np.abs(self._root.applied(self._cg.residual)) / self._C[:, None]).max(initial=0.0))

    def direction(self) -> tuple[Float64, Float64, Float64]:
        """The step in b, K times it, and the step in the intercepts; it brings sum(b) to zero."""
        return self._first + self._root.applied(self._cg.x), self._Kdb, self._dc


@final
class _Preconditioner:
    """An approximate inverse of 1 + S'KS: each output separately, with F F' for K."""

    def __init__(self, root: CurvatureRoot, factor: Float64) -> None:
        self._root, self._factor = root, factor
        self._weights = np.sqrt(root.diagonal())
        self._small: list[Any] = [None] * self._weights.shape[1]

        def invert(output: int) -> None:
            self._small[output] = _factored(factor, self._weights[:, output])

        Threads().each(invert, range(len(self._small)))

    def __call__(self, v: Float64) -> Float64:
        inner = self._factor.T @ (self._weights * v)
        for column, small in zip(inner.T, self._small, strict=True):
            column[:] = scipy.linalg.cho_solve(small, column, check_finite=False)
        return self._root.within(v - self._weights * (self._factor @ inner))

    def each(self, many: Float64) -> Float64:
        """Of several vectors at once, of shape (vectors, objects, outputs)."""
        out = np.empty_like(many)

        def work(output: int) -> None:
            weights = self._weights[:, output]
            inner = (many[:, :, output] * weights) @ self._factor
            solved = scipy.linalg.cho_solve(self._small[output], inner.T, check_finite=False)
            out[:, :, output] = many[:, :, output] - (self._factor @ solved).T * weights

        Threads().each(work, range(len(self._small)))
        return np.stack([self._root.within(v) for v in out])


@final
class _Constraint:
    """B'v = e, one equation for each intercept, and the part of a residual that they explain."""

    def __init__(self, root: CurvatureRoot, preconditioner: _Preconditioner, shape: tuple[int, ...]) -> None:
        self._root, self._shape, self._differences = root, shape, root.of_differences()
        columns = np.stack([self.times(unit) for unit in np.eye(shape[1])])
        self._preconditioned = preconditioner.each(columns)
        self._inverse = _pseudo_inverse(np.stack([self._sums(column) for column in self._preconditioned]))

    def _sums(self, v: Float64) -> Float64:
        """B'v."""
        return np.asarray(self._root.applied(v).sum(axis=0))

    def times(self, y: Float64) -> Float64:
        """B y."""
        return self._root.transposed(np.broadcast_to(y, self._shape))

    def preconditioned_times(self, y: Float64) -> Float64:
        """B y, preconditioned."""
        return np.asarray(np.tensordot(y, self._preconditioned, axes=1))

    def met(self, e: Float64) -> Float64:
        """The smallest v, in the norm of the preconditioner, that satisfies the constraint."""
        return self.preconditioned_times(self._inverse @ e)

    def explained(self, z: Float64) -> Float64:
        """The intercepts y for which z - (B y, preconditioned) has B'z = 0."""
        y = np.asarray(self._inverse @ self._sums(z))
        return y - y.mean() if self._differences else y  # their mean is arbitrary, and is left unchanged


def _pseudo_inverse(matrix: Float64) -> Float64:
    """Of a positive semi-definite matrix, whose rows may be of very different sizes."""
    sizes = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    inverse = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    values, vectors = np.linalg.eigh(inverse[:, None] * (matrix + matrix.T) / 2 * inverse)
    kept = values > _NOTHING
    scaled = inverse[:, None] * vectors[:, kept]
    return np.asarray((scaled / values[kept]) @ scaled.T)


def _factored(factor: Float64, weights: Float64) -> Any:
    """The Cholesky factor of 1 + F' diag(weights)^2 F."""
    half = weights[:, None] * factor
    small = half.T @ half
    small.flat[:: len(small) + 1] += 1.0
    return scipy.linalg.cho_factor(small, lower=True, overwrite_a=True, check_finite=False)

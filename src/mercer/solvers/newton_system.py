"""The linear systems of Newton's method in function space, and the curvature in them.

Problem   solve (1 + S'KS) v = -S'K r, and the same with -S'1 for each intercept
Given     S with S_i S_i' the curvature at object i, a low-rank factor F with K ~ F F', and products with K
Result    the step db = r + S v and the step of the intercepts that brings sum(b + db) to zero
Source    preconditioned conjugate gradients after Diaz, Epperly, Frangella, Tropp and Webber (2023)

The system is positive definite with eigenvalues from 1 on; (1 + S'F F'S) is inverted through a small matrix, or where
there are several outputs for each as if it were alone: all together would cost the cube of their number. What is
left of the system, e, is what is left of optimality after the step, to first order: S e. So it is solved until S e is
small in the norm in which optimality is told, and no further.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.losses.base import Loss, VectorLoss

Float64 = npt.NDArray[np.float64]
Product = Callable[[Float64], Float64]

_MOST_STEPS = 400
_NOTHING = 1e-9


@final
class NewtonSystem:
    """One step under way, for the step itself and for all intercepts at once."""

    def __init__(
        self,
        root: CurvatureRoot,
        factor: Float64,
        b: Float64,
        residual: Float64,
        right: Float64,
        C: Float64,
        goal: float,
    ) -> None:
        self._root = root
        self._halves = [weight[:, None] * factor for weight in root.weights()]
        self._small = [_inverted(half) for half in self._halves]
        self._b, self._residual, self._C, self._goal = b, residual, C, goal
        self._v = np.zeros_like(right)
        self._r = right
        self._z = self._preconditioned(right)
        self._p = self._z.copy()
        self._rz = (self._r * self._z).sum(axis=(0, 1))
        self._did = 0

    @classmethod
    def of(
        cls,
        root: CurvatureRoot,
        factor: Float64,
        b: Float64,
        residual: Float64,
        Kr: Float64,
        C: Float64,
        *,
        intercept: bool,
        goal: float,
    ) -> Self:
        """The system for coefficients b with this residual r, K r known; solved until S e / C is at most `goal`."""
        sides = [-root.transposed(Kr)]
        if intercept:
            for output in range(Kr.shape[1]):
                ones = np.zeros_like(Kr)
                ones[:, output] = 1.0
                sides.append(root.transposed(ones))
        return cls(root, factor, b, residual, np.stack(sides, axis=2), C, goal)

    def _preconditioned(self, r: Float64) -> Float64:
        out = r.copy()
        for output, (half, small) in enumerate(zip(self._halves, self._small, strict=True)):
            inner = scipy.linalg.cho_solve(small, half.T @ r[:, output], check_finite=False)
            out[:, output] -= half @ inner
        return out

    def iterate(self, product: Product) -> bool:
        """One conjugate-gradient step for all right-hand sides; whether they are solved."""
        n, outputs, sides = self._p.shape
        spread = self._root.applied(self._p)
        multiplied = product(spread.reshape(n, outputs * sides)).reshape(n, outputs, sides)
        Bp = self._p + self._root.transposed_sides(multiplied)
        curvature = (self._p * Bp).sum(axis=(0, 1))
        live = curvature > 0
        step = np.where(live, self._rz / np.where(live, curvature, 1.0), 0.0)
        self._v += step * self._p
        self._r = self._r - step * Bp
        self._did += 1
        if self._did >= _MOST_STEPS or self._left() <= self._goal:
            return True
        self._z = self._preconditioned(self._r)
        rz = (self._r * self._z).sum(axis=(0, 1))
        self._p = self._z + np.where(self._rz > 0, rz / np.where(self._rz > 0, self._rz, 1.0), 0.0) * self._p
        self._rz = rz
        return False

    def _left(self) -> float:
        """The largest violation of optimality that the step would leave, to first order."""
        _, dc = self.direction()
        error = self._r[:, :, :1] - self._r[:, :, 1:] @ dc[: self._r.shape[2] - 1, None]
        return float((np.abs(self._root.applied(error)[:, :, 0]) / self._C[:, None]).max(initial=0.0))

    def direction(self) -> tuple[Float64, Float64]:
        """The step in b, and the step in the intercepts that brings sum(b) to zero."""
        solved = self._root.applied(self._v)
        db = self._residual + solved[:, :, 0]
        dc = np.zeros(db.shape[1])
        if solved.shape[2] > 1:
            totals = solved[:, :, 1:].sum(axis=0)
            if np.abs(totals.sum(axis=0)).max() <= _NOTHING * np.abs(totals).max():
                # Outputs count by their differences alone, so that their mean is free; it stays where it is.
                totals -= totals.mean(axis=1, keepdims=True)
            dc = np.asarray(np.linalg.lstsq(totals, (self._b + db).sum(axis=0), rcond=None)[0])
            db = db - solved[:, :, 1:] @ dc
        return db, dc


@final
@dataclass(frozen=True, eq=False)
class CurvatureRoot:
    """S with S_i S_i' = C_i times the curvature of the loss at object i: a number, or a small matrix, per object."""

    blocks: Float64
    """(objects, outputs, outputs)."""

    def applied(self, v: Float64) -> Float64:
        """S v, for v of shape (objects, outputs, sides)."""
        return v * self.blocks if self.blocks.shape[1] == 1 else np.matmul(self.blocks, v)

    def transposed_sides(self, v: Float64) -> Float64:
        return v * self.blocks if self.blocks.shape[1] == 1 else np.matmul(self.blocks.transpose(0, 2, 1), v)

    def transposed(self, v: Float64) -> Float64:
        """S'v, for v of shape (objects, outputs)."""
        return self.transposed_sides(v[:, :, None])[:, :, 0]

    def weights(self) -> Float64:
        """About how much of each output there is in S'S, without what outputs share; (outputs, objects)."""
        return np.asarray(np.sqrt(np.square(self.blocks).sum(axis=1)).T)


def _inverted(half: Float64) -> Any:
    """The Cholesky factor of 1 + half' half."""
    small = half.T @ half
    small.flat[:: len(small) + 1] += 1.0
    return scipy.linalg.cho_factor(small, lower=True, overwrite_a=True, check_finite=False)


def curvature_root(loss: Loss, y: Float64, f: Float64, C: Float64) -> CurvatureRoot:
    """The root of the curvature of sum_i C_i loss(y_i, f_i) at f."""
    if isinstance(loss, VectorLoss):
        return CurvatureRoot(np.sqrt(C)[:, None, None] * loss.curvature_root(y, f))
    return CurvatureRoot(np.sqrt(C * loss.curvature(y, f))[:, None, None])

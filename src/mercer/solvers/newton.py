"""Newton's method in function space, for every smooth loss.

Problem   minimise  1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i))  over  f(x) = <w, phi(x)> + c
Given     a Gram matrix K, a smooth loss of one or several outputs, targets, penalties
Result    coefficients b of the expansion and intercepts c: b_i = -C_i slope(y_i, f_i), with sum(b) = 0
Source    Chapelle, Training a support vector machine in the primal (2007), for the steps; preconditioned conjugate
          gradients after Diaz, Epperly, Frangella, Tropp and Webber (2023)

With R_i = S_i S_i' the curvature of C_i loss in f_i, a step solves (1 + S'KS) v = -S'K r for the residual
r = -(b + C slope), and moves b by r + S v. The system is positive definite with eigenvalues from 1 on. One low-rank
factor F F' of K, computed once, preconditions every step: (1 + S'F F'S) is inverted through a small matrix.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.gram.lowrank import low_rank
from mercer.gram.matrix import Gram
from mercer.losses.base import Loss, VectorLoss
from mercer.solvers.drive import Limits, OnChunk, Run, drive
from mercer.solvers.solution import Solution, Stats, Status

Float64 = npt.NDArray[np.float64]

_RANK = 300
_ARMIJO = 1e-4
_SHORTEST_STEP = 2.0**-40
_MOST_CONJUGATE_STEPS = 400


@final
@dataclass(frozen=True, eq=False)
class SmoothProblem:
    """Targets as the loss wants them, a penalty for each object, and whether there is an intercept."""

    loss: Loss
    y: Float64
    C: Float64
    outputs: int = 1
    intercept: bool = True


class NewtonRun(Run):
    """One minimisation under way; an iteration is one conjugate-gradient product with K."""

    def __init__(self, gram: Gram, problem: SmoothProblem, start: Float64 | None, tol: float) -> None:
        self._gram = gram
        self._problem = problem
        self._tol = tol
        shape = (len(problem.C), problem.outputs)
        self._b = np.zeros(shape) if start is None else start.copy()
        self._c = np.zeros(problem.outputs)
        self._Kb = np.zeros(shape) if start is None else gram.matvec(self._b)
        self._factor = low_rank(gram, min(_RANK, shape[0])).factor
        self._system: _System | None = None
        self._first = np.inf

    # ----------------------------------------------------------------------------------------------------- evaluation

    def _value(self, Kb: Float64, c: Float64, squared: float) -> float:
        problem = self._problem
        return 0.5 * squared + float(problem.C @ problem.loss.value(problem.y, _flat(Kb + c)))

    def _residual(self) -> Float64:
        problem = self._problem
        slope = _columns(problem.loss.slope(problem.y, _flat(self._Kb + self._c)))
        residual: Float64 = -(self._b + problem.C[:, None] * slope)
        return residual

    def _violation(self, residual: Float64) -> float:
        """How far b_i / C_i is from minus the slope, and the sum of b from zero."""
        scaled = np.abs(residual) / self._problem.C[:, None]
        worst = float(scaled.max(initial=0.0))
        if self._problem.intercept:
            worst = max(worst, float(np.abs(self._b.sum(axis=0)).max() / self._problem.C.sum()))
        return worst

    # ----------------------------------------------------------------------------------------------------------- steps

    def step(self, iterations: int) -> None:
        for _ in range(max(1, iterations)):
            if self._system is None:
                residual = self._residual()
                self.gap = self._violation(residual)
                if self.gap <= self._tol:
                    self.done = True
                    return
                self._first = min(self._first, self.gap)
                self._begin(residual)
            assert self._system is not None
            self.iterations += 1
            if self._system.iterate(self._product):
                self._move(self._system)
                self._system = None
                return

    def _product(self, vectors: Float64) -> Float64:
        return self._gram.matvec(vectors)

    def _begin(self, residual: Float64) -> None:
        problem = self._problem
        root = curvature_root(problem.loss, problem.y, _flat(self._Kb + self._c), problem.C)
        # Eisenstat and Walker: far from the solution a rough step is as good as an exact one.
        forcing = min(0.1, np.sqrt(self.gap / self._first) if np.isfinite(self._first) else 0.1, self.gap)
        self._system = _System.of(root, self._factor, residual, self._product(residual), problem.intercept, forcing)

    def _move(self, system: _System) -> None:
        problem = self._problem
        db, Kdb, dc = system.direction(self._b, problem.intercept, self._product)
        before = float((self._b * self._Kb).sum())
        across = float((self._b * Kdb).sum())
        along = float((db * Kdb).sum())
        value = self._value(self._Kb, self._c, before)
        slope = _columns(problem.loss.slope(problem.y, _flat(self._Kb + self._c)))
        descent = across + float((problem.C[:, None] * slope * (Kdb + dc)).sum())
        size = 1.0
        while size > _SHORTEST_STEP:
            squared = before + 2 * size * across + size * size * along
            if self._value(self._Kb + size * Kdb, self._c + size * dc, squared) <= value + _ARMIJO * size * descent:
                break
            size *= 0.5
        if descent >= 0 or size <= _SHORTEST_STEP:
            self.done, self.status = True, Status.STALLED
            return
        self._b = self._b + size * db
        self._c = self._c + size * dc
        self._Kb = self._gram.matvec(self._b)  # afresh: rounding of many small steps never adds up

    def finish(self, status: Status, stats: Stats) -> Solution:
        problem = self._problem
        value = self._value(self._Kb, self._c, float((self._b * self._Kb).sum()))
        single = problem.outputs == 1
        return Solution(
            self._b[:, 0] if single else self._b,
            self._Kb[:, 0] if single else self._Kb,
            float(self._c[0]) if single else self._c,
            value,
            status,
            stats,
        )


def solve(
    gram: Gram,
    problem: SmoothProblem,
    *,
    start: Float64 | None = None,
    tol: float = 1e-4,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> Solution:
    """Minimise to within `tol`, or as far as the limits allow."""
    began = time.monotonic()
    return drive(NewtonRun(gram, problem, start, tol), tol, limits or Limits(), on_chunk, began)


@final
class _System:
    """(1 + S'KS) v = right by preconditioned conjugate gradients, for the step and for the intercept at once."""

    def __init__(self, root: CurvatureRoot, factor: Float64, residual: Float64, right: Float64, forcing: float) -> None:
        self._root = root
        self._half = root.transposed_blocks(factor)
        small = self._half.T @ self._half
        small.flat[:: len(small) + 1] += 1.0
        self._small = scipy.linalg.cho_factor(small, lower=True, overwrite_a=True, check_finite=False)
        self._residual = residual
        self._limits = forcing * np.sqrt((right * right).sum(axis=(0, 1)))
        self._v = np.zeros_like(right)
        self._r = right
        self._z = self._preconditioned(right)
        self._p = self._z.copy()
        self._rz = (self._r * self._z).sum(axis=(0, 1))
        self._did = 0

    @classmethod
    def of(
        cls, root: CurvatureRoot, factor: Float64, residual: Float64, Kr: Float64, intercept: bool, forcing: float
    ) -> Self:
        sides = [-root.transposed(Kr)]
        if intercept:
            for output in range(Kr.shape[1]):
                ones = np.zeros_like(Kr)
                ones[:, output] = 1.0
                sides.append(root.transposed(ones))
        return cls(root, factor, residual, np.stack(sides, axis=2), forcing)

    def _preconditioned(self, r: Float64) -> Float64:
        flat = r.reshape(-1, r.shape[2])
        inner = scipy.linalg.cho_solve(self._small, self._half.T @ flat, check_finite=False)
        return np.asarray(flat - self._half @ inner).reshape(r.shape)

    def iterate(self, product: Any) -> bool:
        """One conjugate-gradient step for all right-hand sides; whether they are solved."""
        if (np.sqrt((self._r * self._r).sum(axis=(0, 1))) <= self._limits).all():
            return True
        n, outputs, sides = self._p.shape
        spread = self._root.applied(self._p)
        multiplied = product(spread.reshape(n, outputs * sides)).reshape(n, outputs, sides)
        Bp = self._p + self._root.transposed_sides(multiplied)
        curvature = (self._p * Bp).sum(axis=(0, 1))
        live = curvature > 0
        step = np.where(live, self._rz / np.where(live, curvature, 1.0), 0.0)
        self._v += step * self._p
        self._r = self._r - step * Bp
        self._z = self._preconditioned(self._r)
        rz = (self._r * self._z).sum(axis=(0, 1))
        self._p = self._z + np.where(self._rz > 0, rz / np.where(self._rz > 0, self._rz, 1.0), 0.0) * self._p
        self._rz = rz
        self._did += 1
        return self._did >= _MOST_CONJUGATE_STEPS

    def direction(self, b: Float64, intercept: bool, product: Any) -> tuple[Float64, Float64, Float64]:
        """The step in b, K times it, and the step in the intercepts that brings sum(b) to zero."""
        solved = self._root.applied(self._v)
        db = self._residual + solved[:, :, 0]
        dc = np.zeros(b.shape[1])
        if intercept:
            totals = solved[:, :, 1:].sum(axis=0)
            dc = np.asarray(np.linalg.lstsq(totals, (b + db).sum(axis=0), rcond=None)[0])
            db = db - solved[:, :, 1:] @ dc
        return db, product(db), dc


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

    def transposed_blocks(self, factor: Float64) -> Float64:
        """S'(F x 1) as one matrix of (objects * outputs) rows."""
        n, outputs, _ = self.blocks.shape
        if outputs == 1:
            return self.blocks[:, 0] * factor
        spread = np.einsum("noq,nr->nqor", self.blocks, factor)
        return np.ascontiguousarray(spread.reshape(n * outputs, -1))


def curvature_root(loss: Loss, y: Float64, f: Float64, C: Float64) -> CurvatureRoot:
    """The root of the curvature of sum_i C_i loss(y_i, f_i) at f."""
    if isinstance(loss, VectorLoss):
        return CurvatureRoot(np.sqrt(C)[:, None, None] * loss.curvature_root(y, f))
    return CurvatureRoot(np.sqrt(C * loss.curvature(y, f))[:, None, None])


def _flat(f: Float64) -> Float64:
    return f[:, 0] if f.shape[1] == 1 else f


def _columns(values: Float64) -> Float64:
    return values[:, None] if values.ndim == 1 else values

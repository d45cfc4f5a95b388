"""Kernel ridge regression on a matrix that is too large to be factored: conjugate gradients with iterative refinement.

Problem   (W^1/2 K W^1/2 + alpha) s = W^1/2 [y, 1], from which b and c as in `direct`
Given     products with K, which may be rounded, and products in float64 to measure the residual
Result    b, c and K b in float64, with a residual of at most a millionth of the targets
Source    Diaz, Epperly, Frangella, Tropp and Webber, Robust, randomized preconditioning for kernel ridge regression
          (2023); iterative refinement, Wilkinson (1963)

The preconditioner is a factor F F' of K by randomly pivoted Cholesky. Products use a matrix packed into 16 bits if
alpha is well above its rounding errors, otherwise entries recomputed in float32 or float64. The residual is then
computed in float64, and the system is solved again for it, two or three times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg

from mercer._types import Float64
from mercer.errors import TimeLimitError
from mercer.gram.contract import Gram
from mercer.gram.lowrank import low_rank
from mercer.gram.packed import PackedGram, packed_if_it_fits
from mercer.solvers.drive import Limits
from mercer.solvers.numerics.conjugate_gradients import ConjugateGradients
from mercer.solvers.ridge.direct import RidgeSolution

ENOUGH = 1e-6
"""The residual of a solution relative to the right-hand side: the same as direct solutions must meet."""
_ROUND = 1e-3
"""Conjugate gradients reduce the residual to this fraction before it is measured again: rounded products are no more
accurate."""
_ROUNDS = 12
"""Maximum number of measurements; usually there are three. Chosen, not tuned."""
_HALVED = 0.5
"""Another round follows only if the last one reduced the residual at least to this fraction."""
_MOST_PRODUCTS = 300
"""Maximum number of products in all rounds together; systems with a good preconditioner take a few dozen."""
_RANK, _OBJECTS_PER_RANK = 1000, 20
"""Maximum rank of the preconditioner, and objects per rank: its cost grows as n rank^2, while each further rank saves
fewer products."""
_ABOVE = 4.0
"""Alpha must exceed the errors of a rounded matrix by this factor, so that the system stays positive definite."""


@final
@dataclass(frozen=True, eq=False)
class Found:
    """A solution, and its outputs without the intercept, in float64."""

    solution: RidgeSolution
    outputs: Float64
    residual: float
    """The residual of the worst output, relative to its targets; above `ENOUGH`, the system is not solved."""
    entries: int
    """The number of kernel values computed."""


def solve(
    gram: Gram,
    y: Float64,
    alpha: Float64,
    weights: Float64,
    *,
    intercept: bool,
    limits: Limits,
    unless: Callable[[int], bool] = lambda products: False,
) -> Found | None:
    """Solve for each output with its own alpha; the matrix is float32 where the kernel allows it.

    Returns None if alpha is so small that each product must recompute all entries, and `unless` says that another
    method costs less than the maximum number of products.
    """
    packed = packed_if_it_fits(gram)
    n, exact = len(y), gram.refined()
    used = _positive(packed, gram, exact, float(alpha.min()), weights)
    if not isinstance(used, PackedGram) and unless(_MOST_PRODUCTS):
        return None
    factor = low_rank(gram, rank_for(n)).factor
    root = np.sqrt(weights)[:, None]
    coefficients, outputs, constants, residual = np.empty_like(y), np.empty_like(y), np.zeros(y.shape[1]), 0.0
    for value in np.unique(alpha):
        columns = alpha == value
        right = np.column_stack([y[:, columns], np.ones(n)]) if intercept else y[:, columns]
        system = _System(_positive(packed, gram, exact, float(value), weights), exact, root, factor, float(value))
        solved, images, left = system.solved(root * right, limits)
        residual = max(residual, left)
        if intercept:
            share = (root * solved[:, :-1]).sum(axis=0) / (root * solved[:, -1:]).sum()
            constants[columns] = share
            solved, images = (both[:, :-1] - both[:, -1:] * share for both in (solved, images))
        coefficients[:, columns], outputs[:, columns] = root * solved, images
    return Found(RidgeSolution(coefficients, constants), outputs, residual, gram.entries_computed)


def rank_for(n: int) -> int:
    """The rank of the preconditioner."""
    return min(_RANK, max(1, n // _OBJECTS_PER_RANK))


def _positive(packed: Gram, gram: Gram, exact: Gram, alpha: float, weights: Float64) -> Gram:
    """The cheapest matrix whose rounding cannot make the system indefinite."""
    heaviest, n = float(weights.max()), gram.shape[0]
    if isinstance(packed, PackedGram) and alpha > _ABOVE * packed.noise * heaviest:
        return packed
    # Errors have random signs: their norm is the largest eigenvalue of a random symmetric matrix.
    noise = 2.0 * np.sqrt(n) * float(np.finfo(np.float32).eps) * float(gram.diagonal().max())
    return gram if gram.dtype is np.float64 or alpha > _ABOVE * noise * heaviest else exact


@final
class _System:
    """W^1/2 K W^1/2 + alpha, for one alpha."""

    def __init__(self, gram: Gram, exact: Gram, root: Float64, factor: Float64, alpha: float) -> None:
        self._gram, self._exact, self._root, self._alpha = gram, exact, root, alpha
        self._factor = root * factor
        small = self._factor.T @ self._factor
        small.flat[:: len(small) + 1] += alpha
        self._small = scipy.linalg.cho_factor(small, lower=True, overwrite_a=True, check_finite=False)

    def _product(self, v: Float64) -> Float64:
        return self._root * self._gram.matvec(self._root * v) + self._alpha * v

    def _precondition(self, v: Float64) -> Float64:
        inner = scipy.linalg.cho_solve(self._small, self._factor.T @ v, check_finite=False)
        return np.asarray((v - self._factor @ inner) / self._alpha)

    def solved(self, right: Float64, limits: Limits) -> tuple[Float64, Float64, float]:
        """The solution, K W^1/2 times it in float64, and the relative residual."""
        sizes = np.maximum(np.linalg.norm(right, axis=0), np.finfo(float).tiny)
        x, image, left = np.zeros_like(right), np.zeros_like(right), right
        worst, products = 1.0, 0
        for _ in range(_ROUNDS):
            goal = max(_ROUND * worst, 0.3 * ENOUGH)  # a third, so that the measured residual passes in this round
            step, did = self._corrected(left, sizes, goal, products, limits)
            products += did
            moved = x + step
            try:
                new_image = self._exact.matvec(self._root * moved)
            except TimeLimitError:
                if not x.any():
                    raise
                break
            new_left = right - self._root * new_image - self._alpha * moved
            now = float((np.linalg.norm(new_left, axis=0) / sizes).max())
            if now >= worst:
                break
            x, image, left = moved, new_image, new_left
            enough, worst = now > _HALVED * worst, now
            if worst <= ENOUGH or enough or products >= _MOST_PRODUCTS or limits.out_of_time:
                break
        return x, image, worst

    def _corrected(
        self, left: Float64, sizes: Float64, goal: float, products: int, limits: Limits
    ) -> tuple[Float64, int]:
        """Solve for the residual, until `goal` of the right-hand side remains; returns step and products."""
        system = ConjugateGradients(self._product, self._precondition, left, by_column=True)
        while products + system.products < _MOST_PRODUCTS and not system.exhausted:
            limits.raise_if_stopped()
            if limits.out_of_time or float((np.linalg.norm(system.residual, axis=0) / sizes).max()) <= goal:
                break
            system.step()
        return system.x, system.products

"""Leave-one-out residuals of kernel ridge regression for a whole path of alphas, in one pass over blocks of rows.

Problem   minimise  sum_i w_i (y_i - <v, x_i> - c)^2 + alpha |v|^2, for many alphas, with each object left out in turn
Given     rows x_i in blocks; targets y (several columns), weights w
Result    residuals of objects that were left out, as in `PrimalRidgePath.leave_one_out`
Source    Allen, The relationship between variable selection and data augmentation (1974): r_i / (1 - h_i)

One eigendecomposition of the weighted, centred normal matrix X'WX = V S V' serves every alpha: with p_i = V'(x_i -
mean), outputs are p_i' (S + alpha)^-1 V'X'Wy, and h_i = w_i (1 / sum w + p_i' (S + alpha)^-1 p_i), its first term for
an intercept. Memory is needed for one block and the residuals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._process import single_threaded_blas
from mercer._types import Float64, Floating
from mercer.gram.block_rows import BlockRows
from mercer.gram.executors import Threads
from mercer.gram.passes import Found
from mercer.solvers.drive import Limits
from mercer.solvers.numerics.symmetric import significant_eigen
from mercer.solvers.ridge.centred_rows import CentredRows, weighted_mean


def leave_one_out(
    rows: BlockRows, y: Float64, weights: Float64, alphas: Float64, *, intercept: bool, limits: Limits
) -> Float64:
    """y_i minus the prediction for object i by a machine that never saw it: of shape (objects, outputs, alphas)."""
    centred = CentredRows(rows, weights, intercept=intercept)
    targets = y - weighted_mean(y, weights) if intercept else y
    share = 1.0 / float(weights.sum()) if intercept else 0.0
    residuals = np.empty((*y.shape, len(alphas)))
    with single_threaded_blas():
        values, vectors = significant_eigen(centred.normal())
        pull = vectors.T @ centred.combination(weights[:, None] * targets)
        damped = 1.0 / (values[:, None] + alphas)
        ways = (pull[:, :, None] * damped[:, None, :]).reshape(len(values), -1)

        fold = rows.fold
        task = LeftOut(
            centred.mean if fold is None else fold.triangle @ centred.mean,
            vectors if fold is None else fold.weights(vectors),
            damped, ways, share,
        )  # fmt: skip
        if rows.streamed:
            return np.asarray(rows.swept(task, targets, weights)[1][0])

        def visit(part: slice) -> None:
            residuals[part] = task(rows.before_fold(part), targets[part], weights[part])[1][0]

        Threads().each(visit, rows.blocks, limits.stop)
    return residuals


@final
@dataclass(frozen=True, eq=False)
class LeftOut:
    """Residuals of rows that are left out, as the task of a pass: see above for the names."""

    mean: Float64
    vectors: Float64
    damped: Float64
    ways: Float64
    share: float

    def __call__(self, rows: Floating, targets: Float64, weights: Float64) -> Found:
        seen = (rows.astype(np.float64) - self.mean) @ self.vectors
        own = weights[:, None] * (self.share + np.square(seen) @ self.damped)
        left = targets[:, :, None] - (seen @ self.ways).reshape(len(seen), targets.shape[1], -1)
        return (), (left / np.maximum(1.0 - own, np.finfo(np.float64).tiny)[:, None, :],)

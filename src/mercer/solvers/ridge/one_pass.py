"""Kernel ridge regression in one pass over objects that are read in blocks.

Problem   minimise  sum_i w_i (y_i - <v, x_i> - c)^2 + alpha |v|^2
Given     rows x_i that are read in blocks, targets y (several columns at once), weights w, alpha for each column
Result    v and c, and the objectives of both sides, all from sums computed in one pass
Source    the normal equations

With N = sum w x x', r = sum w x y and q = sum w y^2, all around the means, errors are q - 2 v'r + v'Nv. The dual
coefficients b_i = w_i (y_i - f_i) / alpha have the image u = (r - Nv) / alpha, and the duality gap is 1/2 |v - u|^2: no
coefficient is ever stored. Rows are centred at the mean of a sample, so that subtracting the true mean causes hardly
any cancellation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg

from mercer._process import single_threaded_blas
from mercer._types import Float64, Floating
from mercer.gram.block_rows import BlockRows
from mercer.gram.passes import Found
from mercer.solvers.drive import Limits
from mercer.solvers.numerics.symmetric import significant_eigen
from mercer.solvers.ridge.direct import warn_of_lost_alpha

_REFINEMENTS = 4
"""Steps of iterative refinement: each must at least halve the residual."""
_LOST = 1e-6
"""Relative residual of a system above which there is a warning."""


@final
@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted sums of rows and targets around points near their means, as the task of a pass.

    Sums: rows with rows, rows with targets, and a line of totals (of rows, targets, squared targets, and weights). The
    length of the longest row of each piece is kept.
    """

    middle: Float64
    centre: Float64

    def __call__(self, rows: Floating, y: Float64, weights: Float64) -> Found:
        half = np.subtract(rows, self.middle, dtype=np.float64)
        longest = np.einsum("ij,ij->i", half, half).max(initial=0.0)
        targets = y - self.centre
        totals = [weights @ half, weights @ targets, weights @ np.square(targets), np.array([weights.sum()])]
        across = half.T @ (weights[:, None] * targets)
        half *= np.sqrt(weights)[:, None]
        return (np.asarray(half.T @ half), across, np.concatenate(totals)), (np.array([longest]),)


@final
@dataclass(frozen=True, eq=False)
class RidgeSums:
    """The sums of a pass, around the true means, for rows after their fold."""

    normal: Float64
    across: Float64
    squares: Float64
    """Of targets, one for each column."""
    mean: Float64
    centre: Float64
    """The mean of targets."""
    longest: float
    """The longest underlying row, around the mean ..."""
    farthest: float
    """... and around the origin."""
    total: float
    """Of all weights."""
    rows: BlockRows

    @classmethod
    def of(cls, rows: BlockRows, sample: Floating, y: Float64, weights: Float64, *, intercept: bool) -> RidgeSums:
        """Compute all sums in one pass; `sample` holds some of the objects from which rows are computed."""
        d, outputs = rows.shape[1], y.shape[1]
        near = sample.mean(axis=0, dtype=np.float64) if intercept else np.zeros(d)
        centre = weights @ y / weights.sum() if intercept else np.zeros(outputs)
        (normal, across, totals), (longest,) = rows.swept(Moments(near, centre), y, weights)
        of_rows, of_targets, squares, total = np.split(totals, [d, d + outputs, d + 2 * outputs])
        mean = near
        if intercept:
            off, missed = of_rows / total, of_targets / total
            normal = normal - total * np.outer(off, off)
            across = across - total * np.outer(off, missed)
            squares = squares - total * np.square(missed)
            mean, centre = near + off, centre + missed
        fold = rows.fold
        around = float(np.sqrt(longest.max(initial=0.0)))
        reach, farthest = around + float(np.linalg.norm(mean - near)), around + float(np.linalg.norm(near))
        if fold is not None:
            normal, across, mean = fold.normal(normal), fold.combination(across), fold.combination(mean)
        return cls(normal, across, np.maximum(squares, 0.0), mean, centre, reach, farthest, float(total[0]), rows)

    def solved(self, alpha: Float64, limits: Limits | None = None) -> Float64:
        """The weights for each column, with its own alpha."""
        found = np.empty_like(self.across)
        with single_threaded_blas():
            for value in np.unique(alpha):
                if limits is not None:
                    limits.raise_if_stopped()
                columns = alpha == value
                found[:, columns] = self._solved(float(value), self.across[:, columns])
        return found

    def _solved(self, alpha: float, right: Float64) -> Float64:
        system = self.normal.copy()
        system.flat[:: len(system) + 1] += alpha
        try:
            factor = scipy.linalg.cho_factor(system, lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:  # alpha is too small for features of this scale
            values, vectors = significant_eigen(self.normal.copy())
            return np.asarray(vectors @ ((vectors.T @ right) / (values + alpha)[:, None]))
        best = scipy.linalg.cho_solve(factor, right, check_finite=False)
        left = right - system @ best
        for _ in range(_REFINEMENTS):
            better = best + scipy.linalg.cho_solve(factor, left, check_finite=False)
            still = right - system @ better
            if not np.abs(still).max(initial=0.0) < 0.5 * np.abs(left).max(initial=0.0):
                break
            best, left = better, still
        if np.abs(left).max(initial=0.0) > _LOST * np.abs(right).max(initial=0.0):
            warn_of_lost_alpha("The machine may be off, and its certificate says by how much; raise alpha.")
        return np.asarray(best)

    def path(self, alphas: Float64) -> Float64:
        """The weights for a whole path of alphas from one decomposition: of shape (features, outputs, alphas)."""
        with single_threaded_blas():
            values, vectors = significant_eigen(self.normal.copy())
            pull = vectors.T @ self.across
            damped = 1.0 / (values[:, None] + alphas)
            found = (pull[:, :, None] * damped[:, None, :]).reshape(len(values), -1)
            return np.asarray(vectors @ found).reshape(len(self.mean), -1, len(alphas))

    def intercepts(self, v: Float64) -> Float64:
        """The constants of these weights."""
        return np.asarray(self.centre - self.mean @ v)

    def errors(self, v: Float64) -> Float64:
        """sum_i w_i (y_i - f_i)^2 of each column, with the best constant."""
        found = self.squares - 2.0 * (v * self.across).sum(axis=0) + (v * (self.normal @ v)).sum(axis=0)
        return np.asarray(np.maximum(found, 0.0))

    def bounds(self, v: Float64, alpha: Float64) -> tuple[Float64, Float64, Float64]:
        """1/2 |v|^2 + sum_i w_i (y_i - f_i)^2 / (2 alpha) of each column, the dual objective, and an upper bound on the
        largest violation of optimality, which is the largest possible output of v - u.

        All three allow for the largest possible effect of rounding rows to their precision.
        """
        fold = self.rows.fold
        beside = v - (self.across - self.normal @ v) / alpha
        moved, own = (each if fold is None else fold.weights(each) for each in (beside, v))
        off = float(np.finfo(self.rows.dtype).eps) * self.farthest * np.linalg.norm(own, axis=0)
        errors = self.errors(v)
        slack = (np.sqrt(self.total * errors) * off + 0.5 * self.total * np.square(off)) / alpha
        primal = 0.5 * np.square(v).sum(axis=0) + errors / (2.0 * alpha) + slack
        gap = 0.5 * np.square(beside).sum(axis=0) + 2.0 * slack
        return primal, primal - gap, np.asarray(self.longest * np.linalg.norm(moved, axis=0) + off)

"""The logistic loss for several classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from mercer._types import Float64
from mercer.losses.base import VectorLoss
from mercer.losses.curvature import CurvatureRoot, ProjectedRoot
from mercer.losses.softmax import log_sum_exp_above, softmax


@final
@dataclass(frozen=True)
class Multinomial(VectorLoss):
    """l(y, f) = log(sum_k exp(f_k)) - f_y for a class y: minus the log likelihood of P(k | x) = softmax(f)_k.

    >>> import numpy as np
    >>> Multinomial().value(np.array([0]), np.zeros((1, 3))).round(4)
    array([1.0986])
    """

    smooth = True
    classifies = True

    def value(self, y: Float64, f: Float64) -> Float64:
        return log_sum_exp_above(f, _codes(y))

    def slope(self, y: Float64, f: Float64) -> Float64:
        slope = softmax(f)
        slope[np.arange(len(slope)), _codes(y)] -= 1.0
        return slope

    def curvature(self, y: Float64, f: Float64) -> Float64:
        """The diagonal of the Hessian."""
        p = softmax(f)
        return np.asarray(p * (1.0 - p))

    def curvature_root(self, y: Float64, f: Float64) -> CurvatureRoot:
        # diag(p) - p p' = D (1 - q q') D with D = diag(q), q = sqrt(p); 1 - q q' is a projector, its own root.
        q = np.sqrt(softmax(f))
        return ProjectedRoot(q, q)

    def conjugate(self, y: Float64, a: Float64) -> Float64:
        p = np.array(a)
        p[np.arange(len(p)), _codes(y)] += 1.0
        inside = (p >= -1e-12).all(axis=1) & (np.abs(p.sum(axis=1) - 1.0) < 1e-9)
        p = np.maximum(p, 0.0)
        return np.where(inside, xlogy(p, p).sum(axis=1), np.inf)


def _codes(y: Float64) -> npt.NDArray[np.intp]:
    return np.asarray(y).astype(np.intp)

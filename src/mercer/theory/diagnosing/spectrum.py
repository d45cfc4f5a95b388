"""Properties of the matrix that do not depend on labels: similarities and the effective number of directions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg

from mercer._types import Float64
from mercer.theory.geometry import centred, cosines


@final
@dataclass(frozen=True, eq=False)
class Shape:
    """Statistics of a Gram matrix. All but the first three describe the centred matrix, HKH."""

    mean_similarity: float
    """The mean cosine k(x, z) / sqrt(k(x,x) k(z,z)) of two different objects."""
    diagonal_dominance: float
    """1 - mean |k(x, z)| / mean k(x, x): 1 for the identity, 0 for a constant."""
    nearest_similarity: float
    """The median, over objects, of the largest cosine with another object."""
    variation: float
    """trace(HKH) / trace(K): the fraction of the squared lengths that differs between objects; 0 for a constant."""
    flatness: float
    """participation / (n - 1): 1 if all directions are equally important, as in the identity; near 0 if few matter."""
    participation: float
    """(sum of eigenvalues)^2 / sum of squares: the effective number of directions."""
    effective_rank: float
    """exp of the entropy of the eigenvalues."""
    effective_dimension: float
    """trace K (K + I)^-1 with K scaled to mean diagonal 1: the degrees of freedom of a ridge machine with alpha = 1."""
    numerical_rank: int
    components_90: int
    """The number of directions with 90 % of the variation, and with 99 %."""
    components_99: int
    decay: float
    """b of the best fit eigenvalue_i ~ i^-b over the leading half; large if few directions matter."""
    eigenvalues: Float64
    """The eigenvalues of HKH, largest first."""


def shape_of(K: Float64) -> Shape:
    """The statistics of a symmetric matrix with at least one row."""
    n = len(K)
    own = np.diagonal(K)
    C = cosines(K)
    off = ~np.eye(n, dtype=bool)
    similarity = float(C[off].mean()) if n > 1 else 0.0
    mean_own = float(np.abs(own).mean())
    beside = float(np.abs(K[off]).mean()) if n > 1 else 0.0
    dominance = 1.0 - beside / mean_own if mean_own > 0 else 0.0
    nearest = float(np.median(np.where(off, C, -np.inf).max(axis=1))) if n > 1 else 0.0
    HKH = centred(K)
    trace = float(own.sum())
    variation = float(np.clip(np.trace(HKH) / trace, 0.0, 1.0)) if trace > 0 else 0.0
    values = scipy.linalg.eigvalsh((HKH + HKH.T) / 2)[::-1]
    positive = np.maximum(values, 0.0)
    total = float(positive.sum())
    if total <= 1e-13 * n * max(float(np.abs(K).max()), 1e-300):
        return Shape(similarity, dominance, nearest, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0.0, np.zeros(n))
    shares = positive / total
    participation = 1.0 / float((shares**2).sum())
    used = shares[shares > 0]
    running = np.cumsum(shares)
    scaled = positive / (total / n)
    return Shape(
        similarity,
        dominance,
        nearest,
        variation,
        participation / max(n - 1, 1),
        participation,
        math.exp(-float((used * np.log(used)).sum())),
        float((scaled / (scaled + 1.0)).sum()),
        int((positive > n * np.finfo(float).eps * positive[0]).sum()),
        int(np.searchsorted(running, 0.9 - 1e-12)) + 1,
        int(np.searchsorted(running, 0.99 - 1e-12)) + 1,
        _decay(shares),
        np.asarray(values),
    )


def _decay(shares: Float64) -> float:
    kept = shares[: max(3, len(shares) // 2)]
    kept = kept[kept > 1e-12]
    if len(kept) < 3:
        return math.inf if len(kept) else 0.0
    return max(0.0, float(-np.polyfit(np.log(np.arange(1, len(kept) + 1)), np.log(kept), 1)[0]))

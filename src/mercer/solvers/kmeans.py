"""Lloyd's algorithm in feature space, exactly.

Problem   minimise  sum_i |phi(x_i) - m_c(i)|^2  over assignments c, with m_c the mean of cluster c
Given     a Gram matrix K
Steps     |phi(x_i) - m_c|^2 = K_ii - 2 (KZ)_ic / n_c + (Z'KZ)_cc / n_c^2, with Z the assignments as 0 and 1
Source    Arthur and Vassilvitskii, k-means++ (2007), for the start; Dhillon, Guan and Kulis, Kernel k-means (2004)

Nearly all the cost is in KZ. When few objects change cluster, only their rows of K are needed to update it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer import _deadline
from mercer._types import Float64, Indices
from mercer.errors import TimeLimitError
from mercer.gram.contract import Gram
from mercer.solvers.drive import Limits

_FEW = 0.1
"""If fewer than this share of the objects moved, KZ is corrected rather than recomputed: a single row costs more
than its part of a product."""
_FRESH = 8
"""KZ is recomputed after this many rounds at the latest: corrections accumulate rounding errors."""
_AT_ONCE = 2**22
"""Entries of the rows that a correction holds at once, 32 MiB: allocating memory for many rows can take longer than
computing them, and limits are checked between two parts."""


@final
@dataclass(frozen=True, eq=False)
class Clustering:
    """Labels, the sum of squared distances, the number of rounds, and what is needed to assign new objects.

    The cluster of x is the c with the largest k(x, .) means_c - offsets_c.
    """

    labels: Indices
    inertia: float
    iterations: int
    converged: bool
    late: bool
    """Whether the time limit ended the run."""
    means: Float64
    offsets: Float64


def kernel_kmeans(gram: Gram, k: int, *, limits: Limits, rng: np.random.Generator) -> Clustering:
    """One run from a k-means++ start; an iteration is one round of assignments, and limits are checked between them."""
    own = gram.diagonal()
    labels = _start(gram, own, k, rng)
    KZ = gram.matvec(_one_hot(labels, k))
    iterations, converged = 0, False
    late = False
    while iterations != limits.max_iter and not late:
        limits.raise_if_stopped()
        iterations += 1
        distance = _distances(own, KZ, labels, k)
        new = _without_empty(distance, distance.argmin(axis=1))
        moved = np.flatnonzero(new != labels)
        if not len(moved):
            converged = True
            break
        try:
            KZ = _products(gram, KZ, labels, new, moved, fresh=iterations % _FRESH == 0)
        except TimeLimitError:  # return the last labels whose products are known
            late = True
            break
        labels = new
        late = limits.out_of_time
    if not late:
        KZ = gram.matvec(_one_hot(labels, k))
    sizes = np.bincount(labels, minlength=k)
    inertia = float(_distances(own, KZ, labels, k)[np.arange(len(labels)), labels].sum())
    means = _one_hot(labels, k) / np.maximum(sizes, 1)
    return Clustering(labels, inertia, iterations, converged, late, means, 0.5 * _within(KZ, labels, sizes))


def _products(gram: Gram, KZ: Float64, labels: Indices, new: Indices, moved: Indices, *, fresh: bool) -> Float64:
    """KZ of the new labels, updated from the old ones if few objects moved."""
    k = KZ.shape[1]
    by_features = gram.factor is not None  # products cost less than rows of the matrix
    if fresh or by_features or len(moved) > _FEW * len(labels):
        return gram.matvec(_one_hot(new, k))
    change = _one_hot(new[moved], k) - _one_hot(labels[moved], k)
    corrected, at_once = KZ.copy(), max(1, _AT_ONCE // len(labels))
    timed = _deadline.Work(f"the rows of {len(moved):,} objects", len(moved))
    for start in range(0, len(moved), at_once):
        part = slice(start, start + at_once)
        corrected += gram.rows(moved[part]).astype(np.float64).T @ change[part]
        timed.advance(len(moved[part]))
    return corrected


def _distances(own: Float64, KZ: Float64, labels: Indices, k: int) -> Float64:
    sizes = np.bincount(labels, minlength=k)
    distances = own[:, None] - 2.0 * KZ / np.maximum(sizes, 1) + _within(KZ, labels, sizes)
    distances[:, sizes == 0] = np.inf
    return distances


def _within(KZ: Float64, labels: Indices, sizes: npt.NDArray[np.intp]) -> Float64:
    """|m_c|^2 of each cluster."""
    sums = np.bincount(labels, weights=KZ[np.arange(len(labels)), labels], minlength=len(sizes))
    return np.asarray(sums / np.square(np.maximum(sizes, 1.0)))


def _without_empty(distance: Float64, labels: Indices) -> Indices:
    """An empty cluster gets the object farthest from its own mean, from a cluster that has others."""
    k = distance.shape[1]
    sizes = np.bincount(labels, minlength=k)
    for empty in np.flatnonzero(sizes == 0):
        far = np.where(sizes[labels] > 1, distance[np.arange(len(labels)), labels], -np.inf)
        taken = int(far.argmax())
        sizes[labels[taken]] -= 1
        labels[taken] = empty
        sizes[empty] = 1
        distance[taken, empty] = 0.0
    return labels


def _start(gram: Gram, own: Float64, k: int, rng: np.random.Generator) -> Indices:
    """k-means++: each centre is an object drawn with probability proportional to its squared distance from earlier
    centres.
    """
    n = len(own)
    nearest = np.full(n, np.inf)
    labels = np.zeros(n, dtype=np.intp)
    trials = 2 + int(np.log(k))
    for cluster in range(k):
        weight = np.ones(n) if cluster == 0 else np.maximum(nearest, 0.0)
        total = weight.sum()
        p = weight / total if total > 0 else np.full(n, 1.0 / n)
        drawn = rng.choice(n, size=1 if cluster == 0 else trials, p=p)
        rows = gram.rows(drawn).astype(np.float64)
        distance = np.maximum(own + own[drawn][:, None] - 2.0 * rows, 0.0)
        best = int(np.minimum(nearest, distance).sum(axis=1).argmin())
        closer = distance[best] < nearest
        closer[drawn[best]] = True
        labels[closer] = cluster
        nearest = np.minimum(nearest, distance[best])
    return _without_empty(np.repeat(nearest[:, None], k, axis=1), labels)


def _one_hot(labels: Indices, k: int) -> Float64:
    Z = np.zeros((len(labels), k))
    Z[np.arange(len(labels)), labels] = 1.0
    return Z

"""Landmarks: a few training objects that approximate a kernel, and the triangle that whitens their similarities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._process import single_threaded_blas
from mercer._types import Float64, Indices
from mercer.kernels.base import FittedKernel, Kernel, State
from mercer.kernels.features.embedding import similarities
from mercer.kernels.features.pivoting import pivoted

_CANDIDATES = 20
"""The average number of candidates per landmark. Choosing among all of many objects would cost as much as a pass over
them; with this many candidates, landmarks are as good, up to random variation."""
_DEPENDENT = 1e-10
"""A landmark whose residual k(z, z), given the others, is below this fraction of the largest adds only rounding errors.
"""


@final
@dataclass(frozen=True, eq=False)
class Landmarks:
    """Their positions, the lower triangle L with LL' = K, and the fraction of the trace that they leave."""

    places: Indices
    triangle: Float64
    left: float


def chosen(kernel: Kernel, objects: Any, state: State, m: int, random_state: int, *, pivots: bool) -> Landmarks:
    """At most `m` of the objects: drawn by randomly pivoted Cholesky, or all with the same probability."""
    rng = np.random.default_rng(random_state)
    n = len(objects)
    drawn = min(n, _CANDIDATES * m)
    sample = np.arange(n) if drawn == n else np.sort(rng.choice(n, size=drawn, replace=False))
    features = kernel.features(objects.take(sample), state, np.float64)
    diagonal = np.maximum(FittedKernel(kernel, state).diagonal(features), 0.0)  # refuses overflow
    left, right = kernel.align(features, features, state)

    def entries(rows: Indices, columns: Indices | None) -> Float64:
        many = right if columns is None else right.take(columns)
        out = np.empty((len(rows), len(many)))
        kernel.tile(left.take(rows), many, state, out)
        return out

    with single_threaded_blas():  # rounding would depend on the number of threads
        if pivots:
            places = pivoted(entries, diagonal, m, rng).pivots
        else:
            places = np.sort(rng.choice(drawn, size=min(m, drawn), replace=False))
        order, triangle = _whitened(entries(places, places), diagonal[places])
        places = places[order]
        rest = _left(kernel, features, places, triangle, state, diagonal)
    return Landmarks(sample[places], triangle, rest)


def whiten(similar: Any, triangle: Float64) -> Any:
    """L^-1 k(Z, x) for each row of similarities with the landmarks Z, in place."""
    import scipy.linalg

    solve = scipy.linalg.blas.strsm if similar.dtype == np.float32 else scipy.linalg.blas.dtrsm
    with single_threaded_blas():
        solve(1.0, triangle.astype(similar.dtype, copy=False), similar.T, lower=1, overwrite_b=1)
    return similar


def _whitened(block: Float64, diagonal: Float64) -> tuple[Indices, Float64]:
    """The landmarks in the order of pivots, without those that depend on others, and their triangle."""
    np.fill_diagonal(block, diagonal)
    largest = float(diagonal.max(initial=0.0))
    if not largest > 0.0:  # keep one landmark: all similarities are 0
        return np.zeros(min(1, len(block)), dtype=np.intp), np.ones((min(1, len(block)),) * 2)
    import scipy.linalg

    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(block, tol=_DEPENDENT * largest, lower=1)
    kept = order[:rank].astype(np.intp) - 1
    return kept, np.asfortranarray(np.tril(factor[:rank, :rank]))


def _left(kernel: Kernel, features: Any, places: Indices, triangle: Float64, state: State, diagonal: Float64) -> float:
    """What the landmarks leave of the trace of the sample."""
    whole = float(diagonal.sum())
    if not whole > 0.0:
        return 0.0
    rows = whiten(similarities(kernel, features, features.take(places), state), triangle)
    seen = np.minimum(np.einsum("ij,ij->i", rows, rows), diagonal)
    return max(0.0, 1.0 - float(seen.sum()) / whole)

"""Randomly pivoted Cholesky: a low-rank factor of a symmetric matrix from a few of its rows, K ~ F F'.

Source    Chen, Epperly, Tropp and Webber, Randomly pivoted Cholesky (2022), with the blocked rejection sampling of
          Epperly, Tropp and Webber, Embrace rejection (2024)

Pivots are drawn in proportion to the residual diagonal, so the factor is close to the best of its rank, although only
its own rows of K are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64, Floating, Indices

Entries = Callable[[Indices, Indices | None], Floating]
"""Entries of the matrix: these rows against these columns, or against all."""

BLOCK = 64
"""Pivots drawn at once. More make better use of matrix products, but more of them are rejected, since all are drawn
before the first has changed the residual diagonal."""
NEGLIGIBLE = 1e-12
"""A residual below this fraction of the trace is rounding error. A larger value gives factors of smaller rank; a much
smaller one would divide by rounding errors."""


@final
@dataclass(frozen=True, eq=False)
class Pivoted:
    """F' (one row per pivot), the pivots, and the residual fraction of the trace."""

    rows: Float64
    pivots: Indices
    residual: float


def pivoted(
    entries: Entries, diagonal: Float64, rank: int, rng: np.random.Generator, tolerance: float = NEGLIGIBLE
) -> Pivoted:
    """A factor of at most this rank; stops early when less than `tolerance` of the trace is left."""
    import scipy.linalg

    n = len(diagonal)
    left = diagonal.copy()
    trace = float(left.sum())
    rows = np.empty((min(rank, n), n))  # each pivot adds one contiguous row
    pivots: list[int] = []
    while len(pivots) < len(rows) and trace > 0 and left.sum() > tolerance * trace:
        size = min(BLOCK, len(rows) - len(pivots))
        drawn = np.unique(rng.choice(n, size=size, p=left / left.sum()))
        done = rows[: len(pivots)]
        block = entries(drawn, drawn).astype(np.float64) - done[:, drawn].T @ done[:, drawn]
        kept, triangle = _accepted(block, left[drawn], rng)
        if not len(kept):
            continue
        chosen = drawn[kept]
        fresh = entries(chosen, None).astype(np.float64) - done[:, chosen].T @ done
        rows[len(pivots) : len(pivots) + len(kept)] = scipy.linalg.solve_triangular(triangle, fresh, lower=True)
        left -= np.square(rows[len(pivots) : len(pivots) + len(kept)]).sum(axis=0)
        np.maximum(left, 0.0, out=left)
        left[chosen] = 0.0
        pivots.extend(int(row) for row in chosen)
    residual = float(left.sum()) / trace if trace > 0 else 0.0
    return Pivoted(rows[: len(pivots)], np.asarray(pivots, dtype=np.intp), residual)


def _accepted(block: Float64, weight: Float64, rng: np.random.Generator) -> tuple[Indices, Float64]:
    """Go through drawn pivots in turn: each is kept with the probability it still has, given those before it."""
    import scipy.linalg

    work = block.copy()
    kept: list[int] = []
    for column in range(len(work)):
        remaining = work[column, column]
        if remaining > NEGLIGIBLE * weight.max() and rng.uniform() * weight[column] < remaining:
            kept.append(column)
            line = work[:, column] / np.sqrt(remaining)
            work -= np.outer(line, line)
    index = np.asarray(kept, dtype=np.intp)
    if not len(index):
        return index, np.empty((0, 0))
    return index, np.asarray(scipy.linalg.cholesky(block[np.ix_(index, index)], lower=True))

"""A low-rank factor of a Gram matrix, from a few of its rows: K ~ F F'.

Source    Chen, Epperly, Tropp and Webber, Randomly pivoted Cholesky (2022), with the blocked rejection sampling of
          Epperly, Tropp and Webber, Embrace rejection (2024)

Pivots are drawn in proportion to what is left of the diagonal, so that the factor is near the best of its rank while
only its own rows of K are ever computed. It serves as preconditioner and as a choice of landmarks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer._types import Float64
from mercer.gram.contract import Gram

_BLOCK = 64
_NEGLIGIBLE = 1e-12


@final
@dataclass(frozen=True, eq=False)
class LowRank:
    """The factor F (objects x rank), the pivots it was built from, and what is left of the trace, as a share."""

    factor: Float64
    pivots: npt.NDArray[np.intp]
    residual: float


def low_rank(gram: Gram, rank: int, *, random_state: int = 0, tolerance: float = _NEGLIGIBLE) -> LowRank:
    """A factor of at most this rank; fewer columns where less than `tolerance` of the trace is left.

    >>> import numpy as np
    >>> from mercer import kernels
    >>> X = np.arange(8.0).reshape(4, 2)
    >>> found = low_rank(gram_of(kernels.Linear().fit(X), X), 3)
    >>> found.factor.shape[1], bool(np.allclose(found.factor @ found.factor.T, X @ X.T))
    (2, True)
    """
    rng = np.random.default_rng(random_state)
    n = gram.shape[0]
    left = gram.diagonal().copy()
    trace = float(left.sum())
    rows = np.empty((min(rank, n), n))  # F', row by row: each pivot adds one contiguous row
    pivots: list[int] = []
    while len(pivots) < len(rows) and trace > 0 and left.sum() > tolerance * trace:
        size = min(_BLOCK, len(rows) - len(pivots))
        drawn = np.unique(rng.choice(n, size=size, p=left / left.sum()))
        done = rows[: len(pivots)]
        block = gram.rows(drawn, drawn).astype(np.float64) - done[:, drawn].T @ done[:, drawn]
        kept, triangle = _accepted(block, left[drawn], rng)
        if not len(kept):
            continue
        chosen = drawn[kept]
        fresh = gram.rows(chosen).astype(np.float64) - done[:, chosen].T @ done
        rows[len(pivots) : len(pivots) + len(kept)] = scipy.linalg.solve_triangular(triangle, fresh, lower=True)
        left -= np.square(rows[len(pivots) : len(pivots) + len(kept)]).sum(axis=0)
        np.maximum(left, 0.0, out=left)
        left[chosen] = 0.0
        pivots.extend(int(row) for row in chosen)
    factor = np.ascontiguousarray(rows[: len(pivots)].T)
    return LowRank(factor, np.asarray(pivots, dtype=np.intp), float(left.sum()) / trace if trace > 0 else 0.0)


def _accepted(block: Float64, weight: Float64, rng: np.random.Generator) -> tuple[npt.NDArray[np.intp], Float64]:
    """Go through drawn pivots one by one: each is kept with the probability it still has after those before it."""
    work = block.copy()
    kept: list[int] = []
    for column in range(len(work)):
        remaining = work[column, column]
        if remaining > _NEGLIGIBLE * weight.max() and rng.uniform() * weight[column] < remaining:
            kept.append(column)
            line = work[:, column] / np.sqrt(remaining)
            work -= np.outer(line, line)
    index = np.asarray(kept, dtype=np.intp)
    if not len(index):
        return index, np.empty((0, 0))
    return index, np.asarray(scipy.linalg.cholesky(block[np.ix_(index, index)], lower=True))

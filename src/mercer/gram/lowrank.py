"""A low-rank factor of a Gram matrix, from a few of its rows: K ~ F F'. It serves as a preconditioner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram.contract import Gram
from mercer.kernels.features.pivoting import NEGLIGIBLE, pivoted


@final
@dataclass(frozen=True, eq=False)
class LowRank:
    """The factor F (objects x rank), the pivots it was built from, and the fraction of the trace that is left."""

    factor: Float64
    pivots: Indices
    residual: float


def low_rank(gram: Gram, rank: int, *, random_state: int = 0, tolerance: float = NEGLIGIBLE) -> LowRank:
    """A factor of at most this rank; it has fewer columns if less than `tolerance` of the trace is left.

    >>> import numpy as np
    >>> from mercer import kernels
    >>> from mercer.gram.make import gram_of
    >>> X = np.arange(8.0).reshape(4, 2)
    >>> found = low_rank(gram_of(kernels.Linear().fit(X), X), 3)
    >>> found.factor.shape[1], bool(np.allclose(found.factor @ found.factor.T, X @ X.T))
    (2, True)
    """
    found = pivoted(gram.rows, gram.diagonal(), rank, np.random.default_rng(random_state), tolerance)
    return LowRank(np.ascontiguousarray(found.rows.T), found.pivots, found.residual)

"""A factor of a Gram matrix, K = F F', whose rows stand for features.

Newton's method on weights still converges where C K is so large that rounding defeats function space, in which small
errors of coefficients are large errors of decision values.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mercer._types import Float64
from mercer.gram.contract import Gram


def factor_of(gram: Gram) -> Float64:
    """F with K = F F', with as many columns as the rank of K, by pivoted Cholesky.

    >>> import numpy as np
    >>> from mercer import kernels
    >>> from mercer.gram.make import gram_of
    >>> X = np.arange(8.0).reshape(4, 2)
    >>> factor = factor_of(gram_of(kernels.Linear().fit(X), X))
    >>> factor.shape[1], bool(np.allclose(factor @ factor.T, X @ X.T))
    (2, True)
    """
    lower, pivots, rank, _ = scipy.linalg.lapack.dpstrf(gram.exact(), lower=1)
    factor = np.zeros((len(pivots), max(rank, 1)))
    factor[pivots - 1, :rank] = np.tril(lower)[:, :rank]
    return factor

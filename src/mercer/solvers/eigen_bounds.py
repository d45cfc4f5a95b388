"""An upper bound on the sum of the leading eigenvalues of a symmetric matrix.

Problem   an upper bound on the sum of the m largest eigenvalues of A, when only a subspace was examined
Given     p orthonormal vectors V and the products AV; the trace and the sum of squared entries of A
Result    an upper bound that holds whether or not V contains eigenvectors, leading or other
Source    Ky Fan: the sum of the m largest eigenvalues is sublinear in A; Horn and Johnson, Matrix analysis, 4.3

In a basis that begins with V, A consists of the blocks T = V'AV and B, coupled by R. The sum for A is at most that for
T and B side by side, plus the sum of the m largest singular values of R. The eigenvalues of B are not computed: any j
of them sum to at most sqrt(j) times its Frobenius norm and, if A is positive semi-definite, to at most its trace. If V
contains the leading eigenvectors and B is small, the bound equals the sum up to rounding.
"""

from __future__ import annotations

import math

import numpy as np

from mercer._types import Float64

_EPS = float(np.finfo(np.float64).eps)


def bound_on_leading(
    count: int, vectors: Float64, images: Float64, *, trace: float, squares: float, psd: bool
) -> tuple[float, Float64]:
    """The bound for the `count` largest eigenvalues, and the eigenvalues of V'AV, largest first.

    `vectors` are orthonormal, `images` their products with A. `squares` is infinite where it is not known.

    >>> A = np.diag([4.0, 2.0, 1.0, 1.0])
    >>> V = np.eye(4)[:, :2]
    >>> bound_on_leading(2, V, A @ V, trace=8.0, squares=22.0, psd=True)[0].__round__(9)
    6.0
    """
    n = len(vectors)
    small = vectors.T @ images
    small = 0.5 * (small + small.T)
    inside: Float64 = np.linalg.eigvalsh(small)[::-1].astype(np.float64) if len(small) else np.zeros(0)
    coupling = images - vectors @ small
    strengths = np.linalg.svd(coupling, compute_uv=False) if len(small) else np.zeros(0)
    size = max(abs(trace), math.sqrt(squares) if math.isfinite(squares) else 0.0, float(np.abs(inside).max(initial=0)))
    rest_squares = squares - float((small**2).sum()) - 2.0 * float((coupling**2).sum())
    rest = math.sqrt(max(rest_squares, 0.0) + 4.0 * n * _EPS * size**2) if math.isfinite(squares) else math.inf
    rest_trace = max(trace - float(np.trace(small)), 0.0) + n * _EPS * size if psd else math.inf
    best = -math.inf
    for j in range(max(0, count - len(inside)), min(count, n - len(inside)) + 1):
        beyond = 0.0 if j == 0 else min(math.sqrt(j) * rest, rest_trace)
        best = max(best, float(inside[: count - j].sum()) + beyond)
    return best + float(strengths[:count].sum()) + n * _EPS * size, inside

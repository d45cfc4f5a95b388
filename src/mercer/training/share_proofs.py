"""Certificates of components and clusters: what they leave unexplained, and the least that any choice could leave.

===========  ==============================================  ==========================================================
subject      what is minimised                               why nothing has less
===========  ==============================================  ==========================================================
components   the variance outside of the components          the sum of leading eigenvalues is the most inside
clusters     squared distances from the means of clusters    means span k - 1 directions around the mean of all
                                                             (Zha et al., Spectral relaxation for k-means, 2001)
cuts         normalised cuts, one for each cluster           indicators of clusters are k orthonormal vectors
                                                             (Yu and Shi, Multiclass spectral clustering, 2003)
===========  ==============================================  ==========================================================
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.linalg

from mercer._types import Float64, Indices
from mercer.gram.centring import Centred
from mercer.gram.contract import Gram
from mercer.gram.degrees import ScaledByDegrees
from mercer.solvers.drive import Limits
from mercer.solvers.eigen import leading
from mercer.solvers.eigen_bounds import bound_on_leading
from mercer.training.eigenvectors import by_decomposition
from mercer.training.shares import ShareCertificate

_EXACT = 2048
"""Up to this many objects all eigenvalues are computed, within a second, and the bound is the tightest possible. For
more objects that would take longer than training; their bound is slightly wider, but still valid."""
_MORE = 4
"""Extra eigenvectors, besides twice the number needed: the smaller the remaining eigenvalues, the tighter the bound."""
_ROUGH = 1e-4
"""The tolerance of eigenvectors in bounds. Bounds hold for any vectors; more accurate ones hardly tighten them."""
_ROUNDS = 24
"""The most products with a block of vectors for a bound."""


class Operator(Protocol):
    """A symmetric matrix: a centred Gram matrix, or one scaled by degrees."""

    @property
    def gram(self) -> Gram: ...
    @property
    def trace(self) -> float: ...
    def product(self, block: Float64) -> Float64: ...
    def squares(self) -> float: ...
    def dense(self) -> Float64: ...


def of_components(gram: Gram, values: Float64, vectors: Float64, *, dtype: str, psd: bool) -> ShareCertificate:
    """The certificate of eigenvectors of the centred matrix, with the eigenvalues claimed for them."""
    centred, count = Centred.of(gram), len(values)
    images = centred.product(vectors)
    residual = float(np.linalg.norm(images - vectors * values, axis=0).max(initial=0.0))
    basis = _orthonormal(vectors)
    inside = float((basis * centred.product(basis)).sum())
    most = _most(centred, count, psd=psd, basis=basis)
    size = max(float(np.abs(values).max(initial=0.0)), np.finfo(float).tiny)
    return _shared("components", count, centred.trace, inside, most, residual / size, dtype)


def of_clusters(gram: Gram, labels: Indices, *, dtype: str, psd: bool) -> ShareCertificate:
    """The certificate of clusters around means in feature space."""
    centred, codes = Centred.of(gram), np.unique(labels, return_inverse=True)[1]
    sizes = np.bincount(codes).astype(np.float64)
    n, k = len(codes), len(sizes)
    members = np.zeros((n, k))
    members[np.arange(n), codes] = 1.0
    sums = centred.product(members)
    inner = np.bincount(codes, weights=sums[np.arange(n), codes], minlength=k)
    own = gram.diagonal() - 2.0 * centred.means + centred.means.mean()
    distances = own[:, None] - 2.0 * sums / sizes + inner / sizes**2
    violation = float((distances[np.arange(n), codes] - distances.min(axis=1)).max())
    inside = float((inner / sizes).sum())
    typical = max(float(own.mean()), np.finfo(float).tiny)
    most = _most(centred, k - 1, psd=psd)
    return _shared("clusters", k, centred.trace, inside, most, max(violation, 0.0) / typical, dtype)


def of_cuts(gram: Gram, labels: Indices, embedding: Float64, *, dtype: str) -> ShareCertificate:
    """The certificate of clusters of the similarity graph, found from the eigenvectors in `embedding`."""
    graph, codes = ScaledByDegrees.of(gram), np.unique(labels, return_inverse=True)[1]
    n, k = len(codes), int(codes.max()) + 1
    spread = np.zeros((n, k))
    spread[np.arange(n), codes] = 1.0 / graph.root
    spread /= np.linalg.norm(spread, axis=0)
    inside = float((spread * graph.product(spread)).sum())
    vectors = embedding / graph.root[:, None]
    images = graph.product(vectors)
    values = (vectors * images).sum(axis=0) / np.maximum((vectors**2).sum(axis=0), np.finfo(float).tiny)
    residual = float(np.linalg.norm(images - vectors * values, axis=0).max(initial=0.0))
    # The largest eigenvalue is 1, that of the vector of roots of degrees.
    return _shared("cuts", k, float(k), inside, _most(graph, k, psd=False), residual, dtype)


def _most(matrix: Operator, count: int, *, psd: bool, basis: Float64 | None = None) -> float:
    """An upper bound on the sum of `count` eigenvalues of the matrix."""
    n = matrix.gram.shape[0]
    count = min(count, n)
    if count == 0:
        return 0.0
    if n <= _EXACT or by_decomposition(n, count):
        values = scipy.linalg.eigvalsh(matrix.dense())[::-1]
        return float(values[:count].sum()) + n * float(np.finfo(float).eps) * float(np.abs(values).max())
    if basis is None:
        limits = Limits(max_iter=_ROUNDS)
        found = leading(matrix.product, n, min(2 * count + _MORE, n), tol=_ROUGH, limits=limits)
        basis = _orthonormal(found.vectors)
    trace, squares = matrix.trace, matrix.squares()
    return bound_on_leading(count, basis, matrix.product(basis), trace=trace, squares=squares, psd=psd)[0]


def _orthonormal(vectors: Float64) -> Float64:
    return np.asarray(scipy.linalg.qr(vectors, mode="economic")[0], dtype=np.float64)


def _shared(
    subject: str, size: int, total: float, inside: float, most: float, residual: float, dtype: str
) -> ShareCertificate:
    """The certificate if `inside` is explained and at most `most` can be."""
    left = max(total - inside, 0.0)
    return ShareCertificate(subject, size, left, min(max(total - most, 0.0), left), total, residual, dtype)

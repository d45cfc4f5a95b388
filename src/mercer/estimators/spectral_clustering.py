"""Clusters as nearly disconnected parts of the similarity graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.linalg
from sklearn.base import ClusterMixin

from mercer import _check
from mercer._types import Float64, Indices
from mercer.errors import KernelError, ModelFileError
from mercer.gram.contract import Gram
from mercer.gram.degrees import ScaledByDegrees
from mercer.solvers.lloyd import kmeans
from mercer.training.eigenvectors import PRODUCTS, leading_eigen, seed_of
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.parameters import KernelParameters
from mercer.training.share_proofs import of_cuts
from mercer.training.storing import ArrayField, Field, ShareField


@dataclass(kw_only=True, eq=False, repr=False)
class SpectralClustering(ClusterMixin, KernelParameters, KernelEstimator):
    """Spectral clustering with any non-negative kernel as similarity.

    With W the Gram matrix without its diagonal and D its row sums, objects are embedded by the leading eigenvectors u
    of D^-1/2 W D^-1/2 as D^-1/2 u, and the embedding is clustered. There is no `predict`, because only training objects
    have an embedding.

    Parameters
    ----------
    n_clusters : the number of clusters.
    kernel, gamma, degree, coef0, memory, time_limit, psd : as in `SVC`; values must not be negative.
    n_components : the number of columns of the embedding; None for as many as clusters.
    n_init : the number of starts of k-means in the embedding.
    assign_labels : ``"kmeans"``, or ``"cluster_qr"``, which finds clusters by a pivoted QR decomposition.
    tol, random_state : as in `KernelPCA`.

    Attributes
    ----------
    labels_ : the cluster of each object.
    embedding_ : its coordinates.
    certificate_ : the fraction of similarities within clusters, and an upper bound for any clusters from the spectral
        relaxation.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import SpectralClustering, kernels
    >>> words = ["gattaca", "gattica", "gattac", "ccgcg", "cgcgc", "cgccg"]
    >>> labels = SpectralClustering(2, kernel=kernels.Spectrum(1), random_state=0).fit_predict(words)
    >>> bool(labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5])
    True
    """

    n_clusters: int = field(default=8, kw_only=False)
    coef0: float = 1.0
    n_components: int | None = None
    n_init: int = 10
    assign_labels: Literal["kmeans", "cluster_qr"] = "kmeans"
    tol: float = 1e-6
    random_state: Any = None

    _fields: ClassVar[Mapping[str, Field]] = {
        "labels_": ArrayField("i", "objects"),
        "embedding_": ArrayField("f", "objects", "columns"),
        "certificate_": ShareField("cuts"),
    }

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        _check.integer(owner, "n_clusters", self.n_clusters, low=1)
        _check.integer(owner, "n_init", self.n_init, low=1)
        _check.choice(owner, "assign_labels", self.assign_labels, ("kmeans", "cluster_qr"))
        _check.real(owner, "tol", self.tol, low=0, low_open=True, high_open=True)
        if self.n_components is not None:
            _check.integer(owner, "n_components", self.n_components, low=1)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster objects X."""
        with self._all_or_nothing():
            self._check_parameters()
            k = int(self.n_clusters)
            fitted, objects, guarded = self._stored_gram(X)
            if len(objects) < k:
                rule = f"at most the number of objects, n_samples={len(objects)}"
                raise _check.fail(type(self).__name__, "n_clusters", rule, self.n_clusters)
            graph = ScaledByDegrees.of(guarded.gram)
            embedding = self._embedding(graph, min(len(objects), int(self.n_components or k)))
            labels = self._assigned(embedding, k)
        self.embedding_, self.labels_ = embedding, labels
        exact, dtype = guarded.in_double(fitted, objects), np.dtype(guarded.gram.dtype).name
        self._certify_later(lambda: of_cuts(exact(), labels, embedding, dtype=dtype))
        return self

    def _effort(self) -> tuple[float, float]:
        return PRODUCTS, 0.0

    def _embedding(self, graph: ScaledByDegrees, width: int) -> Float64:
        _refuse_negative(graph.gram, graph.degrees)
        _, vectors = leading_eigen(self, graph.product, graph.dense, len(graph.degrees), width)
        return np.asarray(graph.root[:, None] * vectors)

    def _assigned(self, embedding: Float64, k: int) -> Indices:
        if self.assign_labels == "kmeans":
            rng = np.random.default_rng(seed_of(self.random_state))
            return kmeans(embedding, k, runs=int(self.n_init), rng=rng)
        # Damle, Minden and Ying, Simple, direct and efficient multi-way spectral clustering (2019).
        pivots = scipy.linalg.qr(embedding.T, pivoting=True)[2][:k]
        u, _, vt = scipy.linalg.svd(embedding[pivots].T, full_matrices=False)
        return np.asarray(np.abs(embedding @ (u @ vt)).argmax(axis=1))

    def _restored(self) -> None:
        width = min(len(self.labels_), int(self.n_components or self.n_clusters))
        if self.embedding_.shape[1] != width:
            raise ModelFileError(f"its embedding must have {width} columns, not {self.embedding_.shape[1]}.")


def _refuse_negative(gram: Gram, degrees: Float64) -> None:
    """Refuse negative similarities; if the matrix is not stored, only its row sums are checked."""
    lowest = float(degrees.min())
    if gram.fits():
        lowest = min(float(part.min()) for part in np.array_split(gram.dense(), max(1, len(degrees) // 1000)))
    if lowest < -1e-9 * float(gram.diagonal().max()):
        raise KernelError(
            f"Spectral clustering needs similarities that are not negative; this kernel has values down to {lowest:g}. "
            "Use a kernel such as RBF, over your kernel if need be: kernels.RBF(over=kernel)."
        )

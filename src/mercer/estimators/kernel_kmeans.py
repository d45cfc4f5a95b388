"""Clusters around means in feature space."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from mercer import _check
from mercer._types import Indices
from mercer.errors import ModelFileError, TimeLimitError
from mercer.gram.condensing import machine_over
from mercer.gram.contract import Gram
from mercer.solvers.kmeans import Clustering, kernel_kmeans
from mercer.training.eigenvectors import seed_of
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.parameters import KernelParameters
from mercer.training.share_proofs import of_clusters
from mercer.training.storing import EXPANSION, ArrayField, Field, ShareField, ValueField

_ROUNDS = 10.0
"""The typical number of rounds of a run; used only to estimate costs."""


@dataclass(kw_only=True, eq=False, repr=False)
class KernelKMeans(ClusterMixin, KernelParameters, KernelEstimator):
    """k-means with any kernel: minimises the squared distances to cluster means in feature space, exactly.

    Starts are drawn by k-means++ in feature space, and the best of `n_init` runs is kept.

    Parameters
    ----------
    n_clusters : the number of clusters.
    kernel, gamma, degree, coef0, memory, time_limit, psd : as in `SVC`.
    n_init : the number of runs.
    max_iter : the most rounds in each run.
    random_state : the seed of the starts.

    Attributes
    ----------
    labels_ : the cluster of each training object.
    inertia_ : the sum of squared distances in feature space.
    n_iter_ : the rounds of the best run.
    certificate_ : what the clusters explain, and an upper bound for any clusters from the spectral relaxation.
    kernel_ : the kernel, fitted to the training objects.
    expansion_ : the fitted function: objects, their coefficients, and intercepts.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import KernelKMeans, kernels
    >>> words = ["gattaca", "gattica", "gattac", "ccgcg", "cgcgc", "cgccg"]
    >>> model = KernelKMeans(2, kernel=kernels.Spectrum(2), random_state=0).fit(words)
    >>> bool(model.labels_[0] == model.predict(["gatta"])[0] != model.labels_[5])
    True
    """

    n_clusters: int = field(default=8, kw_only=False)
    coef0: float = 1.0
    n_init: int = 10
    max_iter: int = 300
    random_state: Any = None

    _fields: ClassVar[Mapping[str, Field]] = {
        **EXPANSION,
        "labels_": ArrayField("i", "objects"),
        "inertia_": ValueField(float),
        "n_iter_": ValueField(int),
        "certificate_": ShareField("clusters"),
    }

    def _check_parameters(self) -> None:
        for name in ("n_clusters", "n_init", "max_iter"):
            _check.integer(type(self).__name__, name, getattr(self, name), low=1)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster objects X."""
        with self._all_or_nothing():
            self._check_parameters()
            k = int(self.n_clusters)
            fitted, objects, guarded = self._stored_gram(X, at_least=1)
            if len(objects) < k:
                rule = f"at most the number of objects, n_samples={len(objects)}"
                raise _check.fail(type(self).__name__, "n_clusters", rule, self.n_clusters)
            best, runs = self._best_run(guarded.gram, k)
        self.labels_ = best.labels
        self.inertia_ = max(best.inertia, 0.0)
        self.n_iter_ = best.iterations
        self.kernel_ = fitted
        means = guarded.expanded(best.means)
        self.expansion_ = machine_over(fitted, objects, slice(None), means, -best.offsets)[0]
        exact, dtype = guarded.in_double(fitted, objects), np.dtype(guarded.gram.dtype).name
        psd = fitted.kernel.psd or guarded.repaired
        self._certify_later(lambda: of_clusters(exact(), best.labels, dtype=dtype, psd=psd))
        if not best.converged:
            limit = ("before the time limit", "time_limit") if best.late else (f"in {self.max_iter} rounds", "max_iter")
            text = f"KernelKMeans did not converge {limit[0]}. Raise {limit[1]}."
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        if runs < int(self.n_init):
            text = f"The time limit allowed {runs} of {self.n_init} runs. Raise time_limit, or lower n_init."
            warnings.warn(f"KernelKMeans: {text}", ConvergenceWarning, stacklevel=2)
        return self

    def _effort(self) -> tuple[float, float]:
        return float(self.n_init) * min(float(self.max_iter), _ROUNDS), 0.0

    def _best_run(self, gram: Gram, k: int) -> tuple[Clustering, int]:
        """The best of all runs, or of those for which there was time, and their number."""
        rng, limits = np.random.default_rng(seed_of(self.random_state)), self._limits()
        runs: list[Clustering] = []
        while len(runs) < int(self.n_init) and not (runs and limits.out_of_time):
            try:
                runs.append(kernel_kmeans(gram, k, limits=limits, rng=rng))
            except TimeLimitError:
                if not runs:
                    raise
                break
        return min(runs, key=lambda run: run.inertia), len(runs)

    def predict(self, X: Any) -> Indices:
        """The cluster whose mean is nearest, for each object."""
        return np.asarray(self._outputs(X).argmax(axis=1))

    def _restored(self) -> None:
        if self.expansion_.coefficients.shape[1] != self.n_clusters:
            raise ModelFileError(f"it does not have one mean for each of {self.n_clusters} clusters.")

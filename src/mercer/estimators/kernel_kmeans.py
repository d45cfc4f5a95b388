"""Clusters around means in feature space."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from mercer import _check
from mercer._types import Indices
from mercer.errors import ModelFileError, TimeLimitError
from mercer.gram.condensing import machine_over
from mercer.gram.contract import Gram
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel
from mercer.solvers.drive import Limits
from mercer.solvers.kmeans import Clustering, kernel_kmeans
from mercer.solvers.solution import Status
from mercer.training.eigenvectors import seed_of
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.on_a_part import Part, affordable
from mercer.training.parameters import KernelParameters
from mercer.training.share_proofs import of_clusters
from mercer.training.shares import ShareCertificate
from mercer.training.storing import EXPANSION, ArrayField, Field, ShareField, ValueField

_ROUNDS = 10.0
"""The typical number of rounds of a run; used only to estimate costs."""
_OF_A_PART = 0.3
"""The share of the time left that runs on a part of the objects may take: then all objects are compared with it."""


@final
@dataclass(frozen=True, eq=False)
class _Found:
    """Clusters, the cluster of each object, and the machine that tells those of new ones."""

    best: Clustering
    runs: int
    """How many there was time for."""
    labels: Indices
    inertia: float
    expansion: Expansion
    proof: Callable[[], ShareCertificate]

    @property
    def status(self) -> Status:
        return Status.CONVERGED if self.best.converged else Status.OUT_OF_TIME


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
            fitted, objects, gram = self._gram_for_products(X, at_least=1)
            if len(objects) < k:
                rule = f"at most the number of objects, n_samples={len(objects)}"
                raise _check.fail(type(self).__name__, "n_clusters", rule, self.n_clusters)
            parts = affordable(gram, np.ones(len(objects)), 1.0, self._limits())
            if parts is None:
                part, found = None, self._clusters(fitted, objects, gram, k)
            else:
                part, found = parts.largest(lambda part: self._clusters(fitted, objects, gram, k, part))
        best = found.best
        self.labels_ = found.labels
        self.inertia_ = max(found.inertia, 0.0)
        self.n_iter_ = best.iterations
        self.kernel_ = fitted
        self.expansion_ = found.expansion
        self._certify_later(found.proof)
        if part is not None:
            warnings.warn(f"KernelKMeans did not converge. {Status.OF_A_PART.value}", ConvergenceWarning, stacklevel=2)
            return self
        if not best.converged:
            limit = ("before the time limit", "time_limit") if best.late else (f"in {self.max_iter} rounds", "max_iter")
            text = f"KernelKMeans did not converge {limit[0]}. Raise {limit[1]}."
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        if found.runs < int(self.n_init):
            text = f"The time limit allowed {found.runs} of {self.n_init} runs. Raise time_limit, or lower n_init."
            warnings.warn(f"KernelKMeans: {text}", ConvergenceWarning, stacklevel=2)
        return self

    def _effort(self) -> tuple[float, float]:
        return float(self.n_init) * min(float(self.max_iter), _ROUNDS), 0.0

    def _clusters(
        self, fitted: FittedKernel, objects: Objects, gram: Gram, k: int, part: Part | None = None, share: float = 1.0
    ) -> _Found:
        """Cluster all objects, or a part of them; then the others belong to the nearest mean."""
        if part is None:
            guarded = self._guarded(fitted, gram)
            best, runs = self._best_run(guarded.gram, k, self._limits().share(share))
            means = guarded.expanded(best.means)
            machine = machine_over(fitted, objects, slice(None), means, -best.offsets)[0]
            exact, dtype = guarded.in_double(fitted, objects), np.dtype(guarded.gram.dtype).name
            psd = fitted.kernel.psd or guarded.repaired
            proof = partial(_proof, exact, best.labels, dtype, psd=psd)
            return _Found(best, runs, best.labels, best.inertia, machine, proof)
        some = self._clusters(fitted, objects.take(part.ids), gram.view(part.ids), k, share=_OF_A_PART)
        values = some.expansion(objects, self._gram_dtype())
        labels, memory = np.asarray(values.argmax(axis=1)), self.memory
        inertia = float(gram.diagonal().sum() - 2.0 * values.max(axis=1).sum())
        exact = partial(gram_of, fitted, objects, dtype=np.float64, memory=memory)
        proof = partial(_proof, exact, labels, "float64", psd=fitted.kernel.psd)
        return dataclasses.replace(some, labels=labels, inertia=inertia, proof=proof)

    def _best_run(self, gram: Gram, k: int, limits: Limits) -> tuple[Clustering, int]:
        """The best of all runs, or of those for which there was time, and their number."""
        rng = np.random.default_rng(seed_of(self.random_state))
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


def _proof(exact: Callable[[], Gram], labels: Indices, dtype: str, *, psd: bool) -> ShareCertificate:
    return of_clusters(exact(), labels, dtype=dtype, psd=psd)

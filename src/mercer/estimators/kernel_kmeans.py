"""Clusters around means in feature space."""

from __future__ import annotations

import time
import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._stored import Stored, checked_array, checked_value
from mercer._types import Indices
from mercer.errors import ModelFileError
from mercer.gram.expansion import Expansion
from mercer.solvers.kmeans import kernel_kmeans
from mercer.training.kernelised import KernelLike
from mercer.training.limits import limits_of
from mercer.training.unlabelled import Unlabelled, seed_of


class KernelKMeans(ClusterMixin, Unlabelled):
    """k-means with any kernel: minimises the squared distances to cluster means in feature space, exactly.

    Starts are drawn by k-means++ in feature space, and the best of `n_init` runs is kept.

    Parameters
    ----------
    n_clusters : how many clusters.
    kernel, gamma, degree, coef0, memory : as in `SVC`.
    n_init : how many runs.
    max_iter : at most so many rounds in each.
    random_state : of the starts.

    Attributes
    ----------
    labels_ : the cluster of each training object; inertia_ : the sum of squared distances in feature space.

    >>> from mercer import KernelKMeans, kernels
    >>> words = ["gattaca", "gattica", "gattac", "ccgcg", "cgcgc", "cgccg"]
    >>> model = KernelKMeans(2, kernel=kernels.Spectrum(2), random_state=0).fit(words)
    >>> bool(model.labels_[0] == model.predict(["gatta"])[0] != model.labels_[5])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: KernelLike = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: Any = None,
        memory: float | str = "auto",
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.memory = memory

    def _check_parameters(self) -> None:
        for name in ("n_clusters", "n_init", "max_iter"):
            _check.integer(type(self).__name__, name, getattr(self, name), low=1)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster objects X."""
        with self._all_or_nothing():
            self._check_parameters()
            k = int(self.n_clusters)
            fitted, objects, gram = self._training_gram(X, at_least=1)
            if len(objects) < k:
                rule = f"at most the number of objects, n_samples={len(objects)}"
                raise _check.fail(type(self).__name__, "n_clusters", rule, self.n_clusters)
            rng, limits = np.random.default_rng(seed_of(self.random_state)), limits_of(self, time.monotonic())
            runs = (kernel_kmeans(gram, k, limits=limits, rng=rng) for _ in range(int(self.n_init)))
            best = min(runs, key=lambda run: run.inertia)
        self.labels_ = best.labels
        self.inertia_ = max(best.inertia, 0.0)
        self.n_iter_ = best.iterations
        self.kernel_ = fitted
        self.expansion_ = Expansion(fitted, objects, best.means, -best.offsets)
        if not best.converged:
            warnings.warn(
                f"KernelKMeans did not converge in {self.max_iter} rounds. Raise max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: Any) -> Indices:
        """The cluster whose mean is nearest, for each object."""
        check_is_fitted(self)
        return np.asarray(self.expansion_(self._new_objects(X, self.kernel_)).argmax(axis=1))

    def _to_stored(self) -> Stored:
        check_is_fitted(self)
        values, arrays = self._seen_features()
        return Stored(
            params=self.get_params(deep=False),
            values={"inertia_": self.inertia_, "n_iter_": self.n_iter_, **values},
            arrays={"labels_": self.labels_, **arrays},
            expansion=self.expansion_,
        )

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        model = cls(**stored.params)
        model._check_parameters()
        expansion = stored.expansion
        if expansion is None or expansion.coefficients.shape[1] != model.n_clusters:
            raise ModelFileError(f"it does not have one mean for each of {model.n_clusters} clusters.")
        model.labels_ = checked_array(stored.arrays, "labels_", "i", (len(expansion.support),))
        model.inertia_ = checked_value(stored.values, "inertia_", float)
        model.n_iter_ = checked_value(stored.values, "n_iter_", int)
        model.kernel_, model.expansion_ = expansion.kernel, expansion
        model._restore_seen_features(stored.values, stored.arrays)
        return model

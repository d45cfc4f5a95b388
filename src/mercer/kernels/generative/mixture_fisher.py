"""The Fisher kernel of a mixture of Gaussians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._record import choice, integer
from mercer._types import Float64
from mercer.errors import InputError
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import State
from mercer.kernels.generative.fisher import INFORMATION, Fisher
from mercer.kernels.generative.probabilities import Row, checked_row

_MODEL = ("weights", "means", "covariances")


@final
@dataclass(frozen=True)
class GaussianMixtureFisher(Fisher):
    """The Fisher kernel of a mixture of Gaussians: k(x, z) = phi(x)' I^-1 phi(z), phi the gradient of log p(x).

    With g_c(x) the probability of component c given x, the gradient has g_c - w_c for the weights (as logits), g_c S_c
    (x - m_c) for the means, with S_c the inverse covariance, and g_c (S_c (x - m_c)(x - m_c)' S_c - S_c) / 2 for the
    covariances, of which only the diagonal is used if `covariance` is ``"diag"``. The mixture is given as `weights`,
    `means` and `covariances`, or taken from a fitted scikit-learn mixture by ``GaussianMixtureFisher.of(mixture)``; if
    they are None, `fit` trains scikit-learn's `GaussianMixture` with `components` components. The `information` I is
    ``"identity"``, or ``"empirical"``: the mean of phi phi' over the training vectors, whose pseudo-inverse is used.

    The score of a bag of vectors is the sum of their scores, so `DerivedSubsets` over this kernel compares bags.

    `random_state` is the seed of the starts from which the mixture is learnt.

    >>> from mercer import kernels
    >>> kernel = kernels.GaussianMixtureFisher(weights=(1.0,), means=[[0.0]], covariances=[[1.0]])
    >>> kernel.fit([[1.0]])([[1.0], [2.0]], [[2.0]])
    array([[2.  ],
           [6.25]])
    """

    components: int = integer(4, low=1)
    covariance: str = choice("diag", "full")
    information: str = choice(*INFORMATION)
    weights: Row | None = None
    means: Any = None
    covariances: Any = None
    random_state: int = integer(0, low=0)

    domain = Vectors
    variants = ({"components": 2}, {"components": 1, "covariance": "full", "information": "empirical"})

    def __post_init__(self) -> None:
        owner = "GaussianMixtureFisher"
        missing = [name for name in _MODEL if getattr(self, name) is None]
        if len(missing) in (1, 2):
            raise _check.fail(owner, missing[0], "given with the rest of the mixture, or none of it at all", None)
        if not missing:
            weights = checked_row(owner, "weights", self.weights)
            means, covariances = (np.array(value, dtype=np.float64) for value in (self.means, self.covariances))
            if means.ndim != 2 or len(means) != len(weights) or not np.isfinite(means).all():
                raise _check.fail(owner, "means", f"a matrix of {len(weights)} rows, one for each weight", self.means)
            _refuse_covariances(owner, covariances, means, self.covariance)
            for name, value in zip(_MODEL, (weights, means, covariances), strict=True):
                object.__setattr__(self, name, value)
        super().__post_init__()

    @classmethod
    def of(cls, mixture: Any, information: str = "identity") -> Self:
        """The kernel of a fitted mixture of scikit-learn."""
        kind = mixture.covariance_type
        means = np.asarray(mixture.means_)
        covariances = np.asarray(mixture.covariances_)
        if kind == "spherical":
            kind, covariances = "diag", np.repeat(covariances[:, None], means.shape[1], axis=1)
        if kind == "tied":
            kind, covariances = "full", np.repeat(covariances[None], len(means), axis=0)
        weights = tuple(float(weight) for weight in mixture.weights_)
        return cls(len(means), kind, information, weights, means, covariances)

    @property
    def data_dependent(self) -> bool:
        return self.weights is None or self.information == "empirical"

    def model(self, objects: Vectors) -> State:
        if self.weights is not None:
            given = {"weights": np.asarray(self.weights), "means": self.means, "covariances": self.covariances}
            return State(given)
        from sklearn.mixture import GaussianMixture

        if len(objects) < self.components:
            raise InputError(
                f"A mixture of {self.components} Gaussians needs as many vectors, got {len(objects)}. Lower components."
            )
        mixture = GaussianMixture(
            self.components, covariance_type=self.covariance, random_state=self.random_state, max_iter=500
        )
        mixture.fit(objects.dense().astype(np.float64, copy=False))
        return State({name: np.asarray(getattr(mixture, f"{name}_")) for name in _MODEL})

    def scores(self, objects: Vectors, state: State) -> Float64:
        weights, means = state.values["weights"], state.values["means"]
        covariances = state.values["covariances"]
        rows = objects.dense().astype(np.float64, copy=False)
        if rows.shape[1] != means.shape[1]:
            raise InputError(f"These vectors have {rows.shape[1]} features, the mixture has {means.shape[1]}.")
        logs = np.empty((len(rows), len(weights)))
        parts: list[tuple[Float64, Float64]] = []
        for c, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
            gaps = rows - mean
            if covariance.ndim == 1:
                pulled = gaps / covariance
                size = np.log(covariance).sum()
                spread = 0.5 * (pulled**2 - 1.0 / covariance)
            else:
                inverse = np.linalg.inv(covariance)
                pulled = gaps @ inverse
                size = np.linalg.slogdet(covariance)[1]
                spread = 0.5 * (pulled[:, :, None] * pulled[:, None, :] - inverse).reshape(len(rows), -1)
            with np.errstate(divide="ignore"):
                logs[:, c] = np.log(weights[c]) - 0.5 * (size + (gaps * pulled).sum(axis=1))
            parts.append((pulled, spread))
        logs -= logs.max(axis=1, keepdims=True)
        share = np.exp(logs)
        share /= share.sum(axis=1, keepdims=True)
        pieces = [share - weights]
        for c, (pulled, spread) in enumerate(parts):
            pieces += [share[:, c : c + 1] * pulled, share[:, c : c + 1] * spread]
        return np.hstack(pieces)


def _refuse_covariances(owner: str, covariances: Float64, means: Float64, kind: str) -> None:
    count, width = means.shape
    shape = (count, width) if kind == "diag" else (count, width, width)
    if covariances.shape != shape or not np.isfinite(covariances).all():
        raise _check.fail(owner, "covariances", f"an array of shape {shape}", covariances)
    for number, one in enumerate(covariances):
        low = one.min() if kind == "diag" else np.linalg.eigvalsh(one)[0]
        if low <= 0 or (kind == "full" and not np.allclose(one, one.T)):
            raise _check.fail(owner, "covariances", f"positive definite, but number {number} is not", one)

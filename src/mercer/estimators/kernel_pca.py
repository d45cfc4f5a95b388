"""Principal components in feature space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _check, _speed
from mercer._types import Float64
from mercer.errors import InputError, ModelFileError
from mercer.estimators.kernel_ridge import KernelRidge
from mercer.gram.centring import Centred
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import FittedKernel, Kernel
from mercer.training.choices import Gamma
from mercer.training.eigenvectors import PRODUCTS, leading_eigen
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.matrix import Guarded
from mercer.training.parameters import KernelLike, KernelParameters
from mercer.training.share_proofs import of_components
from mercer.training.shares import ShareCertificate
from mercer.training.storing import EXPANSION, ArrayField, Field, Parts, ShareField

_NEGLIGIBLE = 1e-12
"""Eigenvalues below this fraction of the trace are rounding errors of a matrix of a few thousand objects. A larger
value would drop small but real components, a smaller one would divide by noise."""


@final
class PreImageField(Field):
    """The map from scores back to vectors; None if it was not learnt."""

    def write(self, name: str, value: Expansion | None, parts: Parts) -> None:
        if value is not None:
            parts.arrays["way_back"] = value.coefficients
            parts.objects["scores"] = value.support

    def read(self, name: str, parts: Parts) -> Expansion | None:
        if "way_back" not in parts.arrays:
            return None
        coefficients = parts.array("way_back", "f", "rows", "features")
        scores = parts.objects.get("scores")
        shape = parts.machine.coefficients.shape
        if not isinstance(scores, Vectors) or scores.is_sparse or scores.values.shape != shape:
            raise ModelFileError("the scores of its inverse transform do not match its components.")
        back = _on_scores(parts.machine.kernel).fit(scores)
        return Expansion(back, scores, coefficients, np.zeros(coefficients.shape[1]))


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelParameters, KernelEstimator):
    """Principal component analysis with any kernel: directions of largest variance in feature space.

    The centred Gram matrix HKH has eigenvalues l and unit eigenvectors u; the score of x on a component is
    k_c(x, .) u / sqrt(l). Components are found by products with the matrix, without a full decomposition.

    Parameters
    ----------
    n_components : the number of components; None for all with a positive eigenvalue.
    kernel, gamma, degree, coef0 : as in `KernelRidge`.
    memory, time_limit, psd : as in `SVC`.
    fit_inverse_transform : whether to learn the map from scores back to vectors, by kernel ridge regression.
    alpha : the penalty of that regression.
    tol : the largest residual of an eigenvector, relative to the largest eigenvalue.
    random_state : the start of the iteration; the result depends on it only within `tol`.

    Attributes
    ----------
    eigenvalues_, eigenvectors_ : those of the centred Gram matrix, in descending order.
    explained_variance_ratio_ : fractions of the variance in feature space.
    certificate_ : the fraction explained, the largest fraction that as many components could explain, and the residual
        of the eigenproblem, all in float64; printed, it is a sentence.
    kernel_ : the kernel, fitted to the training objects.
    expansion_ : the fitted function: objects, their coefficients, and intercepts.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import KernelPCA, kernels
    >>> words = ["gattaca", "gattica", "gattac", "ccgcg", "cgcgc", "cgccg"]
    >>> scores = KernelPCA(2, kernel=kernels.Spectrum(2)).fit_transform(words)
    >>> scores.shape, bool((scores[:3, 0] * scores[3:, 0] < 0).all())
    ((6, 2), True)
    """

    n_components: int | None = field(default=None, kw_only=False)
    kernel: KernelLike = "linear"
    gamma: Gamma = None
    coef0: float = 1.0
    fit_inverse_transform: bool = False
    alpha: float = 1.0
    tol: float = 1e-6
    random_state: Any = None

    _fields: ClassVar[Mapping[str, Field]] = {
        **EXPANSION,
        "eigenvalues_": ArrayField("f", "outputs"),
        "eigenvectors_": ArrayField("f", "objects", "outputs"),
        "explained_variance_ratio_": ArrayField("f", "outputs"),
        "_way_back": PreImageField(),
        "certificate_": ShareField("components"),
    }

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        if self.n_components is not None:
            _check.integer(owner, "n_components", self.n_components, low=1)
        _check.boolean(owner, "fit_inverse_transform", self.fit_inverse_transform)
        _check.real(owner, "alpha", self.alpha, low=0, low_open=True, high_open=True)
        _check.real(owner, "tol", self.tol, low=0, low_open=True, high_open=True)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of objects X."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Float64:
        """Find the components of X, and its scores on them."""
        return self._fit(X)

    def _fit(self, X: Any) -> Float64:
        with self._all_or_nothing():
            self._check_parameters()
            fitted, objects, guarded = self._stored_gram(X)
            if self.fit_inverse_transform:
                vectors_of(objects)  # refuses objects without an inverse before any work
            centred = Centred.of(guarded.gram)
            values, vectors = self._eigen(centred)
            kept = values > _NEGLIGIBLE * max(centred.trace, 0.0)
            if self.n_components is None:
                values, vectors, kept = values[kept], vectors[:, kept], kept[kept]
            root = np.sqrt(np.where(kept, values, 1.0))
            self.expansion_ = guarded.centred(fitted, objects, centred, np.where(kept, vectors / root, 0.0))
            scores = np.where(kept, vectors * root, 0.0)
            self.eigenvalues_ = np.where(kept, values, 0.0)
            self.eigenvectors_ = vectors
            self.explained_variance_ratio_ = self.eigenvalues_ / centred.trace if kept.any() else self.eigenvalues_
            self.kernel_ = fitted
            self._certify_later(_proof(guarded, fitted, objects, self.eigenvalues_, vectors))
            self._way_back: Expansion | None = None
            if self.fit_inverse_transform:
                back = KernelRidge(self.alpha, kernel=_on_scores(fitted), memory=self.memory)
                self._way_back = back.fit(scores, vectors_of(objects)).expansion_
        return scores

    def _effort(self) -> tuple[float, float]:
        return (1.0, _speed.EIGENVECTORS) if self.n_components is None else (PRODUCTS, 0.0)

    def _eigen(self, centred: Centred) -> tuple[Float64, Float64]:
        n = centred.gram.shape[0]
        wanted = n if self.n_components is None else int(self.n_components)
        if wanted > n:
            rule = f"at most the number of objects, {n}"
            raise _check.fail(type(self).__name__, "n_components", rule, self.n_components)
        return leading_eigen(self, centred.product, centred.dense, n, wanted)

    def transform(self, X: Any) -> Float64:
        """The scores of new objects, one column per component."""
        return self._outputs(X)

    def inverse_transform(self, scores: Any) -> Float64:
        """Vectors whose scores are nearly these: a pre-image, learnt by ridge regression."""
        check_is_fitted(self)
        if self._way_back is None:
            raise InputError("The inverse transform was not learnt. Fit with fit_inverse_transform=True.")
        given = Vectors.coerce(scores)
        if given.n_features != self._n_features_out:
            raise InputError(f"Scores on {self._n_features_out} components are needed; got {given.n_features} columns.")
        return self._way_back(given)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.sparse and not self.fit_inverse_transform
        return tags


def _proof(
    guarded: Guarded, fitted: FittedKernel, objects: Objects, values: Float64, vectors: Float64
) -> Callable[[], ShareCertificate]:
    exact, dtype = guarded.in_double(fitted, objects), np.dtype(guarded.gram.dtype).name
    psd = fitted.kernel.psd or guarded.repaired
    return lambda: of_components(exact(), values, vectors, dtype=dtype, psd=psd)


def _on_scores(fitted: FittedKernel) -> Kernel:
    """The same kernel for scores; parameters resolved from data, such as gamma, are kept."""
    gamma = fitted.state.values.get("gamma")
    kernel = fitted.kernel
    return kernel if gamma is None else kernel.with_params(gamma=float(gamma))


def vectors_of(objects: Objects) -> Any:
    """The rows of numbers that `inverse_transform` is to return."""
    if not isinstance(objects, Vectors):
        raise InputError(
            f"inverse_transform returns vectors, but the objects are {objects.kind}, which it cannot reconstruct. "
            "Leave fit_inverse_transform=False."
        )
    if objects.is_sparse:
        raise InputError("inverse_transform returns dense vectors. Leave fit_inverse_transform=False for sparse data.")
    return objects.values

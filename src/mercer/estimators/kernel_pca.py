"""Principal components in feature space."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._stored import Stored, checked_array
from mercer._types import Float64
from mercer.errors import InputError, KernelWarning, ModelFileError
from mercer.estimators.kernel_ridge import KernelRidge
from mercer.gram.centring import Centred
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import FittedKernel, Kernel
from mercer.training.kernelised import KernelLike
from mercer.training.unlabelled import Unlabelled, leading_eigen

_NEGLIGIBLE = 1e-12


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Unlabelled):
    """Principal component analysis with any kernel: directions of largest variance in feature space.

    The centred Gram matrix HKH has eigenvalues l and unit eigenvectors u; the score of x on a component is
    k_c(x, .) u / sqrt(l). Components are found by products with the matrix, without a full decomposition.

    Parameters
    ----------
    n_components : how many; None for all with a positive eigenvalue.
    kernel, gamma, degree, coef0, memory : as in `SVC`.
    fit_inverse_transform : learn the way back from scores to vectors, by kernel ridge regression with penalty `alpha`.
    alpha : that penalty.
    tol : how large residuals of eigenvectors may be, relative to the largest eigenvalue.
    random_state : where the iteration starts; the result depends on it by `tol` only.

    Attributes
    ----------
    eigenvalues_, eigenvectors_ : of the centred Gram matrix, in falling order.
    explained_variance_ratio_ : shares of the variance in feature space.

    >>> from mercer import KernelPCA, kernels
    >>> words = ["gattaca", "gattica", "gattac", "ccgcg", "cgcgc", "cgccg"]
    >>> scores = KernelPCA(2, kernel=kernels.Spectrum(2)).fit_transform(words)
    >>> scores.shape, bool((scores[:3, 0] * scores[3:, 0] < 0).all())
    ((6, 2), True)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: KernelLike = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
        tol: float = 1e-6,
        random_state: Any = None,
        memory: float | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.tol = tol
        self.random_state = random_state
        self.memory = memory

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
            fitted, objects, gram = self._training_gram(X)
            if self.fit_inverse_transform:
                vectors_of(objects)  # answers what has no way back, before any work
            centred = Centred.of(gram)
            values, vectors = self._eigen(centred)
            kept = values > _NEGLIGIBLE * max(centred.trace, 0.0)
            if self.n_components is None:
                values, vectors, kept = values[kept], vectors[:, kept], kept[kept]
            root = np.sqrt(np.where(kept, values, 1.0))
            self.expansion_ = centred.expansion(fitted, objects, np.where(kept, vectors / root, 0.0))
            scores = np.where(kept, vectors * root, 0.0)
            self.eigenvalues_ = np.where(kept, values, 0.0)
            self.eigenvectors_ = vectors
            self.explained_variance_ratio_ = self.eigenvalues_ / centred.trace if kept.any() else self.eigenvalues_
            self.kernel_ = fitted
            self._way_back: Expansion | None = None
            if self.fit_inverse_transform:
                back = KernelRidge(self.alpha, kernel=_on_scores(fitted), memory=self.memory)
                self._way_back = back.fit(scores, vectors_of(objects)).expansion_
        return scores

    def _eigen(self, centred: Centred) -> tuple[Float64, Float64]:
        n = centred.gram.shape[0]
        wanted = n if self.n_components is None else int(self.n_components)
        if wanted > n:
            rule = f"at most the number of objects, {n}"
            raise _check.fail(type(self).__name__, "n_components", rule, self.n_components)
        values, vectors = leading_eigen(self, centred.product, centred.dense, n, wanted)
        if self.n_components is None and values[-1] < -1e-6 * max(values[0], 0.0):
            warnings.warn(
                f"The Gram matrix has negative eigenvalues, down to {values[-1]:.3g}; their components are left out, "
                "so that distances between scores are not those of the kernel.",
                KernelWarning,
                stacklevel=4,
            )
        return values, vectors

    def transform(self, X: Any) -> Float64:
        """The scores of new objects, one column per component."""
        check_is_fitted(self)
        return self.expansion_(self._new_objects(X, self.kernel_))

    def inverse_transform(self, scores: Any) -> Float64:
        """Vectors whose scores are nearly these: a pre-image, learnt by ridge regression."""
        check_is_fitted(self)
        if self._way_back is None:
            raise InputError("The way back was not learnt. Fit with fit_inverse_transform=True.")
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

    # ---------------------------------------------------------------------------------------------------- model files

    def _to_stored(self) -> Stored:
        check_is_fitted(self)
        seen_values, arrays = self._seen_features()
        arrays |= {
            "eigenvalues_": self.eigenvalues_,
            "eigenvectors_": self.eigenvectors_,
            "explained_variance_ratio_": self.explained_variance_ratio_,
        }
        objects = {}
        if self._way_back is not None:
            arrays["way_back"] = self._way_back.coefficients
            objects["scores"] = self._way_back.support
        params = self.get_params(deep=False)
        return Stored(params=params, values=seen_values, arrays=arrays, expansion=self.expansion_, objects=objects)

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        model = cls(**stored.params)
        model._check_parameters()
        expansion, arrays = stored.expansion, stored.arrays
        if expansion is None:
            raise ModelFileError("it has no components in it.")
        n, k = expansion.coefficients.shape
        model.eigenvalues_ = checked_array(arrays, "eigenvalues_", "f", (k,))
        model.eigenvectors_ = checked_array(arrays, "eigenvectors_", "f", (n, k))
        model.explained_variance_ratio_ = checked_array(arrays, "explained_variance_ratio_", "f", (k,))
        model.kernel_, model.expansion_ = expansion.kernel, expansion
        model._restore_seen_features(stored.values, arrays)
        model._way_back = None
        if "way_back" in arrays:
            coefficients = checked_array(arrays, "way_back", "f", (n, model.n_features_in_))
            scores = stored.objects.get("scores")
            if not isinstance(scores, Vectors) or scores.is_sparse or scores.values.shape != (n, k):
                raise ModelFileError("the scores that its way back was learnt from do not fit its components.")
            back = _on_scores(expansion.kernel).fit(scores)
            model._way_back = Expansion(back, scores, coefficients, np.zeros(coefficients.shape[1]))
        return model


def _on_scores(fitted: FittedKernel) -> Kernel:
    """The same kernel for scores, with what it took from the data (gamma) as it was."""
    gamma = fitted.state.values.get("gamma")
    kernel = fitted.kernel
    return kernel if gamma is None else kernel.with_params(gamma=float(gamma))


def vectors_of(objects: Objects) -> Any:
    """The rows of numbers that `inverse_transform` is to give back."""
    if not isinstance(objects, Vectors):
        raise InputError(
            f"inverse_transform gives vectors, but the objects are {objects.kind}: there is no way back to those. "
            "Leave fit_inverse_transform=False."
        )
    if objects.is_sparse:
        raise InputError("inverse_transform gives dense vectors. Leave fit_inverse_transform=False for sparse data.")
    return objects.values

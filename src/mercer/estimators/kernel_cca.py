"""What two views of the same objects have in common."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._stored import Stored, checked_array
from mercer._types import Float64
from mercer.errors import InputError, ModelFileError
from mercer.gram.centring import Centred
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects, refuse_masked
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import FittedKernel, State
from mercer.training.kernelised import KernelLike
from mercer.training.unlabelled import Unlabelled

_NEGLIGIBLE = 1e-10


class KernelCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Unlabelled):
    """Canonical correlations with any two kernels: pairs of directions along which two views vary together.

    Maximises cov(f(x), g(y)) subject to var f + alpha |f|^2 = var g + alpha |g|^2 = 1, one pair after another. With
    HKH = U L U' and HMH = V N V' the centred Gram matrices of the two views, the pairs are the singular vectors of
    sqrt(L / (L + n alpha)) U'V sqrt(N / (N + n alpha)). Without the penalty any two views correlate perfectly.

    Parameters
    ----------
    n_components : how many pairs.
    alpha : the penalty.
    kernel, gamma, degree, coef0, memory : as in `SVC`, for the first view.
    kernel_y : the kernel of the second view; None for the same.

    Attributes
    ----------
    correlations_ : of the pairs, shrunk by the penalty.

    >>> import numpy as np
    >>> from mercer import KernelCCA
    >>> t = np.linspace(0, 3, 60)
    >>> views = np.column_stack([np.cos(t), t**2]), np.column_stack([t, np.ones(60)])
    >>> model = KernelCCA(1, alpha=1e-3).fit(*views)
    >>> bool(model.correlations_[0] > 0.95)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha: float = 0.1,
        kernel: KernelLike = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        kernel_y: KernelLike | None = None,
        memory: float | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_y = kernel_y
        self.memory = memory

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        _check.integer(owner, "n_components", self.n_components, low=1)
        _check.real(owner, "alpha", self.alpha, low=0, low_open=True, high_open=True)

    def fit(self, X: Any, y: Any) -> Self:
        """Find what two views of the same objects, X and y, have in common."""
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        with self._all_or_nothing():
            self._check_parameters()
            fitted, objects, gram = self._training_gram(X)
            kernel_y = self._second_kernel()
            others = kernel_y.coerce(_second_view(y, kernel_y.domain))
            if len(others) != len(objects):
                raise InputError(
                    f"Found input variables with inconsistent numbers of samples: [{len(objects)}, {len(others)}]. "
                    "The two views must be of the same objects, in the same order."
                )
            fitted_y = kernel_y.fit(others)
            one, two = Centred.of(gram), Centred.of(gram_of(fitted_y, others, memory=self.memory))
            ridge = float(self.alpha) * len(objects)
            left, left_root, U = _half(one, ridge)
            right, right_root, V = _half(two, ridge)
            p, correlations, q = scipy.linalg.svd(left[:, None] * (U.T @ V) * right, full_matrices=False)
            k = min(int(self.n_components), len(correlations))
            # var f + alpha |f|^2 = 1: scores have mean square near 1.
            scale = np.sqrt(len(objects))
            a = scale * (U / left_root) @ p[:, :k]
            b = scale * (V / right_root) @ q[:k].T
        self.correlations_ = correlations[:k]
        self.kernel_ = fitted
        self.expansion_ = one.expansion(fitted, objects, a)
        self.expansion_y_ = two.expansion(fitted_y, others, b)
        return self

    def _second_kernel(self) -> Any:
        if self.kernel_y is None:
            return self._kernel()
        return clone(self).set_params(kernel=self.kernel_y)._kernel()

    def transform(self, X: Any, y: Any = None) -> Any:
        """Scores of new objects in the first view; with `y` given, those of the second view as well."""
        check_is_fitted(self)
        first = self.expansion_(self._new_objects(X, self.kernel_))
        if y is None:
            return first
        second = self.expansion_y_.kernel
        return first, self.expansion_y_(second.coerce(_second_view(y, second.kernel.domain)))

    def fit_transform(self, X: Any, y: Any) -> Float64:
        """Scores of the training objects in the first view."""
        scores: Float64 = self.fit(X, y).transform(X)
        return scores

    @property
    def _n_features_out(self) -> int:
        return len(self.correlations_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _to_stored(self) -> Stored:
        check_is_fitted(self)
        values, arrays = self._seen_features()
        second = self.expansion_y_
        arrays |= {
            "correlations_": self.correlations_,
            "coefficients_y": second.coefficients,
            "intercept_y": second.intercept,
        }
        return Stored(
            params=self.get_params(deep=False),
            values=values,
            arrays=arrays,
            expansion=self.expansion_,
            objects={"support_y": second.support},
        )

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        model = cls(**stored.params)
        model._check_parameters()
        expansion, arrays = stored.expansion, stored.arrays
        others = stored.objects.get("support_y")
        kernel_y = model._second_kernel()
        if expansion is None or not isinstance(others, kernel_y.domain):
            raise ModelFileError("it does not hold both views.")
        n, k = expansion.coefficients.shape
        model.correlations_ = checked_array(arrays, "correlations_", "f", (k,))
        b = checked_array(arrays, "coefficients_y", "f", (n, k))
        c = checked_array(arrays, "intercept_y", "f", (k,))
        if len(others) != n:
            raise ModelFileError("its two views are not of the same number of objects.")
        model.kernel_, model.expansion_ = expansion.kernel, expansion
        # The kernel learns from the same objects as before, so that its state need not be in the file.
        known = kernel_y.is_precomputed
        second = FittedKernel(kernel_y, State({"n_train": np.asarray(n)})) if known else kernel_y.fit(others)
        model.expansion_y_ = Expansion(second, others, b, c)
        model._restore_seen_features(stored.values, arrays)
        return model


def _half(centred: Centred, ridge: float) -> tuple[Float64, Float64, Float64]:
    """sqrt(l / (l + ridge)), sqrt(l (l + ridge)) and eigenvectors, over the eigenvalues that are not zero."""
    values, vectors = scipy.linalg.eigh(centred.dense(), overwrite_a=True)
    kept = values > _NEGLIGIBLE * max(float(values[-1]), np.finfo(float).tiny)
    values, vectors = values[kept], vectors[:, kept]
    return np.sqrt(values / (values + ridge)), np.sqrt(values * (values + ridge)), vectors


def _second_view(y: Any, domain: type[Objects]) -> Any:
    """One number per object is a view of one feature."""
    refuse_masked(y, "y")
    if domain is not Vectors or sp.issparse(y) or hasattr(y, "columns"):
        return y
    rows = np.asarray(y)
    return rows[:, None] if rows.ndim == 1 else rows

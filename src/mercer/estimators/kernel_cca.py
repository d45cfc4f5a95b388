"""Canonical correlation analysis with kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, final

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone

from mercer import _check, _deadline, _speed
from mercer._types import Float64
from mercer.errors import InputError, ModelFileError
from mercer.gram.centring import Centred
from mercer.gram.expansion import Expansion
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects, refuse_masked
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import FittedKernel, State
from mercer.training.eigenvectors import signs_of_columns
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.matrix import guard
from mercer.training.parameters import KernelLike, KernelParameters
from mercer.training.shares import ShareCertificate
from mercer.training.storing import EXPANSION, ArrayField, Field, Parts, ShareField

_NEGLIGIBLE = 1e-10
"""Eigenvalues below this fraction of the largest are rounding errors. A smaller value would amplify noise until it
correlates; a larger one would lose common variation in directions of small variance."""


@final
class SecondViewField(Field):
    """The expansion of the second view, without its kernel, which is a parameter."""

    def write(self, name: str, value: Expansion, parts: Parts) -> None:
        parts.arrays["coefficients_y"], parts.arrays["intercept_y"] = value.coefficients, value.intercept
        parts.objects["support_y"] = value.support

    def read(self, name: str, parts: Parts) -> Expansion:
        kernel, others = parts.estimator._second_kernel(), parts.objects.get("support_y")
        n = parts.sizes["rows"]
        if not isinstance(others, kernel.domain) or len(others) != n:
            raise ModelFileError("it does not hold both views of the same objects.")
        coefficients = parts.array("coefficients_y", "f", "rows", "outputs")
        intercept = parts.array("intercept_y", "f", "outputs")
        # The kernel is fitted to the same objects as before, so its state need not be in the file; of a matrix that is
        # not in the file either, only the size is known.
        known = kernel.is_precomputed
        fitted = FittedKernel(kernel, State({"n_train": np.asarray(n)})) if known else kernel.fit(others)
        return Expansion(fitted, others, coefficients, intercept)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelParameters, KernelEstimator):
    """Canonical correlations with any two kernels: pairs of directions along which two views vary together.

    Maximises cov(f(x), g(y)) subject to var f + alpha |f|^2 = var g + alpha |g|^2 = 1, one pair after another. With
    HKH = U L U' and HMH = V N V' the centred Gram matrices of the two views, the pairs are the singular vectors of
    sqrt(L / (L + n alpha)) U'V sqrt(N / (N + n alpha)). Without the penalty any two views correlate perfectly.

    Parameters
    ----------
    n_components : the number of pairs.
    alpha : the penalty.
    kernel, gamma, degree, coef0, memory, time_limit, psd : as in `SVC`, for the first view.
    kernel_y : the kernel of the second view; None for the same as in the first.

    Attributes
    ----------
    correlations_ : the correlations of the pairs, shrunk by the penalty.
    expansion_y_ : the functions of the second view, as `expansion_` has those of the first.
    certificate_ : the fraction of all correlation that the pairs contain, the largest fraction possible for as many,
        and the residual of the eigenproblem.
    kernel_ : the kernel, fitted to the training objects.
    expansion_ : the fitted function: objects, their coefficients, and intercepts.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> import numpy as np
    >>> from mercer import KernelCCA
    >>> t = np.linspace(0, 3, 60)
    >>> views = np.column_stack([np.cos(t), t**2]), np.column_stack([t, np.ones(60)])
    >>> model = KernelCCA(1, alpha=1e-3).fit(*views)
    >>> bool(model.correlations_[0] > 0.95)
    True
    """

    n_components: int = field(default=2, kw_only=False)
    alpha: float = 0.1
    coef0: float = 1.0
    kernel_y: KernelLike | None = None

    _fields: ClassVar[Mapping[str, Field]] = {
        **EXPANSION,
        "correlations_": ArrayField("f", "outputs"),
        "expansion_y_": SecondViewField(),
        "certificate_": ShareField("correlations"),
    }

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        _check.integer(owner, "n_components", self.n_components, low=1)
        _check.real(owner, "alpha", self.alpha, low=0, low_open=True, high_open=True)

    def fit(self, X: Any, y: Any) -> Self:
        """Find the canonical correlations of two views of the same objects, X and y."""
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        with self._all_or_nothing():
            self._check_parameters()
            fitted, objects, guarded = self._stored_gram(X)
            kernel_y = self._second_kernel()
            others = kernel_y.coerce(_second_view(y, kernel_y.domain))
            if len(others) != len(objects):
                raise InputError(
                    f"Found input variables with inconsistent numbers of samples: [{len(objects)}, {len(others)}]. "
                    "The two views must be of the same objects, in the same order."
                )
            fitted_y = kernel_y.fit(others)
            gram = gram_of(fitted_y, others, memory=self.memory).stored_if_it_fits()  # read more than once
            guarded_y = guard(type(self).__name__, kernel_y, gram, self.psd)
            one, two = Centred.of(guarded.gram.refined()), Centred.of(guarded_y.gram.refined())
            ridge = float(self.alpha) * len(objects)
            left, left_root, U = _half(one, ridge)
            right, right_root, V = _half(two, ridge)
            _deadline.refuse_decomposition(len(objects), _speed.SINGULAR)
            p, correlations, q = scipy.linalg.svd(left[:, None] * (U.T @ V) * right, full_matrices=False)
            k = min(int(self.n_components), len(correlations))
            # var f + alpha |f|^2 = 1: scores have mean square near 1.
            scale = np.sqrt(len(objects))
            a = scale * (U / left_root) @ p[:, :k]
            signs = signs_of_columns(a)
            a, b = a * signs, scale * (V / right_root) @ q[:k].T * signs
            proof = _proof(one, two, a, b, correlations, float(self.alpha))
        self.correlations_ = correlations[:k]
        self.certificate_ = proof
        self.kernel_ = fitted
        self.expansion_ = guarded.centred(fitted, objects, one, a)
        self.expansion_y_ = guarded_y.centred(fitted_y, others, two, b)
        return self

    def _effort(self) -> tuple[float, float]:
        return 2.0, 2.0 * _speed.EIGENVECTORS + _speed.SINGULAR

    def _second_kernel(self) -> Any:
        if self.kernel_y is None:
            return self._kernel()
        return clone(self).set_params(kernel=self.kernel_y)._kernel()

    def transform(self, X: Any, y: Any = None) -> Any:
        """Scores of new objects in the first view; with `y` given, those of the second view as well."""
        first = self._outputs(X)
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


def _half(centred: Centred, ridge: float) -> tuple[Float64, Float64, Float64]:
    """sqrt(l / (l + ridge)), sqrt(l (l + ridge)) and eigenvectors, over the eigenvalues that are not zero."""
    _deadline.refuse_decomposition(centred.gram.shape[0], _speed.EIGENVECTORS)
    values, vectors = scipy.linalg.eigh(centred.dense(), overwrite_a=True)
    kept = values > _NEGLIGIBLE * max(float(values[-1]), np.finfo(float).tiny)
    values, vectors = values[kept], vectors[:, kept]
    return np.sqrt(values / (values + ridge)), np.sqrt(values * (values + ridge)), vectors


def _proof(one: Centred, two: Centred, a: Float64, b: Float64, correlations: Float64, alpha: float) -> ShareCertificate:
    """Certify pairs by how well they solve g = rho (f + n alpha a), with f = HKH a and g = HMH b, and vice versa."""
    n, k = a.shape
    f, g = one.product(a), two.product(b)
    ridge, tiny = n * alpha, np.finfo(float).tiny
    sizes = np.sqrt(np.maximum((f * (f + ridge * a)).sum(axis=0) * (g * (g + ridge * b)).sum(axis=0), tiny))
    rho = (f * g).sum(axis=0) / sizes
    worst = 0.0
    for matrix, seen, other, coefficients in ((one, f, g, a), (two, g, f, b)):
        wanted = correlations[:k] * (seen + ridge * coefficients)
        wrong = other - wanted
        length = np.sqrt(np.maximum((wanted * matrix.product(wanted)).sum(axis=0), tiny))
        missed = np.sqrt(np.maximum((wrong * matrix.product(wrong)).sum(axis=0), 0.0))
        worst = max(worst, float((missed / length).max(initial=0.0)))
    total = float(correlations.sum())
    left = max(total - float(rho.sum()), 0.0)
    least = min(max(total - float(correlations[:k].sum()), 0.0), left)
    return ShareCertificate("correlations", k, left, least, total, worst, "float64")


def _second_view(y: Any, domain: type[Objects]) -> Any:
    """The second view; one number per object counts as one feature."""
    refuse_masked(y, "y")
    if domain is not Vectors or sp.issparse(y) or hasattr(y, "columns"):
        return y
    rows = np.asarray(y)
    return rows[:, None] if rows.ndim == 1 else rows

"""Kernel ridge regression."""

from __future__ import annotations

import time
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.linalg
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer.errors import ModelFileError
from mercer.estimators.certificate import Certificate, smooth_certificate
from mercer.estimators.kernelised import KernelLike
from mercer.estimators.storing import StoredMachine
from mercer.estimators.targets import numbers_of, sample_weights
from mercer.gram.expansion import Expansion
from mercer.gram.matrix import Gram
from mercer.inputs.base import Objects
from mercer.losses.squared import Squared
from mercer.solvers import ridge

Float64 = npt.NDArray[np.float64]

_ZERO = "To interpolate, use a small one such as 1e-10."


class KernelRidge(MultiOutputMixin, RegressorMixin, StoredMachine):
    """Least squares with a kernel: minimises sum_i (y_i - f(x_i))^2 + alpha |w|^2 over f(x) = <w, phi(x)> + c.

    The prediction is also the mean of a Gaussian process with covariance k and noise variance alpha, whose standard
    deviation `predict` returns on request.

    Parameters
    ----------
    alpha : the penalty, one number or one per output.
    kernel, gamma, degree, coef0 : as in `SVC`.
    fit_intercept : whether c is there, unpenalised; scikit-learn's KernelRidge has none.
    memory : memory for the Gram matrix: ``"auto"`` or a number of MiB.

    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> model = KernelRidge(alpha=1e-3, kernel="rbf", gamma=0.5).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 0.01)
    True
    """

    _precision = np.float64
    _stored_arrays: ClassVar[dict[str, str]] = {"_alpha": "f", "_weights": "f"}
    _stored_values: ClassVar[dict[str, type]] = {"_single": bool}

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        kernel: KernelLike = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        fit_intercept: bool = False,
        memory: float | str = "auto",
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.memory = memory

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on objects X with one or several numbers each as targets."""
        began = time.monotonic()
        with self._all_or_nothing():
            kernel = self._kernel(X)
            objects = kernel.coerce(X)
            targets, single = numbers_of(self, y, objects, several=True)
            self._check_features(X, objects, reset=True)
            weights = sample_weights(sample_weight, objects)
            alpha = self._alphas(targets.shape[1])
            fitted = kernel.fit(objects)
            gram = Gram.of(fitted, objects, dtype=np.float64, memory=self.memory)
            found = ridge.solve(gram.exact(), targets, alpha, weights, intercept=bool(self.fit_intercept))
        self.kernel_ = fitted
        self._alpha = alpha
        self._single = single
        self.expansion_ = Expansion(fitted, objects, found.coefficients, found.intercept)
        self._weights = weights
        self.certificate_ = self._certificate(objects, targets, weights, gram, time.monotonic() - began)
        return self

    def _alphas(self, n_outputs: int) -> Float64:
        owner = type(self).__name__
        if np.ndim(self.alpha) == 0:
            value = _check.real(owner, "alpha", self.alpha, low=0, low_open=True, high_open=True, remedy=_ZERO)
            return np.full(n_outputs, value)
        values = np.asarray(self.alpha, dtype=np.float64)
        if values.shape != (n_outputs,) or not np.isfinite(values).all() or (values <= 0).any():
            raise _check.fail(
                owner, "alpha", f"a number > 0, or {n_outputs} of them, one per output", self.alpha, _ZERO
            )
        return values

    def _certificate(
        self, objects: Objects, targets: Float64, weights: Float64, gram: Gram, seconds: float
    ) -> Certificate:
        outputs = gram.matvec(self.expansion_.coefficients)
        parts = []
        for column in range(targets.shape[1]):
            # In the common form C sum_i w_i loss + 1/2 |w|^2, alpha is 1 / C.
            scale = weights / self._alpha[column]
            parts.append(
                smooth_certificate(
                    Squared(), targets[:, column], scale, self.expansion_.coefficients[:, column], outputs[:, column],
                    float(self.expansion_.intercept[column]), iterations=1, dtype="float64",
                )
            )  # fmt: skip
        return Certificate.together(tuple(parts), gram.entries_computed, seconds)

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data, from the fitted expansion alone."""
        check_is_fitted(self)
        began = time.monotonic()
        objects = self.kernel_.kernel.coerce(X)
        targets, _ = numbers_of(self, y, objects, several=True)
        gram = Gram.of(self.kernel_, objects, self.expansion_.support, dtype=np.float64)
        weights = sample_weights(sample_weight, objects)
        return self._certificate(objects, targets, weights, gram, time.monotonic() - began)

    @property
    def dual_coef_(self) -> Float64:
        """Coefficients of training objects, one column per output."""
        check_is_fitted(self)
        return self.expansion_.coefficients[:, 0] if self._single else self.expansion_.coefficients

    @property
    def intercept_(self) -> Any:
        """The constant of each output."""
        check_is_fitted(self)
        return self.expansion_.intercept[0] if self._single else self.expansion_.intercept

    def _refuse_inconsistent(self) -> None:
        rows, outputs = self.expansion_.coefficients.shape
        if self._alpha.shape != (outputs,) or self._weights.shape != (rows,) or (self._single and outputs != 1):
            raise ModelFileError("penalties, weights and coefficients do not fit together.")

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predicted numbers; with `return_std` also the standard deviation of the Gaussian process, without noise."""
        check_is_fitted(self)
        objects = self._new_objects(X, self.kernel_)
        values = self.expansion_(objects)
        mean = values[:, 0] if self._single else values
        return (mean, self._deviation(objects)) if return_std else mean

    def _deviation(self, objects: Objects) -> Float64:
        """sqrt(k(x, x) - k_x' (K + alpha W^-1)^-1 k_x), for each output."""
        training = self.expansion_.support
        K = Gram.of(self.kernel_, training, dtype=np.float64, memory=self.memory).dense()
        across = Gram.of(self.kernel_, objects, training, dtype=np.float64, memory=self.memory).dense()
        prior = self.kernel_.diagonal(self.kernel_.features(objects))
        deviations = np.empty((len(objects), len(self._alpha)))
        for value in np.unique(self._alpha):
            system = K + np.diag(value / np.maximum(self._weights, np.finfo(float).tiny))
            half = scipy.linalg.solve_triangular(scipy.linalg.cholesky(system, lower=True), across.T, lower=True)
            explained = np.square(half).sum(axis=0)
            deviations[:, self._alpha == value] = np.sqrt(np.maximum(prior - explained, 0.0))[:, None]
        return deviations[:, 0] if self._single else deviations

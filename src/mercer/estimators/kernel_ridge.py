"""Kernel ridge regression."""

from __future__ import annotations

import time
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer._types import Float64
from mercer.errors import KernelError, ModelFileError
from mercer.inputs.base import Objects
from mercer.training.certificate import Certificate
from mercer.training.deviation import Process, process_of
from mercer.training.kernelised import KernelLike
from mercer.training.ridge_machine import RidgeMachine
from mercer.training.targets import numbers_of, sample_weights


class KernelRidge(MultiOutputMixin, RegressorMixin, RidgeMachine):
    """Least squares with a kernel: minimises sum_i (y_i - f(x_i))^2 + alpha |w|^2 over f(x) = <w, phi(x)> + c.

    The prediction is also the mean of a Gaussian process with covariance k and noise variance alpha, whose standard
    deviation `predict` returns on request. Where the features of the kernel can be written down and are fewer than the
    training objects, that takes memory for objects times features; else for the Gram matrix.

    Parameters
    ----------
    alpha : the penalty, one number or one per output.
    kernel, gamma, degree, coef0 : as in `SVC`.
    fit_intercept : whether c is there, unpenalised; scikit-learn's KernelRidge has none.
    memory : memory for the Gram matrix: ``"auto"`` or a number of MiB.
    psd : what to do if the kernel turns out not to be positive semi-definite, as in `SVC`.
    dual : whether to solve for the coefficients of objects (True) or for the weights of features (False), as in
        `KernelMachineClassifier`.

    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> model = KernelRidge(alpha=1e-3, kernel="rbf", gamma=0.5).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 0.01)
    True
    """

    _stored_values: ClassVar[dict[str, type]] = {"_single": bool}
    _process: Process | None = None
    """What standard deviations are computed from, once somebody asked, where it is small."""

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
        psd: str = "warn",
        dual: bool | str = "auto",
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.memory = memory
        self.psd = psd
        self.dual = dual

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
            self._fit_columns(kernel, objects, targets, weights, alpha, began)
            self._single = single
        return self

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data, from the fitted expansion alone."""
        check_is_fitted(self)
        began = time.monotonic()
        objects = self.kernel_.kernel.coerce(X)
        targets, _ = numbers_of(self, y, objects, several=True)
        return self._verified(objects, targets, sample_weights(sample_weight, objects), began)

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
        super()._refuse_inconsistent()
        if self._single and self.expansion_.coefficients.shape[1] != 1:
            raise ModelFileError("there are several outputs where there should be one.")

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predicted numbers; with `return_std` also the standard deviation of the Gaussian process, without noise.

        The intercept counts as known. Weights divide the noise: an object of weight 2 has noise variance alpha / 2.
        """
        check_is_fitted(self)
        objects = self._new_objects(X, self.kernel_)
        values = self.expansion_(objects)
        mean = values[:, 0] if self._single else values
        return (mean, self._deviation(objects)) if return_std else mean

    def _deviation(self, objects: Objects) -> Float64:
        """sqrt(k(x, x) - k_x' (K + alpha W^-1)^-1 k_x), for each output."""
        if self._repair is not None:
            raise KernelError(
                "There is no Gaussian process whose covariance is not positive semi-definite, so that it has no "
                "standard deviation either: this Gram matrix was repaired. Use a kernel that needs no repair."
            )
        process = self._process
        if process is None or process.expansion is not self.expansion_:
            process = process_of(self.expansion_, self._weights, self._alpha, self.memory)
            self._process = process if process.small else None
        deviations = np.sqrt(process.variances(objects, self._alpha))
        return deviations[:, 0] if self._single else deviations

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_process"}  # it is made again

"""Kernel ridge regression."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer._types import Float64
from mercer.errors import KernelError, ModelFileError
from mercer.gram.contract import Gram
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel
from mercer.training.certificate import Certificate
from mercer.training.choices import Dual, Gamma
from mercer.training.deviation import Process, process_of
from mercer.training.explanation import By, Explanation, explanations
from mercer.training.full_kernel import Claim
from mercer.training.kernel_estimator import KernelEstimator
from mercer.training.matrix import GramSettings, Recomputed
from mercer.training.parameters import KernelLike, KernelParameters
from mercer.training.ridge import RidgeProblem, certify_ridge, checked_alpha, fit_ridge, ridge_claims, zero_weights
from mercer.training.storing import MACHINE, ArrayField, Field, ValueField
from mercer.training.targets import numbers_of, sample_weights

Known = tuple[FittedKernel, Objects, Gram]
"""The fitted kernel, the parsed objects, and the training matrix, if they already exist."""


@dataclass(kw_only=True, eq=False, repr=False)
class KernelRidge(MultiOutputMixin, RegressorMixin, KernelParameters, KernelEstimator):
    """Least squares with a kernel: minimises sum_i (y_i - f(x_i))^2 + alpha |w|^2 over f(x) = <w, phi(x)> + c.

    The prediction is also the mean of a Gaussian process with covariance k and noise variance alpha, whose standard
    deviation `predict` returns on request. If the kernel has explicit features, and fewer of them than training
    objects, that takes memory for objects times features; otherwise for the Gram matrix.

    Parameters
    ----------
    alpha : the penalty, one number or one per output.
    kernel, degree, coef0 : as in `SVC`; ``"polynomial"``, ``"laplacian"``, ``"chi2"`` and ``"cosine"`` are also names
        of kernels.
    gamma : as in `SVC`; None, as in scikit-learn, means 1 / (number of features), and 1 for ``"chi2"``.
    fit_intercept : whether to fit an unpenalised c; scikit-learn's KernelRidge has none.
    memory : memory for the Gram matrix: ``"auto"`` or a number of MiB.
    time_limit : seconds for the whole fit; one that would take longer raises an error, since a partial fit is useless.
    psd : what to do if the kernel turns out not to be positive semi-definite, as in `SVC`.
    dual : whether to solve for the coefficients of objects (True) or for the weights of features (False), as in
        `KernelMachineClassifier`.

    Attributes
    ----------
    dual_coef_ : the coefficients of the training objects, one column per target.
    intercept_ : the constant of each target.
    kernel_ : the kernel, fitted to the training objects.
    expansion_ : the fitted function: objects, their coefficients, and intercepts.
    certificate_ : how close the machine is to the optimum: numbers that print as sentences.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> model = KernelRidge(alpha=1e-3, kernel="rbf", gamma=0.5).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 0.01)
    True
    """

    alpha: Any = field(default=1.0, kw_only=False)
    kernel: KernelLike = "linear"
    gamma: Gamma = None
    coef0: float = 1.0
    fit_intercept: bool = False
    dual: Dual = "auto"

    _precision = np.float64
    _fields: ClassVar[Mapping[str, Field]] = {
        **MACHINE,
        "_alpha": ArrayField("f", "outputs"),
        "_weights": ArrayField("f", "rows"),
        "_single": ValueField(bool),
    }
    _process = cast("Process | None", None)
    """What standard deviations are computed from; kept after first use if it is small."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on objects X with one or several numbers each as targets; blocks (`mercer.blocks`) have their own."""
        return self._fit(X, y, sample_weight, self.alpha)

    def _fit(self, X: Any, y: Any, sample_weight: Any, alpha: Any, known: Known | None = None) -> Self:
        began = time.monotonic()
        with self._all_or_nothing():
            owner = type(self).__name__
            kernel = self._kernel(X)
            objects = kernel.coerce(X) if known is None else known[1]
            targets, single = numbers_of(self, y, objects, several=True)
            self._check_features(X, objects, reset=True)
            weights = sample_weights(sample_weight, objects)
            alphas = checked_alpha(owner, alpha, targets.shape[1])
            fitted, gram = (self._fit_kernel(kernel, objects, weights), None) if known is None else known[::2]
            settings = GramSettings(owner, self.dual, self.memory, self.psd, self._precision)
            problem = RidgeProblem(targets, weights, alphas, bool(self.fit_intercept))
            found = fit_ridge(problem, settings, fitted, objects, self._limits(), began, gram)
        self.kernel_, self._alpha, self._single = fitted, alphas, single
        self.expansion_, self._repair, prove = found
        self._weights = weights if len(self.expansion_.support) == len(weights) else zero_weights(self.expansion_)
        self._certify_later(prove)
        return self

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data, from the fitted expansion alone."""
        check_is_fitted(self)
        began = time.monotonic()
        objects = self.kernel_.kernel.coerce(X)
        targets, _ = numbers_of(self, y, objects, several=True)
        weights = sample_weights(sample_weight, objects)
        problem = RidgeProblem(targets, weights, self._alpha, bool(self.fit_intercept))
        found = Recomputed.of(self.expansion_, self._repair, slice(None), objects)
        return certify_ridge(problem, found, self.expansion_.intercept, time.monotonic() - began)

    def _claims(self, objects: Objects, y: Any, sample_weight: Any) -> list[Claim]:
        targets, _ = numbers_of(self, y, objects, several=True)
        weights = sample_weights(sample_weight, objects)
        return ridge_claims(RidgeProblem(targets, weights, self._alpha, bool(self.fit_intercept)))

    def explain(self, X: Any, by: By = "auto") -> list[Explanation]:
        """What every part of each object adds to its prediction, as in `SVC`."""
        return explanations(*self._machine_and_objects(X), by=by, support=getattr(self, "support_", None))

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

    def _restored(self) -> None:
        if self._single and self.expansion_.coefficients.shape[1] != 1:
            raise ModelFileError("there are several outputs where there should be one.")

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predicted numbers; with `return_std` also the standard deviation of the Gaussian process, without noise.

        The intercept is treated as known. Weights divide the noise: an object of weight 2 has noise variance alpha / 2.
        """
        objects = self._new_objects(X)
        values = self.expansion_(objects, self._gram_dtype())
        mean = values[:, 0] if self._single else values
        return (mean, self._deviation(objects)) if return_std else mean

    def _deviation(self, objects: Objects) -> Float64:
        """sqrt(k(x, x) - k_x' (K + alpha W^-1)^-1 k_x), for each output."""
        if not self._weights.any():
            raise KernelError(
                "Standard deviations need the training objects, and a machine that was trained from blocks does not "
                "keep them. Train on a part of the objects in memory."
            )
        if self._repair is not None:
            raise KernelError(
                "A Gaussian process needs a positive semi-definite covariance, but this Gram matrix was repaired, so "
                "there is no standard deviation. Use a kernel that needs no repair."
            )
        process = self._process
        if process is None or process.expansion is not self.expansion_:
            process = process_of(self.expansion_, self._weights, self._alpha, self.memory)
            self._process = process if process.small else None
        deviations = np.sqrt(process.variances(objects, self._alpha))
        return deviations[:, 0] if self._single else deviations

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_process"}  # recomputed

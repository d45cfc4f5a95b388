"""Logistic regression with a kernel."""

from __future__ import annotations

from typing import Any

from mercer._types import Float64
from mercer.estimators.kernel_machine_classifier import KernelMachineClassifier
from mercer.losses.base import Loss
from mercer.losses.logistic import Logistic
from mercer.losses.multinomial import Multinomial
from mercer.training.kernel_estimator import KernelLike
from mercer.training.probabilities import log_probabilities, probabilities


class KernelLogisticRegression(KernelMachineClassifier):
    """Logistic regression with any kernel: decision values are log odds, so probabilities come for free.

    Minimises 1/2 |w|^2 + C sum_i -log P(y_i | x_i), with P = 1 / (1 + exp(-y f)) for two classes and softmax(f) for
    more, all classes in one machine.

    Parameters as in `KernelMachineClassifier`, without `loss`.

    >>> from mercer import KernelLogisticRegression, kernels
    >>> model = KernelLogisticRegression(kernel=kernels.Spectrum(2), C=10.0)
    >>> model.fit(["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0]).predict_proba(["gatta"]).round(1)
    array([[0.1, 0.9]])
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = -1,
        time_limit: float | None = None,
        memory: float | str = "auto",
        psd: str = "warn",
        dual: bool | str = "auto",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory = memory
        self.psd = psd
        self.dual = dual

    def _loss(self, n_classes: int) -> Loss:
        return Logistic() if n_classes == 2 else Multinomial()

    def predict_proba(self, X: Any) -> Float64:
        """The probability of each class, one column each, in the order of `classes_`."""
        return probabilities(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Float64:
        """Logarithms of `predict_proba`, without underflow."""
        return log_probabilities(self.decision_function(X))

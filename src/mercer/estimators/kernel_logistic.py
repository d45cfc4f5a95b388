"""Logistic regression with a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mercer._types import Float64
from mercer.estimators.kernel_machine_classifier import KernelMachineClassifier
from mercer.losses.base import Loss
from mercer.losses.logistic import Logistic
from mercer.losses.multinomial import Multinomial
from mercer.training.probabilities import log_probabilities, probabilities


@dataclass(kw_only=True, eq=False, repr=False)
class KernelLogisticRegression(KernelMachineClassifier):
    """Logistic regression with any kernel: decision values are log odds, so probabilities need no calibration.

    Minimises 1/2 |w|^2 + C sum_i -log P(y_i | x_i), with P = 1 / (1 + exp(-y f)) for two classes and softmax(f) for
    more, all classes in one machine.

    Parameters
    ----------
    C, class_weight, fit_intercept, kernel, gamma, degree, coef0, memory, psd, tol, max_iter, time_limit, dual, dtype :
        as in `KernelMachineClassifier`.

    Attributes
    ----------
    classes_, loss_, support_, dual_coef_, intercept_, n_iter_, kernel_, expansion_, certificate_ : as in
        `KernelMachineClassifier`.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import KernelLogisticRegression, kernels
    >>> model = KernelLogisticRegression(kernel=kernels.Spectrum(2), C=10.0)
    >>> model.fit(["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0]).predict_proba(["gatta"]).round(1)
    array([[0.1, 0.9]])
    """

    tol: float = 1e-4
    loss: ClassVar[Any] = None  # type: ignore[misc]  # not a parameter here

    def _loss(self, n_classes: int) -> Loss:
        return Logistic() if n_classes == 2 else Multinomial()

    def predict_proba(self, X: Any) -> Float64:
        """The probability of each class, one column each, in the order of `classes_`."""
        return probabilities(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Float64:
        """Logarithms of `predict_proba`, without underflow."""
        return log_probabilities(self.decision_function(X))

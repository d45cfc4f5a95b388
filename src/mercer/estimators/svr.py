"""Support vector regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mercer import _check
from mercer.estimators.kernel_machine_regressor import KernelMachineRegressor
from mercer.losses.base import Loss
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.training.kernel_estimator import LibsvmParameters


@dataclass(kw_only=True, eq=False, repr=False)
class SVR(LibsvmParameters, KernelMachineRegressor):
    """Support vector regression with any kernel: minimises 1/2 |w|^2 + C sum_i max(0, |y_i - f(x_i)| - epsilon).

    A drop-in for scikit-learn's SVR, with the same attributes.

    Parameters
    ----------
    epsilon : half the width of the tube in which errors cost nothing.
    shrinking, verbose : accepted for scikit-learn's sake; the solver and the terminal decide by themselves.
    cache_size : memory for stored kernel values in MiB; ``None`` means what `memory` says.
    kernel, degree, gamma, coef0, tol, C, max_iter, time_limit, fit_intercept, memory, psd, dual : as in
        `SVC`.

    >>> import numpy as np
    >>> from mercer import SVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = SVR(C=10.0, gamma=0.5).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[3.0]])[0] - np.sin(3.0)) < 0.11)
    True
    """

    epsilon: float = 0.1
    loss: ClassVar[Any] = None  # type: ignore[misc]  # not a parameter here

    def _loss(self) -> Loss:
        return EpsilonInsensitive(_check.real("SVR", "epsilon", self.epsilon, low=0, high_open=True))

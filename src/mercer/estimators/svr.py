"""Support vector regression."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.errors import InputError
from mercer.estimators.kernel_machine_regressor import KernelMachineRegressor
from mercer.gram.contract import Gram
from mercer.gram.expansion import Expansion
from mercer.losses.base import Loss
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.training.certificate import certify
from mercer.training.parameters import LibsvmParameters
from mercer.training.tasks import Solve
from mercer.training.train import Machine

_BEYOND = 1e10
"""Times the largest target, a value that no coefficient of a function within the tube reaches. A larger coefficient
means that the targets cannot be met, and would grow without bound."""


def _least_penalty(coefficients: Float64) -> float:
    """A finite penalty with the same solution as C = inf, since no coefficient reaches it."""
    return 2.0 * max(float(np.abs(coefficients).max(initial=0.0)), 1.0)


@dataclass(kw_only=True, eq=False, repr=False)
class SVR(LibsvmParameters, KernelMachineRegressor):
    """Support vector regression with any kernel: minimises 1/2 |w|^2 + C sum_i max(0, |y_i - f(x_i)| - epsilon).

    A drop-in for scikit-learn's SVR, with the same attributes.

    Parameters
    ----------
    C : the penalty on errors, in (0, inf]; ``inf`` asks for a function that stays within the tube everywhere.
    epsilon : half the width of the tube in which errors cost nothing.
    shrinking, verbose : accepted for compatibility with scikit-learn, and ignored.
    cache_size : memory for stored kernel values in MiB; ``None`` to use `memory`.
    kernel, degree, gamma, coef0, tol, max_iter, time_limit, fit_intercept, memory, psd, dual, dtype : as in `SVC`.

    Attributes
    ----------
    loss_ : the epsilon-insensitive loss, as an object.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, kernel_, expansion_, certificate_ :
        as in `KernelMachineRegressor`.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> import numpy as np
    >>> from mercer import SVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = SVR(C=10.0, gamma=0.5).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[3.0]])[0] - np.sin(3.0)) < 0.11)
    True
    """

    epsilon: float = 0.1
    loss: ClassVar[Any] = None  # type: ignore[misc]  # not a parameter here

    def _check_penalty(self) -> None:
        _check.real(type(self).__name__, "C", self.C, low=0, low_open=True)

    def _penalties(self, y: Float64, weights: Float64, found: Expansion | None) -> Float64:
        if math.isfinite(self.C):
            return super()._penalties(y, weights, found)
        if found is None:
            return np.where(weights > 0, _BEYOND * max(1.0, float(np.abs(y).max())), 0.0)
        return np.where(weights > 0, _least_penalty(found.coefficients), 0.0)

    def _solver(self, limits: Limits) -> Solve:
        solve = super()._solver(limits)
        if math.isfinite(self.C):
            return solve

        def within_tube(gram: Gram, problem: LossProblem, on_chunk: OnChunk) -> Machine:
            machine = solve(gram, problem, on_chunk)
            if float(np.abs(machine.coefficients).max(initial=0.0)) >= 0.5 * float(problem.C.max()):
                raise InputError(
                    f"No function of this kernel stays within epsilon={self.epsilon:g} of every target, which C=inf "
                    "asks for (the same object with two targets, for example). Raise epsilon, or lower C."
                )
            outputs = gram.matvec(machine.coefficients)
            least = replace(problem, C=np.full(len(problem.C), _least_penalty(machine.coefficients)))
            prove = partial(
                certify, least, machine.coefficients, outputs, machine.intercept,
                iterations=machine.iterations, dtype=np.dtype(gram.dtype).name,
            )  # fmt: skip
            return replace(machine, prove=prove)

        return within_tube

    def _loss(self) -> Loss:
        return EpsilonInsensitive(_check.real("SVR", "epsilon", self.epsilon, low=0, high_open=True))

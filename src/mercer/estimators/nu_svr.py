"""Support vector regression by the fraction of errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mercer import _check
from mercer.estimators.kernel_machine_regressor import KernelMachineRegressor
from mercer.gram.contract import Gram
from mercer.losses.base import Loss
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.training.nu import train_nu_regressor
from mercer.training.parameters import LibsvmParameters
from mercer.training.storing import Field, ValueField, not_negative
from mercer.training.tasks import Solve
from mercer.training.train import Machine


@dataclass(kw_only=True, eq=False, repr=False)
class NuSVR(LibsvmParameters, KernelMachineRegressor):
    """Support vector regression that finds the width of its tube: nu bounds the fraction of objects outside it.

    Minimises 1/2 |w|^2 + C (nu n epsilon + sum_i max(0, |y_i - f(x_i)| - epsilon)) over f and epsilon. At most a
    fraction nu of the objects is outside the tube, and at least that fraction are support objects. A drop-in for
    scikit-learn's NuSVR, with the same attributes.

    Parameters
    ----------
    nu : the fraction of objects that may be outside the tube, in (0, 1].
    C : the penalty.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, time_limit, memory, psd, dtype : as in
        `SVR`.
    dual : as in `NuSVC`.

    Attributes
    ----------
    epsilon_ : half the width of the tube that was found.
    loss_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, kernel_, expansion_,
        certificate_ : as in `SVR`.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> import numpy as np
    >>> from mercer import NuSVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = NuSVR(nu=0.3, C=10.0, gamma=0.5).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[3.0]])[0] - np.sin(3.0)) < 0.05)
    True
    """

    nu: float = 0.5
    loss: ClassVar[Any] = None  # type: ignore[misc]  # not a parameter here
    fit_intercept: ClassVar[bool] = True  # type: ignore[misc]  # always: the tube lies around it

    _nu_form = True
    _fields: ClassVar[Mapping[str, Field]] = {
        **KernelMachineRegressor._fields,
        "epsilon_": ValueField(float, not_negative),
    }

    def _loss(self) -> Loss:
        _check.real("NuSVR", "nu", self.nu, low=0, high=1, low_open=True)
        return EpsilonInsensitive(vars(self).get("epsilon_", 0.0))

    def _solver(self, limits: Limits) -> Solve:
        def solve(gram: Gram, problem: LossProblem, on_chunk: OnChunk) -> Machine:
            machine, self.epsilon_ = train_nu_regressor(
                gram, problem.y, problem.C, float(self.nu), tol=float(self.tol), limits=limits, on_chunk=on_chunk
            )
            return machine

        return solve

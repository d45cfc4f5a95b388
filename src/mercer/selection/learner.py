"""Which machine learns a task, with a kernel and a penalty that are still open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier

from mercer._types import Indices
from mercer.estimators.kernel_quantile import KernelQuantileRegressor
from mercer.estimators.kernel_ridge import KernelRidge
from mercer.estimators.svc import SVC
from mercer.estimators.svr import SVR
from mercer.gram import budget
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.kernels.base import Kernel

LARGEST_RIDGE = 10_000
"""Up to this many objects, numbers are learnt by least squares, whose time grows with the cube of their number. More
objects are learnt by support vector regression."""
PENALTIES = (0.1, 1.0, 10.0, 100.0)
"""Values of C to try, for kernels whose mean diagonal is 1. A finer or wider grid costs one more machine per fold and
value."""
RIDGES = (10.0, 1.0, 0.1, 0.01, 0.001)
"""Values of alpha to try, likewise; the system is factored again for each of them."""
_MATRICES = 4
"""How many n x n matrices least squares keeps in memory: values, system, a copy of it, and its factor."""
_TUBE, _TOLERANCE = 0.1, 0.01
"""The epsilon of support vector regression, and its tolerance, in standard deviations of y: a wider tube keeps fewer
support vectors and loses detail; the tolerance is a tenth of it, below what the tube ignores anyway."""
_MOST_STEPS = 100_000
"""The most steps of a machine in the search: a setting that is so hard to train is rarely best, and one hard fold
should not hold up the others. Machines that converge usually need far fewer steps."""
_SAMPLE = 200
"""How many objects the scale of a kernel is measured on: enough to know it within a few per cent, which suffices for a
grid in steps of 10."""


@final
@dataclass(frozen=True, eq=False)
class Learner:
    """A machine without a kernel and a penalty."""

    template: Any
    unit: float = 1.0
    """The unit of C: the standard deviation of the targets of a support vector regression."""
    in_search: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of machines that are trained only to be compared."""

    @classmethod
    def for_task(
        cls, task: str, y: npt.NDArray[Any], *, balanced: bool = False, quantile: float | None = None
    ) -> Learner:
        """An SVC for classes; for numbers KernelRidge, or SVR if there are too many to solve least squares directly.

        With a `quantile`, a machine for quantiles learns it instead of the mean.
        """
        limits = {"psd": "ignore", "max_iter": _MOST_STEPS}
        if task == "classification":
            return cls(SVC(class_weight="balanced" if balanced else None), in_search=limits)
        if quantile is not None:
            unit = rounded(float(np.std(y))) or 1.0
            machine = KernelQuantileRegressor(quantile, tol=rounded(_TOLERANCE * unit))
            return cls(machine, unit, limits)
        if len(y) <= LARGEST_RIDGE and budget.holds("auto", _MATRICES * 8 * len(y) ** 2):
            return cls(KernelRidge(fit_intercept=True), in_search={"psd": "ignore"})
        unit = rounded(float(np.std(y))) or 1.0
        return cls(SVR(epsilon=rounded(_TUBE * unit), tol=rounded(_TOLERANCE * unit)), unit, limits)

    @property
    def task(self) -> str:
        return "classification" if is_classifier(self.template) else "regression"

    @property
    def penalty(self) -> str:
        """The name of its penalty; empty if it has none."""
        known = self.template.get_params(deep=False)
        return next((name for name in ("C", "alpha") if name in known), "")

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods whose values are kept for held-out objects."""
        return ("predict", "decision_function") if hasattr(self.template, "decision_function") else ("predict",)

    @property
    def grid(self) -> tuple[float, ...]:
        """The penalties to try with a kernel whose mean diagonal is 1."""
        return {"C": PENALTIES, "alpha": RIDGES, "": (1.0,)}[self.penalty]

    def penalties(self, kernel: Kernel, objects: Any) -> tuple[float, ...]:
        """The penalties to try with any kernel, scaled by its mean diagonal."""
        scale = typical_scale(kernel, objects)
        ridge = self.penalty == "alpha"
        return tuple(rounded(value * scale if ridge else value / scale * self.unit) for value in self.grid)

    def compared(self, kernel: Kernel) -> Any:
        """The machine that kernels are compared with."""
        return clone(self.template).set_params(kernel=kernel, **self.in_search)

    def trained(self, kernel: Kernel, penalty: float, time_limit: float | None = None) -> Any:
        """The machine that is trained on all objects."""
        machine = clone(self.template).set_params(kernel=kernel, **{self.penalty: penalty})
        return machine.set_params(time_limit=time_limit) if hasattr(machine, "time_limit") else machine


def typical_scale(kernel: Kernel, objects: Any) -> float:
    """The mean of k(x, x) on a sample of the objects; 1 if it is zero or not finite."""
    some = kernel.coerce(objects)
    if not isinstance(some, GramRows):
        some = some.take(evenly_spread(len(some), _SAMPLE))
    scale = mean_diagonal(kernel, some)
    return scale if np.isfinite(scale) and scale > 0 else 1.0


def mean_diagonal(kernel: Kernel, objects: Objects) -> float:
    """The mean of k(x, x) over these objects, which the kernel is also fitted on."""
    fitted = kernel.fit(objects)
    return float(fitted.diagonal(fitted.features(objects)).mean())


def evenly_spread(n: int, most: int) -> Indices:
    """At most `most` of the numbers from 0 to n - 1, the first and the last among them."""
    return np.unique(np.linspace(0, n - 1, most).astype(np.intp))


def has_converged(estimator: Any) -> bool:
    """Whether training ended by itself, in every cell if there are several."""
    if hasattr(estimator, "centres_"):
        return all(machine is None or has_converged(machine) for machine in estimator.estimators_)
    if hasattr(estimator, "fit_status_"):
        return bool(estimator.fit_status_ == 0)
    # A solver that met its tolerance may exceed it slightly when the certificate recomputes everything in float64.
    return not hasattr(estimator, "tol") or estimator.certificate_.kkt_violation <= 1.01 * estimator.tol


def rounded(value: float) -> float:
    """Three digits: readable, and the same on every machine."""
    return float(f"{value:.3g}")

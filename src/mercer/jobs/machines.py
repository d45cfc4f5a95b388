"""Which machine learns a task, in the search for its kernel and penalty as on all objects at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.estimators.kernel_ridge import KernelRidge
from mercer.estimators.svc import SVC
from mercer.estimators.svr import SVR
from mercer.gram import budget
from mercer.kernels.base import Kernel

DIRECTLY = 10_000
"""Up to so many objects least squares is solved directly; the time it takes grows with the third power of them."""
PENALTIES = (0.1, 1.0, 10.0, 100.0)
RIDGES = (10.0, 1.0, 0.1, 0.01, 0.001)
_MATRICES = 4
"""That are in memory at once while least squares is solved: values, system, a copy of it, and its factor."""
_TUBE, _TOLERANCE = 0.1, 0.01
"""How far off a support vector regression may be for nothing, and its tolerance, in standard deviations of y."""
_STEPS = 100_000


@final
@dataclass(frozen=True)
class Learner:
    """A machine whose kernel and penalty are still open: SVC, KernelRidge, or SVR with the deviation of its targets."""

    task: str
    balanced: bool = False
    deviation: float | None = None

    @classmethod
    def of(cls, task: str, y: npt.NDArray[Any], balanced: bool = False) -> Learner:
        """Support vectors for classes; least squares for numbers, as long as they can be solved directly."""
        direct = len(y) <= DIRECTLY and _MATRICES * 8 * len(y) ** 2 <= budget.stored_bytes("auto")
        if task == "classification" or direct:
            return cls(task, balanced)
        return cls(task, deviation=_rounded(float(np.std(y))) or 1.0)

    @property
    def name(self) -> str:
        return "SVC" if self.task == "classification" else "KernelRidge" if self.deviation is None else "SVR"

    @property
    def penalty(self) -> str:
        """What its penalty is called."""
        return "alpha" if self.name == "KernelRidge" else "C"

    @property
    def methods(self) -> tuple[str, ...]:
        """What is kept of objects that were held out."""
        return ("predict", "decision_function") if self.name == "SVC" else ("predict",)

    def grid(self, given: float | None) -> tuple[float, ...]:
        """What is tried with every kernel; a penalty that is given is tried alone."""
        return (RIDGES if self.name == "KernelRidge" else PENALTIES) if given is None else (given,)

    def amount(self, value: float, diagonal: float) -> float:
        """A penalty of the grid, which is for kernels of about 1 on the diagonal and targets of deviation 1."""
        scaled = value * diagonal if self.name == "KernelRidge" else value / diagonal * (self.deviation or 1.0)
        return _rounded(scaled)

    def tried(self, kernel: Kernel) -> Any:
        """The machine of the search, where kernels are judged by predictions, and one hard fold is no disaster."""
        limits = {} if self.name == "KernelRidge" else {"max_iter": _STEPS}
        return self._made(kernel, psd="ignore", **limits)

    def trained(self, kernel: Kernel, penalty: float, time_limit: float | None = None) -> Any:
        """The machine that is trained on everything."""
        limits = {} if self.name == "KernelRidge" else {"time_limit": time_limit}
        return self._made(kernel, **{self.penalty: penalty}, **limits)

    def _made(self, kernel: Kernel, **options: Any) -> Any:
        if self.name == "SVC":
            return SVC(kernel=kernel, class_weight="balanced" if self.balanced else None, **options)
        if self.deviation is None:
            return KernelRidge(kernel=kernel, fit_intercept=True, **options)
        tube, tol = _rounded(_TUBE * self.deviation), _rounded(_TOLERANCE * self.deviation)
        return SVR(kernel=kernel, epsilon=tube, tol=tol, **options)


def has_converged(estimator: Any) -> bool:
    """Whether training ended by itself."""
    if hasattr(estimator, "fit_status_"):
        return bool(estimator.fit_status_ == 0)
    return not hasattr(estimator, "tol") or estimator.certificate_.kkt_violation <= 1.01 * estimator.tol


def _rounded(value: float) -> float:
    """Three digits: what people can read, the same on every machine."""
    return float(f"{value:.3g}")

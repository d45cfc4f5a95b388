"""The parameters that estimators share, as fields of dataclasses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from mercer.kernels.base import Kernel
from mercer.training.choices import Dual, Gamma, Memory, Precision, Psd

KernelLike = str | Kernel | Callable[[Any, Any], Any]


@dataclass(kw_only=True, eq=False, repr=False)
class KernelParameters:
    """The parameters of every kernel estimator."""

    kernel: KernelLike = "rbf"
    degree: int = 3
    gamma: Gamma = "scale"
    coef0: float = 0.0
    memory: Memory = "auto"
    time_limit: float | None = None
    psd: Psd = "warn"


@dataclass(kw_only=True, eq=False, repr=False)
class MachineParameters(KernelParameters):
    """Parameters of estimators with an iterative solver."""

    tol: float = 1e-3
    max_iter: int = -1
    dual: Dual = "auto"
    dtype: Precision = "auto"


@dataclass(kw_only=True, eq=False, repr=False)
class LibsvmParameters(MachineParameters):
    """Additional parameters of scikit-learn's estimators of the same name."""

    shrinking: bool = True
    cache_size: float | None = None
    verbose: bool = False

    _dense_stays_dense: ClassVar[bool] = True
    _weighs_kernel: ClassVar[bool] = False
    """gamma="scale" ignores sample weights, as theirs does."""

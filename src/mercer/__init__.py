"""Kernel machines for any data.

Every learner works with every kernel, on vectors, strings, and tables that mix them. Names are loaded on first use, so
that importing Mercer costs nothing until something is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mercer._version import __version__ as __version__

if TYPE_CHECKING:
    from mercer import kernels as kernels
    from mercer.estimators.gradient_machine import GradientKernelMachine as GradientKernelMachine
    from mercer.estimators.kernel_logistic import KernelLogisticRegression as KernelLogisticRegression
    from mercer.estimators.kernel_ridge import KernelRidge as KernelRidge
    from mercer.estimators.kernel_ridge_cv import KernelRidgeCV as KernelRidgeCV
    from mercer.estimators.machine_classifier import KernelMachineClassifier as KernelMachineClassifier
    from mercer.estimators.machine_regressor import KernelMachineRegressor as KernelMachineRegressor
    from mercer.estimators.perceptron import KernelPerceptron as KernelPerceptron
    from mercer.estimators.perceptron import PrimalPerceptron as PrimalPerceptron
    from mercer.estimators.subgradient_svm import SubgradientSVM as SubgradientSVM
    from mercer.estimators.svc import SVC as SVC
    from mercer.estimators.svr import SVR as SVR
    from mercer.storage import load as load
    from mercer.storage import save as save

_HOMES = {
    "KernelRidge": "mercer.estimators.kernel_ridge",
    "KernelRidgeCV": "mercer.estimators.kernel_ridge_cv",
    "KernelLogisticRegression": "mercer.estimators.kernel_logistic",
    "KernelMachineClassifier": "mercer.estimators.machine_classifier",
    "KernelMachineRegressor": "mercer.estimators.machine_regressor",
    "SVC": "mercer.estimators.svc",
    "SVR": "mercer.estimators.svr",
    "GradientKernelMachine": "mercer.estimators.gradient_machine",
    "KernelPerceptron": "mercer.estimators.perceptron",
    "PrimalPerceptron": "mercer.estimators.perceptron",
    "SubgradientSVM": "mercer.estimators.subgradient_svm",
    "load": "mercer.storage",
    "save": "mercer.storage",
}

__all__ = [
    "SVC",
    "SVR",
    "GradientKernelMachine",
    "KernelLogisticRegression",
    "KernelMachineClassifier",
    "KernelMachineRegressor",
    "KernelPerceptron",
    "KernelRidge",
    "KernelRidgeCV",
    "PrimalPerceptron",
    "SubgradientSVM",
    "__version__",
    "kernels",
    "load",
    "save",
]


def __getattr__(name: str) -> Any:
    if name == "kernels":
        return importlib.import_module("mercer.kernels")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

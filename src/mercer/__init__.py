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
    from mercer.estimators.kernel_cca import KernelCCA as KernelCCA
    from mercer.estimators.kernel_fisher import KernelFisherDiscriminant as KernelFisherDiscriminant
    from mercer.estimators.kernel_kmeans import KernelKMeans as KernelKMeans
    from mercer.estimators.kernel_logistic import KernelLogisticRegression as KernelLogisticRegression
    from mercer.estimators.kernel_machine_classifier import KernelMachineClassifier as KernelMachineClassifier
    from mercer.estimators.kernel_machine_regressor import KernelMachineRegressor as KernelMachineRegressor
    from mercer.estimators.kernel_pca import KernelPCA as KernelPCA
    from mercer.estimators.kernel_quantile import KernelQuantileRegressor as KernelQuantileRegressor
    from mercer.estimators.kernel_ridge import KernelRidge as KernelRidge
    from mercer.estimators.kernel_ridge_classifier import KernelRidgeClassifier as KernelRidgeClassifier
    from mercer.estimators.kernel_ridge_cv import KernelRidgeCV as KernelRidgeCV
    from mercer.estimators.linear_svc import LinearSVC as LinearSVC
    from mercer.estimators.linear_svr import LinearSVR as LinearSVR
    from mercer.estimators.nu_svc import NuSVC as NuSVC
    from mercer.estimators.nu_svr import NuSVR as NuSVR
    from mercer.estimators.one_class_svm import OneClassSVM as OneClassSVM
    from mercer.estimators.spectral_clustering import SpectralClustering as SpectralClustering
    from mercer.estimators.svc import SVC as SVC
    from mercer.estimators.svr import SVR as SVR
    from mercer.lectures.gradient_machine import GradientKernelMachine as GradientKernelMachine
    from mercer.lectures.perceptron import KernelPerceptron as KernelPerceptron
    from mercer.lectures.perceptron import PrimalPerceptron as PrimalPerceptron
    from mercer.lectures.subgradient_svm import SubgradientSVM as SubgradientSVM
    from mercer.selection.compare import compare as compare
    from mercer.selection.multiple import MultipleKernelMachine as MultipleKernelMachine
    from mercer.selection.multiple import learn_kernel as learn_kernel
    from mercer.selection.nested import nested_cross_validate as nested_cross_validate
    from mercer.selection.search import KernelSearchCV as KernelSearchCV
    from mercer.storage import load as load
    from mercer.storage import save as save
    from mercer.theory.alignment import alignment as alignment
    from mercer.theory.alignment import centred_alignment as centred_alignment
    from mercer.theory.alignment import kernel_target_alignment as kernel_target_alignment
    from mercer.theory.counterexample import certify_kernel as certify_kernel
    from mercer.theory.diagnosis import diagnose as diagnose
    from mercer.theory.mercer import check_mercer as check_mercer
    from mercer.theory.mercer import feature_vectors as feature_vectors
    from mercer.theory.samples import hsic_test as hsic_test
    from mercer.theory.samples import mmd_test as mmd_test

_HOMES = {
    "KernelRidge": "mercer.estimators.kernel_ridge",
    "KernelRidgeCV": "mercer.estimators.kernel_ridge_cv",
    "KernelLogisticRegression": "mercer.estimators.kernel_logistic",
    "KernelMachineClassifier": "mercer.estimators.kernel_machine_classifier",
    "KernelMachineRegressor": "mercer.estimators.kernel_machine_regressor",
    "LinearSVC": "mercer.estimators.linear_svc",
    "LinearSVR": "mercer.estimators.linear_svr",
    "KernelQuantileRegressor": "mercer.estimators.kernel_quantile",
    "KernelRidgeClassifier": "mercer.estimators.kernel_ridge_classifier",
    "NuSVC": "mercer.estimators.nu_svc",
    "NuSVR": "mercer.estimators.nu_svr",
    "OneClassSVM": "mercer.estimators.one_class_svm",
    "SVC": "mercer.estimators.svc",
    "SVR": "mercer.estimators.svr",
    "GradientKernelMachine": "mercer.lectures.gradient_machine",
    "KernelPerceptron": "mercer.lectures.perceptron",
    "PrimalPerceptron": "mercer.lectures.perceptron",
    "SubgradientSVM": "mercer.lectures.subgradient_svm",
    "KernelCCA": "mercer.estimators.kernel_cca",
    "KernelFisherDiscriminant": "mercer.estimators.kernel_fisher",
    "KernelKMeans": "mercer.estimators.kernel_kmeans",
    "KernelPCA": "mercer.estimators.kernel_pca",
    "SpectralClustering": "mercer.estimators.spectral_clustering",
    "KernelSearchCV": "mercer.selection.search",
    "MultipleKernelMachine": "mercer.selection.multiple",
    "learn_kernel": "mercer.selection.multiple",
    "nested_cross_validate": "mercer.selection.nested",
    "alignment": "mercer.theory.alignment",
    "centred_alignment": "mercer.theory.alignment",
    "certify_kernel": "mercer.theory.counterexample",
    "check_mercer": "mercer.theory.mercer",
    "compare": "mercer.selection.compare",
    "diagnose": "mercer.theory.diagnosis",
    "feature_vectors": "mercer.theory.mercer",
    "kernel_target_alignment": "mercer.theory.alignment",
    "hsic_test": "mercer.theory.samples",
    "mmd_test": "mercer.theory.samples",
    "load": "mercer.storage",
    "save": "mercer.storage",
}

__all__ = [
    "SVC",
    "SVR",
    "GradientKernelMachine",
    "KernelCCA",
    "KernelFisherDiscriminant",
    "KernelKMeans",
    "KernelLogisticRegression",
    "KernelMachineClassifier",
    "KernelMachineRegressor",
    "KernelPCA",
    "KernelPerceptron",
    "KernelQuantileRegressor",
    "KernelRidge",
    "KernelRidgeCV",
    "KernelRidgeClassifier",
    "KernelSearchCV",
    "LinearSVC",
    "LinearSVR",
    "MultipleKernelMachine",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PrimalPerceptron",
    "SpectralClustering",
    "SubgradientSVM",
    "__version__",
    "alignment",
    "centred_alignment",
    "certify_kernel",
    "check_mercer",
    "compare",
    "diagnose",
    "feature_vectors",
    "hsic_test",
    "kernel_target_alignment",
    "kernels",
    "learn_kernel",
    "load",
    "mmd_test",
    "nested_cross_validate",
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

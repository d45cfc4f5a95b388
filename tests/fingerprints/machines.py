"""Every estimator on every kind of data, with plain settings, and the settings that take another way."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mercer
from mercer import kernels
from mercer._registry import ESTIMATORS
from tests.fingerprints.measure import Fingerprint, of_model
from tests.fingerprints.problems import KINDS, Problem, problem

Case = Callable[[], Fingerprint]

TOL = 1e-8
"""Small machines are fitted so closely that two correct solvers agree in more digits than are compared."""
LARGE_TOL = 1e-4
"""Large ones work in single precision, which cannot promise more."""

NUMBERS = {
    "SVR", "NuSVR", "LinearSVR", "KernelRidge", "KernelRidgeCV", "KernelQuantileRegressor", "KernelMachineRegressor",
}  # fmt: skip
ALONE = {"OneClassSVM", "KernelPCA", "KernelKMeans", "SpectralClustering"}
SETTINGS: dict[str, dict[str, Any]] = {
    "KernelKMeans": {"n_clusters": 3, "random_state": 0},
    "SpectralClustering": {"n_clusters": 3, "random_state": 0},
    "KernelPCA": {"n_components": 3, "random_state": 0},
    "KernelPerceptron": {"epochs": 20},
    "PrimalPerceptron": {"epochs": 20},
    "SubgradientSVM": {"steps": 200},
    "GradientKernelMachine": {"steps": 30},
    "NuSVC": {"nu": 0.4},
    "OneClassSVM": {"nu": 0.2},
    "LinearSVC": {"max_iter": 100000, "intercept_scaling": None},
    "LinearSVR": {"max_iter": 100000, "intercept_scaling": None},
}
EXACT = {"KernelPCA", "SpectralClustering", "GradientKernelMachine"}
"""Estimators whose `tol` means something else than the violation of a solver, and stays as it is."""


def made(name: str, **settings: Any) -> Any:
    """An estimator by name, fitted closely where it is iterative."""
    cls = getattr(mercer, name)
    known = inspect.signature(cls).parameters
    given = SETTINGS.get(name, {}) | settings
    if "tol" in known and name not in EXACT:
        given = {"tol": TOL} | given
    return cls(**given)


def targets(name: str, data: Problem) -> np.ndarray | None:
    if name in ALONE:
        return None
    return data.number if name in NUMBERS else data.three


def fitted(model: Any, data: Problem, y: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence and of indefinite kernels: the numbers are compared anyway
        return model.fit(data.train, y, **options)


def plain(name: str, kind: str) -> Fingerprint:
    """One estimator with one kind of data."""
    data = problem(kind)
    model = made(name)
    if "kernel" in model.get_params():
        model.set_params(kernel=data.kernel)
    if name != "KernelCCA":
        return of_model(fitted(model, data, targets(name, data)), data.new)
    model.set_params(kernel_y="linear")
    return of_model(fitted(model, data, np.column_stack([data.number, data.number**2])), data.new)


def plain_cases() -> Iterator[tuple[str, Case]]:
    for name in sorted(ESTIMATORS):
        takes_kernels = "kernel" in inspect.signature(getattr(mercer, name)).parameters
        for kind in KINDS:
            if not takes_kernels and kind not in ("vectors", "products"):
                continue
            if name.startswith("Linear") and not problem(kind).linear:
                continue
            if name == "SpectralClustering" and kind == "products":
                continue  # it refuses negative similarities
            yield f"{name} on {kind}", lambda name=name, kind=kind: plain(name, kind)


def variant(name: str, kind: str, target: str, settings: dict[str, Any], weighted: bool = False) -> Fingerprint:
    data = problem(kind)
    model = made(name, **settings)
    if "kernel" in model.get_params() and "kernel" not in settings:
        model.set_params(kernel=data.kernel)
    options = {"sample_weight": weights(len(data.two))} if weighted else {}
    y = None if target == "none" else getattr(data, target)
    return of_model(fitted(model, data, y, **options), data.new, file=len(data.two) < 100)


def weights(n: int) -> np.ndarray:
    return np.random.default_rng(20).uniform(0.2, 2.0, size=n)


SIGMOID = kernels.Sigmoid(gamma=0.2, coef0=-1.0)
CLASSIFIERS = ("hinge", "squared_hinge", "smooth_hinge", "logistic")  # the perceptron loss has no machine
REGRESSORS = ("squared", "epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile")
DUALS: dict[str, Any] = {"dual": True, "primal": False, "auto": "auto"}


def losses() -> Iterator[tuple[str, str, str, dict[str, Any], bool]]:
    """(estimator, data, target, settings, weighted) of every loss, in the dual and the primal, weighted or not."""
    for how, dual in DUALS.items():
        kind = "vectors" if how == "dual" else "products"
        for loss in CLASSIFIERS:
            yield "KernelMachineClassifier", kind, "two", {"loss": loss, "dual": dual}, how == "auto"
        for loss in REGRESSORS:
            yield "KernelMachineRegressor", kind, "number", {"loss": loss, "dual": dual}, how == "auto"
    yield "KernelMachineClassifier", "vectors", "three", {"loss": "multinomial"}, True


VARIANTS: list[tuple[str, str, str, dict[str, Any], bool]] = [
    *losses(),
    *(
        (name, "products", target, {"dual": dual}, weighted)
        for name, target in (
            ("SVC", "two"), ("SVR", "number"), ("NuSVC", "two"), ("NuSVR", "number"), ("OneClassSVM", "none"),
            ("KernelLogisticRegression", "two"), ("KernelLogisticRegression", "three"), ("KernelRidge", "number"),
            ("KernelQuantileRegressor", "number"), ("KernelRidgeClassifier", "three"), ("LinearSVC", "two"),
        )
        for dual, weighted in ((True, False), (False, True))
    ),
    ("SVC", "vectors", "two", {"C": np.inf, "kernel": kernels.RBF(gamma=1.0)}, False),
    ("SVC", "strings", "two", {"C": np.inf}, False),
    ("SVC", "vectors", "two", {"C": np.inf, "kernel": kernels.RBF(gamma=1.0), "fit_intercept": False}, False),
    ("SVC", "vectors", "two", {"fit_intercept": False}, True),
    ("SVC", "vectors", "three", {"probability": True, "random_state": 0, "class_weight": "balanced"}, True),
    ("SVC", "strings", "two", {"probability": True, "random_state": 0}, False),
    ("SVC", "vectors", "three", {"decision_function_shape": "ovo", "C": 100.0}, False),
    ("SVC", "vectors", "three", {"break_ties": True, "class_weight": {0: 1.0, 1: 3.0, 2: 0.5}}, False),
    ("SVC", "vectors", "two", {"penalty_scaling": "mean", "C": 10.0}, False),
    *(("SVC", "vectors", "two", {"kernel": SIGMOID, "psd": mode}, False) for mode in ("clip", "flip", "shift")),
    *(("SVR", "vectors", "number", {"kernel": SIGMOID, "psd": mode}, False) for mode in ("clip", "flip", "shift")),
    *(("KernelRidge", "vectors", "number", {"kernel": SIGMOID, "psd": mode}, False) for mode in ("clip", "shift")),
    ("SVR", "vectors", "number", {"C": 10.0, "epsilon": 0.05}, True),
    ("SVR", "vectors", "number", {"fit_intercept": False}, False),
    ("NuSVC", "vectors", "three", {"probability": True, "random_state": 0}, True),
    ("NuSVR", "strings", "number", {"nu": 0.3, "C": 5.0}, True),
    ("OneClassSVM", "vectors", "none", {"region": "ball"}, True),
    ("KernelLogisticRegression", "vectors", "three", {"C": 5.0, "class_weight": "balanced"}, True),
    ("KernelLogisticRegression", "vectors", "two", {"fit_intercept": False}, False),
    ("KernelQuantileRegressor", "vectors", "number", {"quantiles": [0.1, 0.5, 0.9]}, False),
    ("KernelQuantileRegressor", "vectors", "number", {"quantiles": [0.2, 0.8], "non_crossing": False}, False),
    ("KernelRidge", "vectors", "number", {"alpha": 0.1, "fit_intercept": True}, True),
    ("KernelRidgeCV", "vectors", "number", {"alphas": (0.01, 0.1, 1.0), "fit_intercept": True}, True),
    ("KernelRidgeCV", "strings", "number", {"cv": 4}, False),
    ("KernelRidgeClassifier", "strings", "two", {"class_weight": "balanced"}, True),
    ("LinearSVC", "documents", "three", {"loss": "hinge", "C": 2.0}, True),
    ("LinearSVC", "products", "two", {"intercept_scaling": 2.0, "class_weight": "balanced"}, False),
    ("LinearSVC", "products", "three", {"probability": True, "random_state": 0, "fit_intercept": False}, False),
    ("LinearSVR", "products", "number", {"dual": True}, True),
    ("LinearSVR", "products", "number", {"dual": False, "loss": "squared_epsilon_insensitive"}, True),
    ("LinearSVR", "sparse", "number", {"loss": "squared_epsilon_insensitive", "epsilon": 0.1}, True),
    ("KernelPCA", "vectors", "none", {"kernel": kernels.RBF(0.5), "fit_inverse_transform": True}, False),
    ("KernelFisherDiscriminant", "vectors", "two", {"alpha": 0.1}, False),
    ("KernelPerceptron", "vectors", "three", {"averaged": True, "margin": 0.1, "shuffle": True, "random_state": 0},
     False),
    ("PrimalPerceptron", "products", "two", {"averaged": True, "learning_rate": 0.5}, False),
    ("SubgradientSVM", "products", "two", {"method": "stochastic", "random_state": 0}, False),
    ("SubgradientSVM", "products", "two", {"variant": "printed"}, False),
    ("GradientKernelMachine", "vectors", "two", {"objective": "svm"}, False),
    ("GradientKernelMachine", "vectors", "two", {"variant": "printed"}, False),
    ("SpectralClustering", "vectors", "none", {"assign_labels": "cluster_qr"}, False),
]  # fmt: skip

LARGE: list[tuple[str, str, str, dict[str, Any], bool]] = [
    ("SVC", "medium", "three", {"tol": TOL}, False),
    ("SVR", "medium", "number", {"tol": TOL}, True),
    ("NuSVC", "medium", "two", {"tol": TOL}, False),
    ("KernelLogisticRegression", "medium", "three", {"tol": TOL}, False),
    ("KernelPCA", "medium", "none", {}, False),
    ("SVC", "large", "two", {}, False),
    ("SVC", "large", "two", {"C": 100.0, "memory": 8e6}, True),
    ("SVR", "large", "number", {"C": 10.0}, False),
    ("NuSVR", "large", "number", {}, False),
    ("OneClassSVM", "large", "none", {}, False),
    ("KernelLogisticRegression", "large", "two", {}, False),
    ("KernelMachineClassifier", "large", "two", {"loss": "squared_hinge"}, False),
    ("KernelMachineRegressor", "large", "number", {"loss": "huber"}, True),
    ("KernelRidge", "large", "number", {}, False),
    ("KernelPCA", "large", "none", {}, False),
    ("KernelKMeans", "large", "none", {"n_init": 2}, False),
    ("LinearSVC", "large_linear", "three", {}, False),
    ("LinearSVC", "large_sparse", "two", {"loss": "hinge"}, False),
    ("LinearSVR", "large_linear", "number", {}, False),
    ("SVC", "large_linear", "two", {"kernel": "linear"}, False),
    ("KernelRidge", "large_linear", "number", {"kernel": "linear"}, False),
    ("KernelLogisticRegression", "large_sparse", "three", {}, False),
]


def large(name: str, kind: str, target: str, settings: dict[str, Any], weighted: bool) -> Fingerprint:
    keeps_tol = name in EXACT or "tol" not in inspect.signature(getattr(mercer, name)).parameters
    return variant(name, kind, target, settings if keeps_tol else {"tol": LARGE_TOL} | settings, weighted)


def named(row: tuple[str, str, str, dict[str, Any], bool]) -> str:
    name, kind, target, settings, weighted = row
    told = "".join(f", {key}={value}" for key, value in settings.items())
    return f"{name} on {kind} ({target}{told}{', weighted' if weighted else ''})"


def cases() -> Iterator[tuple[str, Case]]:
    yield from plain_cases()
    yield from ((named(row), lambda row=row: variant(*row)) for row in VARIANTS)
    yield from ((named(row), lambda row=row: large(*row)) for row in LARGE)

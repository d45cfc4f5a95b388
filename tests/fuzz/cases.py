"""Random small problems, each from one number: learners, kernels, scales, shapes and types."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import mercer
from mercer import kernels

LEARNERS = ("SVC", "SVR", "KernelLogisticRegression", "KernelRidge", "NuSVC", "NuSVR", "OneClassSVM")
KERNELS = ("linear", "rbf", "polynomial", "laplacian")
CONTAINERS = ("float64", "float32", "fortran", "strided", "list", "csr")


@dataclass(frozen=True)
class Case:
    """A learner with its problem. `C` penalises errors (1 / alpha of ridge regression), `unit` is that of targets."""

    learner: str
    kernel: str
    container: str
    X: Any
    y: Any
    weights: Any
    gamma: float
    C: float
    epsilon: float
    tol: float
    intercept: bool

    @property
    def classifies(self) -> bool:
        return self.learner in ("SVC", "NuSVC", "KernelLogisticRegression")

    def with_objects(self, index: Any, **changes: Any) -> Case:
        """The same problem on these objects, some of them perhaps repeated."""
        picked = {"X": self.X[index], "y": self.y[index], "weights": self.weights[index]}
        return dataclasses.replace(self, **(picked | changes))

    def values(self) -> Any:
        """X in its container."""
        X = self.X
        if self.container == "fortran":
            return np.asfortranarray(X)
        if self.container == "strided":
            return np.repeat(X, 2, axis=0)[::2]
        if self.container == "csr":
            return sp.csr_array(X)
        return X.tolist() if self.container == "list" else X.astype(self.container)

    def model(self) -> Any:
        """The learner, not fitted yet."""
        chosen = {
            "linear": kernels.Linear(),
            "rbf": kernels.RBF(gamma=self.gamma),
            "polynomial": kernels.Polynomial(degree=2, gamma=self.gamma, coef0=1.0),
            "laplacian": kernels.Laplacian(gamma=float(np.sqrt(self.gamma))),
        }[self.kernel]
        learner = getattr(mercer, self.learner)
        if self.learner == "KernelRidge":
            return learner(kernel=chosen, alpha=1.0 / self.C)
        limits = {"kernel": chosen, "tol": self.tol, "max_iter": 100_000}
        if self.learner in ("NuSVC", "OneClassSVM"):
            return learner(nu=0.3, **limits)
        if self.learner == "NuSVR":
            return learner(nu=0.3, C=self.C, **limits)
        if self.learner == "SVR":
            return learner(C=self.C, epsilon=self.epsilon, **limits)
        return learner(C=self.C, fit_intercept=self.intercept, **limits)

    def fitted(self) -> Any:
        """The learner, trained."""
        if self.learner == "OneClassSVM":
            return self.model().fit(self.values(), sample_weight=self.weights)
        return self.model().fit(self.values(), self.y, sample_weight=self.weights)


def case(number: int) -> Case:
    """The problem with this number."""
    rng = np.random.default_rng([27, number])
    n, d = int(rng.integers(4, 24)), int(rng.integers(1, 5))
    scale = 10.0 ** float(rng.choice([0.0, rng.uniform(-12, 12), rng.uniform(-3, 3)]))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.3:
        X = X.round()  # many objects alike
    if rng.random() < 0.2:
        X[:, 0] = 1.0
    container = str(rng.choice(CONTAINERS))
    X = (scale * X).astype(np.float32 if container == "float32" else np.float64).astype(np.float64)
    learner, kernel = str(rng.choice(LEARNERS)), str(rng.choice(KERNELS))
    unit = 10.0 ** float(rng.choice([0.0, rng.uniform(-6, 6)]))
    y = np.arange(n) % 2 if learner in ("SVC", "NuSVC", "KernelLogisticRegression") else unit * rng.normal(size=n)
    size = {"linear": d * scale**2, "polynomial": 4.0}.get(kernel, 1.0)
    regression = learner in ("SVR", "NuSVR", "KernelRidge")
    C = 10.0 ** rng.uniform(-4, 4) / size * (unit if regression and learner != "KernelRidge" else 1.0)
    weights = rng.choice([1.0, 2.0], size=n) if rng.random() < 0.5 else np.ones(n)
    return Case(
        learner, kernel, container, X, y, weights, 10.0 ** rng.uniform(-2, 1) / (d * scale**2), float(C),
        0.1 * unit, 1e-3 * (unit if regression else 1.0), bool(rng.integers(2)),
    )  # fmt: skip

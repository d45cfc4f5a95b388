"""One machine on one data set: accuracy by cross-validation, beside scikit-learn where it can do the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn import svm
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.estimators.svc import SVC
from mercer.kernels.base import Kernel
from mercer.kernels.vectors.linear import Linear
from mercer.kernels.vectors.polynomial import Polynomial
from mercer.kernels.vectors.rbf import RBF

Splits = list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]
Tick = Callable[[], None]
"""Called after every piece of work."""


@final
@dataclass(frozen=True)
class Trial:
    """A kernel and a C to try on some data; `label` is what the table calls the kernel."""

    kernel: Kernel
    C: float = 1.0
    label: str = ""

    def __str__(self) -> str:
        return self.label or str(self.kernel)


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """Objects that can be sliced by an index array, their labels, and what to try on them."""

    name: str
    noun: str
    objects: Any
    labels: npt.NDArray[Any]
    trials: tuple[Trial, ...]
    standardise: bool = False

    def splits(self, folds: int, seed: int) -> Splits:
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
        return list(splitter.split(np.zeros(len(self.labels)), self.labels))

    def pipeline(self, machine: Any) -> Any:
        """Columns are standardised on the training part alone."""
        return make_pipeline(StandardScaler(), machine) if self.standardise else make_pipeline(machine)


@final
@dataclass(frozen=True)
class Scores:
    """Accuracy over folds, and the seconds that training and predicting took on all of them."""

    accuracy: float
    spread: float
    """The standard deviation over folds."""
    seconds: float


@final
@dataclass(frozen=True)
class Result:
    """What a trial gave; support vectors and margin are those of the machine trained on all objects."""

    problem: Problem
    trial: Trial
    scores: Scores
    support_vectors: int
    margin: float
    """1 / |w|; the smallest of all pairs of classes."""
    twin: Scores | None
    """scikit-learn's, with the same kernel, C and folds."""


def steps(trial: Trial, folds: int) -> int:
    """How often `attempt` ticks."""
    return folds + 2 + (0 if twin_of(trial) is None else folds + 1)


def attempt(problem: Problem, trial: Trial, splits: Splits, tick: Tick) -> Result:
    """Cross-validate the machine and its twin, then train on everything."""
    machine = SVC(kernel=trial.kernel, C=trial.C)
    scores = cross_validate(problem, machine, splits, tick)
    twin = twin_of(trial)
    twin_scores = None if twin is None else cross_validate(problem, twin, splits, tick)
    whole = problem.pipeline(machine).fit(problem.objects, problem.labels)[-1]
    tick()
    return Result(problem, trial, scores, int(whole.n_support_.sum()), float(whole.certificate_.margin), twin_scores)


def cross_validate(problem: Problem, machine: Any, splits: Splits, tick: Tick) -> Scores:
    """The first fold is run once more, before the clock starts: compiling and loading libraries are not training."""
    accuracies, seconds = [], 0.0
    for number, (train, test) in enumerate([splits[0], *splits]):
        model = problem.pipeline(clone(machine))
        began = time.perf_counter()
        predicted = model.fit(problem.objects[train], problem.labels[train]).predict(problem.objects[test])
        elapsed = time.perf_counter() - began
        if number:
            seconds += elapsed
            accuracies.append(float(np.mean(predicted == problem.labels[test])))
        tick()
    return Scores(float(np.mean(accuracies)), float(np.std(accuracies)), seconds)


def twin_of(trial: Trial) -> Any:
    """scikit-learn's machine for this kernel, or None where it has no such kernel."""
    kernel = trial.kernel
    if isinstance(kernel, Linear):
        return svm.SVC(kernel="linear", C=trial.C)
    if isinstance(kernel, RBF) and kernel.over is None and kernel.gamma != "median":
        return svm.SVC(kernel="rbf", gamma=kernel.gamma, C=trial.C)
    if isinstance(kernel, Polynomial) and kernel.gamma != "median":
        shape = {"degree": kernel.degree, "gamma": kernel.gamma, "coef0": kernel.coef0}
        return svm.SVC(kernel="poly", C=trial.C, **shape)
    return None

"""Probabilities of machines for pairs of classes, learnt from the decision values of held-out objects in five folds.

Machines with few objects in their margins vary a lot from sample to sample, and so do their probabilities. The mean of
the machine trained on all objects and of the machines of the folds varies less. It is one more machine over the same
objects, and predicting with it costs as much as with any other. Which of the two gives better probabilities was
measured on public data: for `NuSVC` the mean, since nu is often smaller than the error rate on new objects; for `SVC`,
whose C allows for such errors, the machine itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Indices
from mercer.errors import ModelFileError
from mercer.gram.condensing import machine_over
from mercer.gram.contract import Gram
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import FittedKernel
from mercer.training.folds import folds_with_every_class, out_of_fold
from mercer.training.matrix import Guarded
from mercer.training.pairs import PairMachines, evidence, grouped_by_class
from mercer.training.probabilities import Calibration, fit_calibration
from mercer.training.storing import Field, Parts


@final
class MeanMachine:
    """The mean of machines over the same objects; machines are added one by one."""

    def __init__(self, codes: Indices, n_classes: int) -> None:
        self._codes, self._n_classes = codes, n_classes
        outputs = n_classes * (n_classes - 1) // 2
        self._coefficients, self._intercepts = np.zeros((len(codes), outputs)), np.zeros(outputs)
        self._added = 0

    def add(self, support: Indices, coefficients: Float64, intercepts: Float64) -> None:
        """Add the machines of all pairs of classes, with these support objects."""
        self._coefficients[support] += coefficients
        self._intercepts += intercepts
        self._added += 1

    def expansion(self, fitted: FittedKernel, objects: Objects, guarded: Guarded) -> Expansion:
        """The mean, over the objects that any machine needs."""
        coefficients = guarded.expanded(self._coefficients / self._added)
        support = np.flatnonzero(np.any(coefficients != 0, axis=1))
        grouped, counts = grouped_by_class(support, self._codes, self._n_classes)
        intercepts = self._intercepts / self._added
        found, places = machine_over(fitted, objects, grouped, coefficients[grouped], intercepts)
        if places is not grouped or guarded.repaired:  # every class has coefficients of every pair
            return found
        return Expansion(found.kernel, found.support, found.coefficients, found.intercept, groups=counts)


@final
@dataclass(frozen=True, eq=False)
class LearntProbabilities:
    """Probabilities, and the mean machine that they belong to; None if they belong to the machine itself."""

    calibration: Calibration
    mean: MeanMachine | None


def learn_probabilities(
    gram: Gram,
    codes: Indices,
    bounds: Float64,
    weights: Float64,
    random_state: Any,
    train: Callable[[Gram, Indices, Float64], PairMachines],
    averaged: PairMachines | None = None,
) -> LearntProbabilities:
    """Learn from decision values of held-out objects, for the machine or for its mean with those of the folds.

    All folds are parts of one Gram matrix. A kernel that depends on the data is fitted to all objects, without their
    labels. `averaged` is the machine of all objects, if the mean is wanted.
    """
    n_classes = int(codes.max()) + 1
    gram = gram.stored_if_it_fits()
    mean = None if averaged is None else MeanMachine(codes, n_classes)

    def columns(machines: PairMachines, ids: Indices) -> tuple[Indices, Float64]:
        grouped, _, coefficients = machines.columns(codes[ids], n_classes)  # summed in the same order as in predictions
        if mean is not None:
            mean.add(ids[grouped], coefficients, machines.intercepts)
        return ids[grouped], coefficients

    def decisions(training: Indices, test: Indices) -> Float64:
        machines = train(gram.view(training), codes[training], bounds[training])
        support, coefficients = columns(machines, training)
        return np.asarray(gram.view(test, support).matvec(coefficients) + machines.intercepts)

    if averaged is not None:
        columns(averaged, np.arange(len(codes)))

    seen, values = out_of_fold(folds_with_every_class(codes, bounds, random_state), decisions)
    values = np.reshape(values, (len(seen), n_classes * (n_classes - 1) // 2))
    return LearntProbabilities(fit_calibration(evidence(values, n_classes), codes[seen], weights[seen]), mean)


def platt(calibration: Calibration) -> Float64:
    """A and B in the probability 1 / (1 + exp(A f + B)) of the second of two classes."""

    def second_against_first(f: float) -> float:
        decision = np.array([[-f]])  # positive for the first
        first, second = calibration.log_odds(evidence(decision, 2, calibration))[0]
        return float(second - first)

    at_zero, at_one = second_against_first(0.0), second_against_first(1.0)
    return np.array([at_zero - at_one, -at_zero])


@final
class MeanField(Field):
    """The mean machine that probabilities belong to; None if they belong to the machine itself, as in older files."""

    when = "probability"

    def write(self, name: str, value: Expansion | None, parts: Parts) -> None:
        if value is not None:
            parts.objects["mean_support"] = value.support
            parts.arrays["mean_coefficients"], parts.arrays["mean_intercept"] = value.coefficients, value.intercept
            if value.groups is not None:
                parts.arrays["mean_groups"] = value.groups

    def read(self, name: str, parts: Parts) -> Expansion | None:
        support, machine = parts.objects.get("mean_support"), parts.machine
        if support is None:
            return None
        if not isinstance(support, machine.kernel.kernel.domain) or _width(support) != _width(machine.support):
            raise ModelFileError("the objects of its mean machine are not of the same kind as its support objects.")
        coefficients = parts.array("mean_coefficients", "f", len(support), "outputs")
        intercept = parts.array("mean_intercept", "f", "outputs")
        if not (np.isfinite(coefficients).all() and np.isfinite(intercept).all()):
            raise ModelFileError("the coefficients of its mean machine are not finite.")
        groups = None
        if "mean_groups" in parts.arrays:
            groups = parts.array("mean_groups", "i", "classes")
            if (groups < 0).any() or int(groups.sum()) != len(support):
                raise ModelFileError("the numbers of objects per class of its mean machine do not match.")
        return Expansion(machine.kernel, support, coefficients, intercept, groups=groups)


def _width(objects: Objects) -> tuple[int, bool] | None:
    return (objects.values.shape[1], objects.is_sparse) if isinstance(objects, Vectors) else None

"""The data on which kernels are tried, and the scoring of predictions for held-out objects."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.metrics import make_scorer

from mercer._types import Float64, Indices
from mercer.errors import InputError, MercerError
from mercer.jobs import calibration
from mercer.jobs.folds import among, folds_for, tried
from mercer.jobs.link import Link, may_be_logarithmic
from mercer.jobs.metric_formulas import Answers
from mercer.jobs.problem import Problem
from mercer.jobs.sizing import sample, take
from mercer.selection.trials import Experiment
from mercer.training.folds import Split


def experiment_on(problem: Problem, rows: Indices) -> Experiment:
    """An experiment on these objects, in folds."""
    plan, data, labels = problem.plan, problem.data, problem.y[rows]
    objects = problem.objects if len(rows) == len(problem.y) else take(problem.objects, rows)
    groups, times = (None if part is None else part[rows] for part in (data.groups, data.times))
    splits = folds_for(labels, problem.task, plan.folds, plan.seed, groups, times)
    return Experiment(
        objects,
        problem.learnt(rows),
        splits,
        problem.learner,
        _UNSCORED,
        penalties=None if plan.C is None else (plan.C,),
        weights=None if data.weights is None else data.weights[rows],
        judged=Judge(problem, rows[tried(splits)], among(splits, tried(splits))),
    )


_PROBED = 1000
"""The number of objects used to decide whether to learn logarithms of targets."""
_UNSCORED = make_scorer(lambda y, predicted: 0.0)
"""Machines are judged by their predictions for all objects, once these are complete."""


@final
@dataclass(frozen=True, eq=False)
class Judge:
    """Scores predictions for held-out objects, as the model will make them, fold by fold."""

    problem: Problem
    rows: Indices
    splits: list[Split]
    _chances: dict[int, tuple[Float64, Float64]] = field(default_factory=dict)
    """Decision values and their probabilities, cached because they are used more than once."""

    def __call__(self, predicted: npt.NDArray[Any], decisions: Float64) -> tuple[npt.NDArray[Any], Float64]:
        """The answers, which depend on a threshold, and the score on each fold; more is better."""
        found = self.answers(predicted, decisions)
        return found.predicted, self.problem.metric.fold_gains(found, [test for _, test in self.splits])

    def answers(self, predicted: npt.NDArray[Any], decisions: Float64) -> Answers:
        """The predictions for the objects, with probabilities if needed."""
        problem = self.problem
        y, weights = problem.y[self.rows], problem.weights[self.rows]
        if problem.task != "classification":
            return Answers(y, problem.link.inverse(decisions[:, 0]), weights)
        classes = np.unique(problem.y)
        chances = None
        if problem.needs_chances:
            chances = self._held_out(decisions, np.searchsorted(classes, y), len(classes), weights)
            if problem.threshold is not None:
                predicted = problem.threshold.predicted(classes, chances)
        return Answers(y, predicted, weights, decisions, chances, classes)

    def _held_out(self, decisions: Float64, codes: Indices, classes: int, weights: Float64) -> Float64:
        known = self._chances.get(id(decisions))
        if known is not None and known[0] is decisions:
            return known[1]
        chances = calibration.held_out(decisions, codes, self.splits, classes, weights)
        if np.isnan(chances).any():
            raise InputError("A class is too rare to learn probabilities of it, which this metric or threshold needs.")
        self._chances[id(decisions)] = decisions, chances
        return chances


def with_link(problem: Problem) -> Problem:
    """The problem, with logarithms of its targets if a standard kernel predicts these better."""
    if problem.task != "regression" or problem.metric.quantile is not None or not may_be_logarithmic(problem.y):
        return problem
    rows = sample(problem.y, problem.task, _PROBED, problem.plan.seed)
    kernel = problem.kernels[min(1, len(problem.kernels) - 1)]
    linked = replace(problem, link=Link.logarithmic(problem.y))
    try:
        plain, other = (experiment_on(one, rows).try_kernel(kernel).best.score for one in (problem, linked))
    except MercerError:  # the search reports kernels that do not suit these objects
        return problem
    if not other > plain:
        return problem
    note = "Logarithms of the target are learnt, which a first kernel predicts better; predictions are turned back."
    return replace(linked, notes=(*problem.notes, note))

"""The search of `mercer fit` and `mercer compare`: every kernel with every penalty, on a sample of the objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.metrics import make_scorer

from mercer._types import Float64, Indices
from mercer.errors import InputError
from mercer.jobs import calibration
from mercer.jobs.folds import among, folds_for, tried
from mercer.jobs.metric_formulas import Answers
from mercer.jobs.problem import Problem
from mercer.jobs.refining import Recipe, sums_of_best
from mercer.jobs.relevance import Relevance
from mercer.jobs.sizing import FINALISTS, sample, take
from mercer.kernels.base import Kernel
from mercer.readers.problems import count
from mercer.selection.racing import hopeful
from mercer.selection.trials import Experiment, Memory, Trial, Tried, try_kernels
from mercer.training.folds import Split

SCOUTED = 1000
"""How many objects all kernels are tried on first: enough to see which are hopeless, and quick, since the cost of a
kernel grows with the square or the cube of their number."""
SCOUTING = 0.2
"""The share of a search that trying all kernels on a part takes, roughly; only progress depends on it."""
Report = Callable[[float, str], None]


@final
@dataclass(frozen=True, eq=False)
class Search:
    """All trials, best first, on the objects at `rows`."""

    trials: list[Trial]
    rows: Indices
    """Those that machines were tried on which had not seen them."""
    splits: list[Split]
    """Folds of these."""
    judge: Judge
    skipped: tuple[tuple[Kernel, str], ...]
    unfinished: bool
    dropped: tuple[Kernel, ...] = ()
    """Those that fell behind on a part of the objects."""
    searched: int = 0
    """How many objects took part; with times, the first of them were never tried."""

    @property
    def best(self) -> Trial:
        return self.trials[0]

    def by_kernel(self) -> list[Trial]:
        """The best trial of each kernel, best first."""
        seen: dict[str, Trial] = {}
        for trial in self.trials:
            seen.setdefault(str(trial.kernel), trial)
        return list(seen.values())

    def notes(self, n: int) -> list[str]:
        """What a user should know about a search among `n` objects."""
        notes = []
        if self.unfinished:
            notes.append("The time limit ended the search early: not every kernel was tried with every penalty.")
        if self.searched < n:
            notes.append(
                f"Kernels were compared on {self.searched:,} of {n:,} objects, a random sample (--search-size)."
            )
        if self.dropped:
            notes.append(
                f"{count(len(self.dropped), 'kernel')} fell behind on {SCOUTED:,} objects: not tried on more "
                "(`mercer compare` tries all)."
            )
        return notes + [f"Not tried: {kernel}. {why}" for kernel, why in self.skipped]


def search(
    problem: Problem,
    *,
    deadline: float | None = None,
    report: Report = lambda fraction, note: None,
    memory: Memory | None = None,
    scout: bool = False,
) -> Search:
    """Try every kernel with every penalty until the deadline.

    With `scout`, all kernels are first tried on a part of many objects, and those that fall behind there are not tried
    on more.
    """
    rows = sample(problem.y, problem.task, problem.search_size, problem.plan.seed)
    kernels = problem.kernels
    dropped: tuple[Kernel, ...] = ()
    recipes: dict[Kernel, Recipe] = {}
    scouting = scout and len(kernels) > FINALISTS and len(rows) >= 2 * SCOUTED
    part = sample(problem.y, problem.task, SCOUTED, problem.plan.seed) if scouting else rows
    experiment = _experiment(problem, part)
    watch = Watch(problem, report, None if scouting else memory, (0.0, SCOUTING) if scouting else (0.0, 1.0))
    found = try_kernels(experiment, kernels, deadline=deadline, memory=watch, report=watch)
    if scout and problem.plan.kernel == "auto" and found.kernels:
        found, recipes = _second_round(problem, experiment, found, deadline, watch)
    if scouting:
        kernels, dropped = finalists([one.kernel for one in found.kernels], found)
        experiment = _experiment(problem, rows)
        experiment, kernels = _with_recipes(problem, experiment, [recipes.get(one, Recipe((one,))) for one in kernels])
        watch = Watch(problem, report, memory, (SCOUTING, 1.0))
        found = try_kernels(experiment, kernels, deadline=deadline, memory=watch, report=watch)
    if not found.kernels:
        if len(found.failures) == 1:
            raise found.failures[0][1]
        reasons = "; ".join(f"{kernel}: {error}" for kernel, error in found.failures[:3])
        raise InputError(f"None of the kernels can be used on these objects: {reasons}")
    trials = sorted((trial for one in found.kernels for trial in one.trials), key=lambda trial: -trial.score)
    skipped = tuple((kernel, str(error)) for kernel, error in found.failures)
    judge = experiment.judged
    assert isinstance(judge, Judge)
    return Search(trials, judge.rows, judge.splits, judge, skipped, not found.complete, dropped, len(rows))


def _second_round(
    problem: Problem, experiment: Experiment, first: Tried, deadline: float | None, watch: Watch
) -> tuple[Tried, dict[Kernel, Recipe]]:
    """Try kernels that are made of what was learnt so far: how much each column matters, and which are best."""
    known: dict[Kernel, Recipe] = {}
    found = first
    rounds: list[Callable[[], list[Recipe]]] = []
    if Relevance.suits(experiment.objects, problem.preparation):
        rounds.append(lambda: [Recipe(learns=True)])
    if problem.preparation.kind in ("table", "vectors"):
        rounds.append(lambda: sums_of_best(found.kernels, known))
    for recipes in rounds:
        now = recipes()
        having, kernels = _with_recipes(problem, experiment, now)
        known |= dict(zip(kernels, now, strict=True))
        tried_now = try_kernels(having, kernels, deadline=deadline, memory=watch.quiet(), report=watch)
        found = Tried(
            found.kernels + tried_now.kernels, found.failures + tried_now.failures, found.complete and tried_now.complete
        )
    return found, known


def _with_recipes(
    problem: Problem, experiment: Experiment, recipes: Sequence[Recipe]
) -> tuple[Experiment, tuple[Kernel, ...]]:
    """The kernels of recipes, and an experiment that knows how to make those that learn."""
    relevance = None
    if any(recipe.learns for recipe in recipes):
        relevance = Relevance(experiment.objects, problem.preparation, experiment.y, problem.task)
    made = [recipe.on(experiment, relevance) for recipe in recipes]
    learning = {kernel: making for kernel, making in made if making is not None}
    return replace(experiment, made=learning), tuple(kernel for kernel, _ in made)


def _experiment(problem: Problem, rows: Indices) -> Experiment:
    """What kernels are tried on: these objects, in folds."""
    plan, data, labels = problem.plan, problem.data, problem.y[rows]
    objects = problem.objects if len(rows) == len(problem.y) else take(problem.objects, rows)
    groups, times = (None if part is None else part[rows] for part in (data.groups, data.times))
    splits = folds_for(labels, problem.task, plan.folds, plan.seed, groups, times)
    return Experiment(
        objects,
        labels,
        splits,
        problem.learner,
        _UNSCORED,
        penalties=None if plan.C is None else (plan.C,),
        weights=None if data.weights is None else data.weights[rows],
        judged=Judge(problem, rows[tried(splits)], among(splits, tried(splits))),
    )


_UNSCORED = make_scorer(lambda y, predicted: 0.0)
"""Machines are judged by what they said about all objects, once that is complete."""


@final
@dataclass(frozen=True, eq=False)
class Judge:
    """Scores what machines said about objects held out: the answers as the model will give them, fold by fold."""

    problem: Problem
    rows: Indices
    splits: list[Split]
    _chances: dict[int, tuple[Float64, Float64]] = field(default_factory=dict)
    """Decision values and the probabilities made of them, which are asked for more than once."""

    def __call__(self, predicted: npt.NDArray[Any], decisions: Float64) -> tuple[npt.NDArray[Any], Float64]:
        """The answers, which a threshold changes, and the score on each fold; more is better."""
        found = self.answers(predicted, decisions)
        return found.predicted, self.problem.metric.fold_gains(found, [test for _, test in self.splits])

    def answers(self, predicted: npt.NDArray[Any], decisions: Float64) -> Answers:
        """What was said about the objects, with probabilities where they are needed."""
        problem = self.problem
        y, weights = problem.y[self.rows], problem.weights[self.rows]
        if problem.task != "classification":
            return Answers(y, predicted, weights)
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


def finalists(kernels: Sequence[Kernel], first: Tried) -> tuple[tuple[Kernel, ...], tuple[Kernel, ...]]:
    """The kernels that may still win, at most a few, in their order; and those that fell behind."""
    if len(first.kernels) <= FINALISTS:
        return tuple(kernels), ()
    scores = np.array([one.best.fold_scores for one in first.kernels])
    means = np.where(hopeful(scores), scores.mean(axis=1), -np.inf)
    best = set(np.argsort(-means, kind="stable")[:FINALISTS].tolist())
    kept = {repr(one.kernel) for place, one in enumerate(first.kernels) if place in best and np.isfinite(means[place])}
    failed = {repr(kernel) for kernel, _ in first.failures}
    chosen = tuple(kernel for kernel in kernels if repr(kernel) in kept)
    return chosen, tuple(kernel for kernel in kernels if repr(kernel) not in kept | failed)


@final
class Watch:
    """Passes on what is reported, with the best score so far; and what is finished, to a memory."""

    def __init__(
        self, problem: Problem, report: Report, memory: Memory | None, span: tuple[float, float] = (0.0, 1.0)
    ) -> None:
        self._metric = problem.metric
        self._report = report
        self._memory = memory
        self._span = span
        self._best = -np.inf

    def __call__(self, fraction: float, note: str) -> None:
        if np.isfinite(self._best):
            name = "" if self._metric.percent else f"{self._metric.name} "
            note = f"so far {name}{self._metric.shown(self._best)}{self._metric.unit}, still looking"
        low, high = self._span
        self._report(low + (high - low) * fraction, note)

    def quiet(self) -> Watch:
        """One that remembers nothing, for kernels that are made anew when a search is resumed."""
        other = Watch.__new__(Watch)
        other.__dict__ |= self.__dict__ | {"_memory": None}
        return other

    def recall(self, kernel: Kernel) -> list[Trial] | None:
        """What the memory has of a kernel."""
        found = None if self._memory is None else self._memory.recall(kernel)
        if found:
            self._best = max(self._best, *(trial.score for trial in found))
        return found

    def keep(self, kernel: Kernel, trials: list[Trial]) -> None:
        """Note how good a kernel is, and let the memory keep it."""
        self._best = max([self._best, *(trial.score for trial in trials)])
        if self._memory is not None:
            self._memory.keep(kernel, trials)

"""The search of `mercer fit` and `mercer compare`: every kernel with every penalty, on a sample of the objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Indices
from mercer.errors import InputError
from mercer.jobs.experiments import Judge, experiment_on
from mercer.jobs.problem import Problem
from mercer.jobs.refining import Maker, Recipe, learning, sums_of_best
from mercer.jobs.sizing import FINALISTS, sample
from mercer.kernels.base import Kernel
from mercer.readers.problems import count
from mercer.selection.racing import hopeful
from mercer.selection.trials import Experiment, Memory, Trial, Tried, try_kernels
from mercer.training.folds import Split

SCOUTED = 1000
"""How many objects all kernels are tried on first: enough to see which are hopeless, and quick, since the cost of a
kernel grows with the square or cube of the number of objects."""
SCOUTING = 0.2
"""The rough fraction of a search spent on trying all kernels on a part; used only for progress."""
_FIRST = 0.6
"""The rough fraction of its first round, likewise."""
Report = Callable[[float, str], None]


@final
@dataclass(frozen=True, eq=False)
class Search:
    """All trials, best first, on the objects at `rows`."""

    trials: list[Trial]
    rows: Indices
    """The objects that were predicted by machines that had not seen them."""
    splits: list[Split]
    """The folds of these objects."""
    judge: Judge
    skipped: tuple[tuple[Kernel, str], ...]
    unfinished: bool
    dropped: tuple[Kernel, ...] = ()
    """The kernels that fell behind on a part of the objects."""
    searched: int = 0
    """The number of objects in the search; with times, the first of them were never predicted."""

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
    again = scout and problem.plan.kernel == "auto"
    dropped: tuple[Kernel, ...] = ()
    if scout and len(problem.kernels) > FINALISTS and len(rows) >= 2 * SCOUTED:
        part = experiment_on(problem, sample(problem.y, problem.task, SCOUTED, problem.plan.seed))
        watch = Watch(problem, report, None, (0.0, SCOUTING))
        first, known = _rounds(problem, part, again, deadline, watch)
        kernels, dropped = finalists([one.kernel for one in first.kernels], first)
        recipes = [known.get(kernel, Recipe((kernel,))) for kernel in kernels]
        experiment, kernels = Maker(problem, experiment_on(problem, rows)).kernels(recipes)
        watch = Watch(problem, report, memory, (SCOUTING, 1.0), watch.best)
        found = try_kernels(experiment, kernels, deadline=deadline, memory=watch, report=watch)
        failures = first.failures + found.failures
        found = Tried(found.kernels, failures, found.complete)
    else:
        experiment = experiment_on(problem, rows)
        found, _ = _rounds(problem, experiment, again, deadline, Watch(problem, report, memory))
    return _ranked(found, experiment, dropped, len(rows))


def _ranked(found: Tried, experiment: Experiment, dropped: tuple[Kernel, ...], searched: int) -> Search:
    """All trials, best first; an error if no kernel could be tried."""
    if not found.kernels:
        if len(found.failures) == 1:
            raise found.failures[0][1]
        reasons = "; ".join(f"{kernel}: {error}" for kernel, error in found.failures[:3])
        raise InputError(f"None of the kernels can be used on these objects: {reasons}")
    trials = sorted((trial for one in found.kernels for trial in one.trials), key=lambda trial: -trial.score)
    skipped = tuple((kernel, str(error)) for kernel, error in found.failures)
    judge = experiment.judged
    assert isinstance(judge, Judge)
    return Search(trials, judge.rows, judge.splits, judge, skipped, not found.complete, dropped, searched)


def _rounds(
    problem: Problem, experiment: Experiment, again: bool, deadline: float | None, watch: Watch
) -> tuple[Tried, dict[Kernel, Recipe]]:
    """Try all kernels, then `again` those derived from the results: by relevance of columns, and sums of the best."""
    known: dict[Kernel, Recipe] = {}
    low, high = watch.span
    ends = np.linspace(low + _FIRST * (high - low) if again else high, high, 3)
    watch.span = low, float(ends[0])
    found = try_kernels(experiment, problem.kernels, deadline=deadline, memory=watch, report=watch)
    if not again or not found.kernels:
        return found, known
    maker = Maker(problem, experiment)
    for number, made in enumerate((learning, sums_of_best)):
        watch.span = float(ends[number]), float(ends[number + 1])
        recipes = made(problem, experiment, found.kernels, known)
        having, kernels = maker.kernels(recipes)
        known |= dict(zip(kernels, recipes, strict=True))
        more = try_kernels(having, kernels, deadline=deadline, memory=watch, report=watch)
        found = Tried(found.kernels + more.kernels, found.failures + more.failures, found.complete and more.complete)
    return found, known


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
    """Forwards progress, with the best score so far, and finished kernels to a memory."""

    def __init__(
        self,
        problem: Problem,
        report: Report,
        memory: Memory | None,
        span: tuple[float, float] = (0.0, 1.0),
        best: float = -np.inf,
    ) -> None:
        self._metric = problem.metric
        self._report = report
        self._memory = memory
        self.span = span
        """The fractions of all work at which the current round begins and ends."""
        self.best = best
        """The best score so far, of this round and those before it."""
        self._reached = 0.0

    def __call__(self, fraction: float, note: str) -> None:
        if np.isfinite(self.best):
            name = "" if self._metric.percent else f"{self._metric.name} "
            note = f"so far {name}{self._metric.shown(self.best)}{self._metric.unit}, still looking"
        low, high = self.span
        self._reached = max(self._reached, low + (high - low) * fraction)  # folds may tell of their own progress
        self._report(self._reached, note)

    def recall(self, kernel: Kernel) -> list[Trial] | None:
        """The results for a kernel in the memory."""
        found = None if self._memory is None else self._memory.recall(kernel)
        if found:
            self.best = max(self.best, *(trial.score for trial in found))
        return found

    def keep(self, kernel: Kernel, trials: list[Trial]) -> None:
        """Record the score of a kernel, and pass it to the memory."""
        self.best = max([self.best, *(trial.score for trial in trials)])
        if self._memory is not None:
            self._memory.keep(kernel, trials)

"""The search of `mercer fit` and `mercer compare`: every kernel with every penalty, on a sample of the objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.metrics import get_scorer, make_scorer, r2_score
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from mercer._types import Indices
from mercer.errors import InputError
from mercer.jobs.problem import Problem
from mercer.jobs.sizing import FINALISTS, sample, take
from mercer.kernels.base import Kernel
from mercer.selection.racing import hopeful
from mercer.selection.trials import Experiment, Memory, Trial, Tried, try_kernels
from mercer.training.folds import Split, make_folds

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
    splits: list[Split]
    skipped: tuple[tuple[Kernel, str], ...]
    unfinished: bool
    dropped: tuple[Kernel, ...] = ()
    """Those that fell behind on a part of the objects."""

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
        if len(self.rows) < n:
            notes.append(
                f"Kernels were compared on {len(self.rows):,} of {n:,} objects, a random sample (--search-size)."
            )
        if self.dropped:
            which = "1 kernel" if len(self.dropped) == 1 else f"{len(self.dropped)} kernels"
            notes.append(
                f"{which} fell behind on {SCOUTED:,} objects, and were not tried on more (`mercer compare` does)."
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
    watch = Watch(problem, report, memory)
    if scout and len(kernels) > FINALISTS and len(rows) >= 2 * SCOUTED:
        part = sample(problem.y, problem.task, SCOUTED, problem.plan.seed)
        early = Watch(problem, report, None, (0.0, SCOUTING))
        first = try_kernels(_experiment(problem, part), kernels, deadline=deadline, memory=early, report=early)
        kernels, dropped = finalists(kernels, first)
        watch = Watch(problem, report, memory, (SCOUTING, 1.0))
    experiment = _experiment(problem, rows)
    tried = try_kernels(experiment, kernels, deadline=deadline, memory=watch, report=watch)
    if not tried.kernels:
        if len(tried.failures) == 1:
            raise tried.failures[0][1]
        reasons = "; ".join(f"{kernel}: {error}" for kernel, error in tried.failures[:3])
        raise InputError(f"None of the kernels can be used on these objects: {reasons}")
    trials = sorted((trial for one in tried.kernels for trial in one.trials), key=lambda trial: -trial.score)
    skipped = tuple((kernel, str(error)) for kernel, error in tried.failures)
    return Search(trials, rows, list(experiment.splits), skipped, not tried.complete, dropped)


def _experiment(problem: Problem, rows: Indices) -> Experiment:
    """What kernels are tried on: these objects, in folds."""
    plan, task, labels = problem.plan, problem.task, problem.y[rows]
    objects = problem.objects if len(rows) == len(problem.y) else take(problem.objects, rows)
    scorer = make_scorer(_r_squared) if task == "regression" else get_scorer(problem.scoring)
    penalties = None if plan.C is None else (plan.C,)
    groups = None if problem.data.groups is None else problem.data.groups[rows]
    splits = folds_for(labels, task, plan.folds, plan.seed, groups)
    return Experiment(objects, labels, splits, problem.learner, scorer, penalties)


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
        self._regression = problem.task == "regression"
        self._report = report
        self._memory = memory
        self._span = span
        self._best = -np.inf

    def __call__(self, fraction: float, note: str) -> None:
        if np.isfinite(self._best):
            score = f"R2 {self._best:.3f}" if self._regression else f"{100 * self._best:.1f} %"
            note = f"so far {score}, still looking"
        low, high = self._span
        self._report(low + (high - low) * fraction, note)

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


def folds_for(
    y: npt.NDArray[Any], task: str, folds: int, seed: int, groups: npt.NDArray[Any] | None = None
) -> list[Split]:
    """Shuffled folds with an equal share of each class; fewer folds if the rarest class has fewer objects.

    The objects of a group are all in one fold.
    """
    most = len(y)
    if task == "regression" and most < 2:
        raise InputError("Found 1 object; at least 2 are needed to learn from some and try on others.")
    if task == "classification":
        labels, counts = np.unique(y, return_counts=True)
        most = int(counts.min())
        if len(labels) < 2:
            raise InputError(
                f"All {len(y):,} objects have the label {labels[0].item()!r}; at least two classes are needed."
            )
        if most < 2:
            rare = labels[counts.argmin()].item()
            raise InputError(
                f"The class {rare!r} has 1 object; at least 2 are needed to learn from one and try on the other."
            )
    if groups is None:
        return make_folds(min(folds, most), y, y, classifier=task == "classification", random_state=seed)
    most = min(most, len(np.unique(groups)))
    if most < 2:
        raise InputError(
            "All rows are of one group (--group); at least two are needed to learn from one and try another."
        )
    splitter = (StratifiedGroupKFold if task == "classification" else GroupKFold)(
        min(folds, most), shuffle=True, random_state=seed
    )
    splits = make_folds(splitter, y, y, classifier=task == "classification", groups=groups)
    if task == "classification" and any(len(np.unique(y[train])) < len(np.unique(y)) for train, _ in splits):
        raise InputError("A class has objects of one group alone (--group): without that group it cannot be learnt.")
    return splits


def _r_squared(y: Any, predicted: Any) -> float:
    """R^2; a single object has no variance to explain."""
    return float(r2_score(y, predicted)) if len(y) > 1 else 0.0

"""The search of `mercer fit` and `mercer compare`: every kernel with every penalty, on a sample of the objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.metrics import get_scorer, make_scorer, r2_score

from mercer._types import Indices
from mercer.errors import InputError
from mercer.jobs.problem import Problem
from mercer.jobs.sizing import sample, take
from mercer.kernels.base import Kernel
from mercer.selection.trials import Experiment, Memory, Trial, try_kernels
from mercer.training.folds import Split, make_folds


@final
@dataclass(frozen=True, eq=False)
class Search:
    """All trials, best first, on the objects at `rows`."""

    trials: list[Trial]
    rows: Indices
    splits: list[Split]
    skipped: tuple[tuple[Kernel, str], ...]
    unfinished: bool

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
        return notes + [f"Not tried: {kernel}. {why}" for kernel, why in self.skipped]


def search(
    problem: Problem,
    *,
    deadline: float | None = None,
    report: Callable[[float, str], None] = lambda fraction, note: None,
    memory: Memory | None = None,
) -> Search:
    """Try every kernel with every penalty until the deadline."""
    plan, task = problem.plan, problem.task
    rows = sample(problem.y, task, problem.search_size, plan.seed)
    labels = problem.y[rows]
    objects = problem.objects if len(rows) == len(problem.y) else take(problem.objects, rows)
    splits = folds_for(labels, task, plan.folds, plan.seed)
    scorer = make_scorer(_r_squared) if task == "regression" else get_scorer(problem.scoring)
    penalties = None if plan.C is None else (plan.C,)
    experiment = Experiment(objects, labels, splits, problem.learner, scorer, penalties)
    tried = try_kernels(experiment, problem.kernels, deadline=deadline, memory=memory, report=report)
    if not tried.kernels:
        if len(tried.failures) == 1:
            raise tried.failures[0][1]
        reasons = "; ".join(f"{kernel}: {error}" for kernel, error in tried.failures[:3])
        raise InputError(f"None of the kernels can be used on these objects: {reasons}")
    trials = sorted((trial for one in tried.kernels for trial in one.trials), key=lambda trial: -trial.score)
    skipped = tuple((kernel, str(error)) for kernel, error in tried.failures)
    return Search(trials, rows, splits, skipped, not tried.complete)


def folds_for(y: npt.NDArray[Any], task: str, folds: int, seed: int) -> list[Split]:
    """Shuffled folds with an equal share of each class; fewer folds if the rarest class has fewer objects."""
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
    return make_folds(min(folds, most), y, y, classifier=task == "classification", random_state=seed)


def _r_squared(y: Any, predicted: Any) -> float:
    """R^2; a single object has no variance to explain."""
    return float(r2_score(y, predicted)) if len(y) > 1 else 0.0

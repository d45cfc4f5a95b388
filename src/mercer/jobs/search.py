"""Choosing kernel and penalty: each kernel is one `KernelSearchCV` over its penalties, on folds that all kernels share.

One search per kernel, not one for all of them, because between two of them finished work is kept for `--resume`, the
clock is looked at, and a kernel on our own list that the objects are not for is left out.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from mercer._progress import heard
from mercer._types import Float64
from mercer.errors import InputError, KernelError, KernelWarning
from mercer.jobs.machines import Learner
from mercer.jobs.sizing import sample, taken
from mercer.kernels.base import Kernel
from mercer.selection.search import KernelSearchCV

Splits = list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]

_SCALED_BY = 200


@final
@dataclass(frozen=True, eq=False)
class Trial:
    """One kernel with one penalty: how it predicted each object when that object was held out."""

    kernel: Kernel
    penalty: float
    """C, or alpha of a ridge regression."""
    fold_scores: Float64
    predicted: npt.NDArray[Any]
    decisions: Float64
    """Decision values, one column, or one per class where there are more than two."""
    seconds: float
    """Of this kernel with all its penalties."""

    @property
    def score(self) -> float:
        return float(self.fold_scores.mean())


@final
@dataclass(frozen=True, eq=False)
class Search:
    """All trials, best first, on the objects at `rows`."""

    trials: list[Trial]
    rows: npt.NDArray[np.intp]
    fold_of: npt.NDArray[np.intp]
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


class Memory(Protocol):
    """Keeps the trials of finished kernels, so that a search which is interrupted can go on later."""

    def recall(self, kernel: Kernel) -> list[Trial] | None: ...

    def keep(self, kernel: Kernel, trials: list[Trial]) -> None: ...


def splits_of(y: npt.NDArray[Any], task: str, folds: int, seed: int) -> Splits:
    """Shuffled folds, of even shares of each class; fewer where the smallest class has fewer objects."""
    if task == "regression":
        many = min(folds, len(y))
        if many < 2:
            raise InputError("Found 1 object; at least 2 are needed to learn from some and try on others.")
        return list(KFold(many, shuffle=True, random_state=seed).split(np.zeros(len(y))))
    labels, counts = np.unique(y, return_counts=True)
    if len(labels) < 2:
        raise InputError(
            f"All {len(y):,} objects have the label {labels[0].item()!r}; at least two classes are needed."
        )
    if counts.min() < 2:
        rare = labels[counts.argmin()].item()
        raise InputError(
            f"The class {rare!r} has 1 object; at least 2 are needed to learn from one and try on the other."
        )
    splitter = StratifiedKFold(min(folds, int(counts.min())), shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(len(y)), y))


def search(
    objects: Any,
    y: npt.NDArray[Any],
    candidates: Sequence[Kernel],
    *,
    learner: Learner,
    folds: int,
    seed: int,
    most: int,
    deadline: float | None = None,
    penalty: float | None = None,
    tick: Callable[[float, str], None] = lambda fraction, note: None,
    memory: Memory | None = None,
) -> Search:
    """Try every kernel with every penalty; after the deadline, what has been tried is all there is."""
    rows = sample(y, learner.task, most, seed)
    labels = y[rows]
    part = objects if len(rows) == len(y) else taken(objects, rows)
    folded = Folded(part, labels, splits_of(labels, learner.task, folds, seed), learner)
    trials: list[Trial] = []
    skipped: list[tuple[Kernel, str]] = []
    unfinished = False
    for number, kernel in enumerate(candidates):

        def heed(fraction: float, number: int = number, kernel: Kernel = kernel) -> None:
            tick((number + fraction) / len(candidates), f"{kernel}"[:40])

        left = None if deadline is None else deadline - time.monotonic()
        if trials and left is not None and left <= 0:
            unfinished = True
            break
        found = None if memory is None else memory.recall(kernel)
        if found is None:
            try:
                amounts = amounts_of(kernel, part, learner, penalty)
                with heard(heed):
                    found = _try(folded, kernel, amounts, left)
                    if not found and not trials:  # something must come out of it, and the usual penalty is a start
                        found = _try(folded, kernel, amounts[min(1, len(amounts) - 1) :][:1], None)
            except (InputError, KernelError) as error:
                if len(candidates) == 1:
                    raise
                skipped.append((kernel, str(error)))
                continue
            if len(found) < len(amounts):
                unfinished = True
            elif memory is not None:
                memory.keep(kernel, found)
        trials += found
        heed(1.0)
    if not trials:
        raise InputError(
            "None of the kernels suits these objects: " + "; ".join(f"{k}: {why}" for k, why in skipped[:3])
        )
    trials.sort(key=lambda trial: -trial.score)
    return Search(trials, rows, folded.fold_of, tuple(skipped), unfinished)


@final
@dataclass(frozen=True, eq=False)
class Folded:
    """What every kernel is tried on."""

    objects: Any
    y: npt.NDArray[Any]
    splits: Splits
    learner: Learner

    @property
    def fold_of(self) -> npt.NDArray[np.intp]:
        numbers = np.empty(len(self.y), dtype=np.intp)
        for number, (_, test) in enumerate(self.splits):
            numbers[test] = number
        return numbers


def amounts_of(kernel: Kernel, objects: Any, learner: Learner, given: float | None) -> tuple[float, ...]:
    """The penalties to try with a kernel; one that is given is taken at its word."""
    grid = learner.grid(given)
    if given is not None:
        return grid
    if kernel.is_precomputed:
        diagonal = np.diagonal(objects)
    else:
        some = objects.take(np.unique(np.linspace(0, len(objects) - 1, _SCALED_BY).astype(np.intp)))
        fitted = kernel.fit(some)
        diagonal = fitted.diagonal(fitted.features(some))
    scale = float(np.mean(diagonal))
    scale = scale if np.isfinite(scale) and scale > 0 else 1.0
    return tuple(learner.amount(value, scale) for value in grid)


def _try(folded: Folded, kernel: Kernel, amounts: tuple[float, ...], seconds: float | None) -> list[Trial]:
    """The trials of one kernel; without those for which the seconds did not suffice."""
    if seconds is not None and seconds <= 0:
        return []
    began = time.monotonic()
    learner = folded.learner
    found = KernelSearchCV(
        learner.tried(kernel),
        {learner.penalty: list(amounts)},
        scoring="accuracy" if learner.task == "classification" else "neg_mean_squared_error",
        refit=False,
        cv=folded.splits,
        error_score="raise",
        time_limit=seconds,
        held_out=learner.methods,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", KernelWarning)
        try:
            found.fit(folded.objects, folded.y)
        except InputError:
            if seconds is not None and time.monotonic() - began >= seconds:  # that is what it is about
                return []
            raise
    done = found.cv_results_.get("splits_done", [len(folded.splits)] * len(amounts))
    finished = [index for index in range(len(amounts)) if done[index] == len(folded.splits)]
    took = time.monotonic() - began
    return [_trial(folded, kernel, amounts[index], found, index, took) for index in finished]


def _trial(folded: Folded, kernel: Kernel, amount: float, found: KernelSearchCV, index: int, seconds: float) -> Trial:
    learner = folded.learner
    predicted = found.held_out_values("predict", index)
    decisions = np.asarray(found.held_out_values(learner.methods[-1], index), dtype=np.float64)
    scores = [score(folded.y[test], predicted[test], learner.task, learner.balanced) for _, test in folded.splits]
    columns = decisions[:, None] if decisions.ndim == 1 else decisions
    return Trial(kernel, amount, np.array(scores), predicted, columns, seconds)


def score(y: npt.NDArray[Any], predicted: npt.NDArray[Any], task: str, balanced: bool = False) -> float:
    """Accuracy, or the mean accuracy of the classes; for numbers, R^2."""
    if task == "regression":
        spread = float(np.square(y - y.mean()).sum())
        return 1.0 - float(np.square(y - predicted).sum()) / spread if spread > 0 else 0.0
    right = predicted == y
    if balanced:
        return float(np.mean([right[y == label].mean() for label in np.unique(y)]))
    return float(right.mean())

"""Choosing kernel and penalty: every setting predicts every object once, from a Gram matrix computed once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from mercer.errors import InputError, KernelWarning
from mercer.estimators.kernel_ridge import KernelRidge
from mercer.estimators.svc import SVC
from mercer.gram.matrix import Gram
from mercer.kernels.base import Kernel
from mercer.kernels.precomputed import Precomputed

Float64 = npt.NDArray[np.float64]
Splits = list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]

PENALTIES = (0.1, 1.0, 10.0, 100.0)
RIDGES = (10.0, 1.0, 0.1, 0.01, 0.001)


@final
@dataclass(frozen=True, eq=False)
class Trial:
    """One kernel with one penalty: how it predicted each object when that object was held out."""

    kernel: Kernel
    penalty: float
    """C of a classifier, alpha of a regression."""
    fold_scores: Float64
    predicted: npt.NDArray[Any]
    decisions: Float64
    """Decision values, one column, or one per class where there are more than two."""
    seconds: float

    @property
    def score(self) -> float:
        return float(self.fold_scores.mean())


@final
@dataclass(frozen=True, eq=False)
class Search:
    """All trials, best first, on the objects at `rows`; `gram` is the best kernel's."""

    trials: list[Trial]
    rows: npt.NDArray[np.intp]
    fold_of: npt.NDArray[np.intp]
    gram: Float64
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
    """Keeps trials, so that a search which is interrupted can go on later."""

    def recall(self, kernel: Kernel, penalty: float) -> Trial | None: ...

    def keep(self, kernel: Kernel, penalty: float, trial: Trial) -> None: ...


def settings_of(candidates: Sequence[Kernel], penalties: tuple[float, ...] | None, task: str) -> int:
    """How many settings a search tries."""
    return len(candidates) * len(penalties or (PENALTIES if task == "classification" else RIDGES))


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


def sample(y: npt.NDArray[Any], task: str, most: int, seed: int) -> npt.NDArray[np.intp]:
    """Which objects to search on: all, or a random part with at least three of every class."""
    if len(y) <= most:
        return np.arange(len(y))
    order = np.random.default_rng(seed).permutation(len(y))
    chosen = order[:most]
    if task == "classification":
        extra = [order[y[order] == label][:3] for label in np.unique(y)]
        chosen = np.unique(np.concatenate([chosen, *extra]))
    return np.sort(chosen)


def search(
    objects: Any,
    y: npt.NDArray[Any],
    candidates: list[Kernel],
    *,
    task: str,
    folds: int,
    seed: int,
    most: int,
    balanced: bool = False,
    deadline: float | None = None,
    penalties: tuple[float, ...] | None = None,
    tick: Callable[[float, str], None] = lambda fraction, note: None,
    memory: Memory | None = None,
) -> Search:
    """Try every kernel with every penalty; after the deadline, what has been tried is all there is."""
    rows = sample(y, task, most, seed)
    labels = y[rows]
    splits = splits_of(labels, task, folds, seed)
    machine: Any = _machine(task, balanced)
    grid = penalties or (PENALTIES if task == "classification" else RIDGES)
    name = "C" if task == "classification" else "alpha"
    trials: list[Trial] = []
    skipped: list[tuple[Kernel, str]] = []
    grams: dict[str, Float64] = {}
    steps, total = 0, len(candidates) * len(grid) * len(splits)
    unfinished = False
    for kernel in candidates:
        if trials and deadline is not None and time.monotonic() > deadline:
            unfinished = True
            break
        recalled = [] if memory is None else [memory.recall(kernel, penalty) for penalty in grid]
        if recalled and None not in recalled:
            trials += [trial for trial in recalled if trial is not None]
            steps += len(grid) * len(splits)
            continue
        try:
            K = _gram(kernel, objects, rows, len(y))
        except InputError as error:  # a kernel on our own list that these objects are not for
            if len(candidates) == 1:
                raise
            skipped.append((kernel, str(error)))
            continue
        scale = float(np.diagonal(K).mean()) or 1.0
        for penalty in grid:
            if trials and deadline is not None and time.monotonic() > deadline:
                unfinished = True
                break
            # Penalties are meant for kernels whose values are about 1 on the diagonal.
            amount = float(f"{penalty / scale if task == 'classification' else penalty * scale:.3g}")
            began = time.monotonic()
            known = None if memory is None else memory.recall(kernel, penalty)
            if known is None:
                done = _try(clone(machine).set_params(**{name: amount}), K, labels, splits, task, balanced)
                known = Trial(kernel, amount, *done, time.monotonic() - began)
                if memory is not None:
                    memory.keep(kernel, penalty, known)
            trials.append(known)
            steps += len(splits)
            tick(steps / total, f"{kernel}"[:40])
        top = max(trials, key=lambda trial: trial.score)
        if top.kernel is kernel:
            grams = {str(kernel): K}
    if not trials:
        raise InputError(
            "None of the kernels suits these objects: " + "; ".join(f"{k}: {why}" for k, why in skipped[:3])
        )
    trials.sort(key=lambda trial: -trial.score)
    fold_of = np.empty(len(rows), dtype=np.intp)
    for number, (_, test) in enumerate(splits):
        fold_of[test] = number
    best = trials[0].kernel
    gram = grams.get(str(best))
    gram = _gram(best, objects, rows, len(y)) if gram is None else gram
    return Search(trials, rows, fold_of, gram, tuple(skipped), unfinished)


def _machine(task: str, balanced: bool) -> Any:
    if task == "classification":
        return SVC(kernel=Precomputed(), psd="ignore", class_weight="balanced" if balanced else None, max_iter=100_000)
    return KernelRidge(kernel=Precomputed(), fit_intercept=True)


def _gram(kernel: Kernel, objects: Any, rows: npt.NDArray[np.intp], n: int) -> Float64:
    if isinstance(kernel, Precomputed):
        return np.asarray(objects, dtype=np.float64)[np.ix_(rows, rows)]
    part = objects if len(rows) == n else objects.take(rows)
    return Gram.of(kernel.fit(part), part, dtype=np.float64).exact()


def _try(
    machine: Any, K: Float64, y: npt.NDArray[Any], splits: Splits, task: str, balanced: bool
) -> tuple[Float64, npt.NDArray[Any], Float64]:
    predicted = np.empty(len(y), dtype=y.dtype if task == "classification" else np.float64)
    classes = np.unique(y)
    width = len(classes) if task == "classification" and len(classes) > 2 else 1
    decisions = np.zeros((len(y), width))
    scores = []
    for train, test in splits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", KernelWarning)
            model = clone(machine).fit(K[np.ix_(train, train)], y[train])
        across = K[np.ix_(test, train)]
        predicted[test] = model.predict(across)
        if task == "classification":
            values = model.decision_function(across)
            decisions[test] = values[:, None] if values.ndim == 1 else values
        else:
            decisions[test, 0] = predicted[test]
        scores.append(score(y[test], predicted[test], task, balanced))
    return np.array(scores), predicted, decisions


def score(y: npt.NDArray[Any], predicted: npt.NDArray[Any], task: str, balanced: bool = False) -> float:
    """Accuracy, or the mean accuracy of the classes; for numbers, R^2."""
    if task == "regression":
        spread = float(np.square(y - y.mean()).sum())
        return 1.0 - float(np.square(y - predicted).sum()) / spread if spread > 0 else 0.0
    right = predicted == y
    if balanced:
        return float(np.mean([right[y == label].mean() for label in np.unique(y)]))
    return float(right.mean())

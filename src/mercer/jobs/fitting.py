"""`fit`: from data that were read to a trained model and everything that a report says about it."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._version import __version__
from mercer.errors import InputError
from mercer.estimators.kernel_ridge import KernelRidge
from mercer.estimators.svc import SVC
from mercer.gram.matrix import Gram
from mercer.inputs.base import Objects
from mercer.jobs import calibration
from mercer.jobs.candidates import candidates, lifted
from mercer.jobs.checkpoint import Checkpoint, mark_of
from mercer.jobs.judging import Estimate, honest, verdict
from mercer.jobs.preparation import Preparation
from mercer.jobs.search import Search, sample, search, settings_of
from mercer.jobs.trained import TrainedModel
from mercer.kernels.base import Kernel
from mercer.kernels.expression import parse
from mercer.kernels.precomputed import Precomputed
from mercer.readers.data import Data

Float64 = npt.NDArray[np.float64]
_MOST_CLASSES = 100
_FEW_VALUES = 20
_NEAREST = 2000
_MOST_RIDGE = 8000


@final
@dataclass(frozen=True)
class Plan:
    """What a user may choose about training."""

    kernel: str = "auto"
    task: str = "auto"
    C: float | None = None
    folds: int = 5
    seed: int = 0
    scale: bool = True
    impute: bool = False
    balanced: bool = False
    time_limit: float | None = None
    search_size: int = 2000


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """The model, and how it came about."""

    model: TrainedModel
    data: Data
    task: str
    y: npt.NDArray[Any]
    search: Search
    estimate: Estimate
    verdict: str
    probabilities: Float64 | None
    """Of the objects searched on, each from a calibration that had not seen it."""
    notes: tuple[str, ...]
    seconds: float
    plan: Plan
    support: npt.NDArray[np.intp]
    """Which objects of the file the machine keeps."""
    command: str = ""
    versions: dict[str, str] = field(default_factory=dict)


def fit(
    data: Data,
    plan: Plan | None = None,
    *,
    command: str = "",
    tick: Callable[[float, str], None] = lambda f, n: None,
    checkpoint: Checkpoint | None = None,
) -> Outcome:
    """Choose a kernel and a penalty by cross-validation, train on everything, and say how good it is.

    A `checkpoint` remembers what the search has finished; whoever interrupts may write it, and resume later.
    """
    plan = plan or Plan()
    began = time.monotonic()
    if data.labels is None:
        raise InputError(f"{data.name} has no labels to learn from.")
    notes = list(data.notes)
    task = task_of(data.labels, plan.task, notes)
    y = data.labels if task == "classification" else np.asarray(data.labels, dtype=np.float64)
    preparation = Preparation.learn(data, scale=plan.scale, impute=plan.impute)
    if preparation.standardised:
        notes.append("Numbers are standardised: mean 0, deviation 1 (--no-scale leaves them as they are).")
    objects = preparation(data)
    tried = candidates(objects, preparation) if plan.kernel == "auto" else [lifted(parse(plan.kernel), preparation)]
    penalties = None if plan.C is None else (plan.C,)
    if checkpoint is not None:
        mark = mark_of(data, objects, tried, plan)
        notes += [note for note in [checkpoint.begin(mark, tried, settings_of(tried, penalties, task))] if note]
    _warm(task)
    found = search(
        objects,
        y,
        tried,
        task=task,
        folds=plan.folds,
        seed=plan.seed,
        most=plan.search_size,
        balanced=plan.balanced,
        deadline=None if plan.time_limit is None else began + 0.7 * plan.time_limit,
        penalties=penalties,
        tick=tick,
        memory=checkpoint,
    )
    if found.unfinished:
        notes.append("The time limit ended the search early: not every kernel was tried.")
    if len(found.rows) < len(y):
        notes.append(
            f"Kernels were compared on {len(found.rows):,} of the {len(y):,} objects, drawn at random (--search-size)."
        )
    notes += [f"Not tried: {kernel}. {why}" for kernel, why in found.skipped]
    best = found.best
    left = None if plan.time_limit is None else max(1.0, plan.time_limit - (time.monotonic() - began))
    estimator = machine(task, best.kernel, best.penalty, plan, left)
    kept = sample(y, task, _MOST_RIDGE if task == "regression" else len(y), plan.seed)
    if len(kept) < len(y):
        notes.append(
            f"Trained on {len(kept):,} of the {len(y):,} objects, drawn at random: exact least squares grows with n^3."
        )
        objects = objects.take(kept) if isinstance(objects, Objects) else objects[np.ix_(kept, kept)]
    estimator.fit(objects, y[kept])
    estimate = honest(found, y, task, plan.balanced, plan.seed)
    said = verdict(estimate, task, y[found.rows], data.target)
    codes, held, learnt = None, None, np.zeros((0, 0))
    if task == "classification":
        classes, codes = np.unique(y[found.rows], return_inverse=True)
        learnt = calibration.learn(best.decisions, codes, len(estimator.classes_))
        held = calibration.held_out(best.decisions, codes, found.fold_of, len(classes)) if learnt.size else None
    support = kept[support_rows(estimator)]
    names = np.array([data.name_of(int(row)) for row in support], dtype=np.str_)
    versions = versions_used()
    about = {
        "task": task,
        "target": data.target,
        "kernel": str(best.kernel),
        "penalty": best.penalty,
        "penalty_name": "C" if task == "classification" else "alpha",
        "objects": len(y),
        "trained_on": len(kept),
        "support": len(support),
        "format": data.format,
        "id": data.detail.get("id"),
        "first_index": data.detail.get("first"),
        "data": data.name,
        "score": {
            "name": estimate.name,
            "value": estimate.value,
            "low": estimate.low,
            "high": estimate.high,
            "baseline": estimate.baseline,
        },
        "verdict": said,
        "seed": plan.seed,
        "command": command,
        "versions": versions,
        "standardised": preparation.standardised,
        "balanced": plan.balanced,
    }
    model = TrainedModel(estimator, preparation, learnt, names, nearest(estimator, objects), about)
    return Outcome(
        model,
        data,
        task,
        y,
        found,
        estimate,
        said,
        held,
        tuple(notes),
        time.monotonic() - began,
        plan,
        support,
        command,
        versions,
    )


def _warm(task: str) -> None:
    """Compile before the clock of the first kernel runs, so that its seconds are its own."""
    K = np.array([[2.0, 1.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0]])
    machine(task, Precomputed(), 1.0, Plan(), None).fit(K, [0, 0, 1, 1])


def task_of(labels: npt.NDArray[Any], asked: str, notes: list[str]) -> str:
    """Classes, or numbers to be predicted: text and few whole numbers are classes."""
    if asked == "regression" and labels.dtype.kind not in "if":
        raise InputError(f"Regression needs numbers, but the labels are text, such as {str(labels[0])!r}.")
    if asked != "auto":
        return asked
    distinct = len(np.unique(labels))
    few = distinct <= max(2, min(_FEW_VALUES, len(labels) // 3))
    if labels.dtype.kind == "U" or (labels.dtype.kind == "i" and few):
        if distinct > max(2, min(_MOST_CLASSES, len(labels) // 2)):
            raise InputError(
                f"The target has {distinct:,} different labels in {len(labels):,} objects, which cannot be learnt. "
                "Is it the right column?"
            )
        return "classification"
    notes.append(
        f"The target has {distinct:,} different numbers: this is regression (--task classification says otherwise)."
    )
    return "regression"


def machine(task: str, kernel: Kernel, penalty: float, plan: Plan, time_limit: float | None) -> Any:
    """The estimator of a task."""
    if task == "classification":
        weight = "balanced" if plan.balanced else None
        return SVC(kernel=kernel, C=penalty, class_weight=weight, time_limit=time_limit)
    return KernelRidge(alpha=penalty, kernel=kernel, fit_intercept=True)


def support_rows(estimator: Any) -> npt.NDArray[np.intp]:
    """Which training objects the machine keeps."""
    rows = getattr(estimator, "support_", None)
    return np.arange(len(estimator.expansion_.support)) if rows is None else np.asarray(rows)


def nearest(estimator: Any, objects: Any) -> float:
    """The distance within which 99 of 100 training objects have a support object other than themselves."""
    expansion = estimator.expansion_
    if isinstance(expansion.kernel.kernel, Precomputed):
        return float("inf")
    fitted = expansion.kernel
    support = support_rows(estimator)
    rows = np.unique(np.linspace(0, len(objects) - 1, _NEAREST).astype(np.intp))
    part = objects.take(rows)
    columns = np.unique(np.linspace(0, len(support) - 1, _NEAREST).astype(np.intp))
    across = Gram.of(fitted, part, expansion.support.take(columns), dtype=np.float64).exact()
    own = fitted.diagonal(fitted.features(part))
    theirs = fitted.diagonal(fitted.features(expansion.support.take(columns)))
    squared = np.maximum(own[:, None] + theirs[None, :] - 2.0 * across, 0.0)
    squared[rows[:, None] == support[columns][None, :]] = np.inf
    found = np.sqrt(squared.min(axis=1))
    found = found[np.isfinite(found)]
    return float(np.quantile(found, 0.99)) if len(found) else float("inf")


def versions_used() -> dict[str, str]:
    from importlib.metadata import version

    import scipy
    import sklearn

    return {
        "mercer": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "numba": version("numba"),
        "system": f"{platform.system()} {platform.machine()}",
    }

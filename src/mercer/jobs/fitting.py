"""`fit`: from data that were read to a trained model and everything that a report says about it."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer._version import __version__
from mercer.gram.make import gram_of
from mercer.jobs import calibration
from mercer.jobs.checkpoint import Checkpoint, mark_of
from mercer.jobs.judging import Estimate, honest, verdict
from mercer.jobs.machines import Learner
from mercer.jobs.posing import Plan as Plan
from mercer.jobs.posing import pose, said_of
from mercer.jobs.search import Search
from mercer.jobs.trained import TrainedModel
from mercer.kernels.precomputed import Precomputed
from mercer.readers.data import Data

_NEAREST = 2000


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
    objects: Any
    """All objects, as the kernel takes them."""
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
    problem = pose(data, plan, () if plan.kernel == "auto" else (plan.kernel,))
    plan, task, y, objects = problem.plan, problem.task, problem.y, problem.objects
    preparation, notes = problem.preparation, list(problem.notes)
    if checkpoint is not None:
        mark = mark_of(data, objects, problem.kernels, plan)
        notes += [note for note in [checkpoint.begin(mark, problem.kernels)] if note]
    _warm(problem.learner)
    deadline = None if plan.time_limit is None else began + 0.7 * plan.time_limit
    found = problem.search(deadline, tick, checkpoint)
    notes += said_of(found, len(y))
    if len(found.rows) < len(y):
        notes.append(
            "The score is that of machines trained on these alone; the model learns from all objects, and should be a "
            "little better."
        )
    best = found.best
    left = None if plan.time_limit is None else max(1.0, plan.time_limit - (time.monotonic() - began))
    estimator = problem.learner.trained(best.kernel, best.penalty, left)
    estimator.fit(objects, y)
    estimate = honest(found, y, task, plan.balanced, plan.seed)
    said = verdict(estimate, task, y[found.rows], data.target, predicted=best.predicted)
    codes, held, learnt = None, None, np.zeros((0, 0))
    if task == "classification":
        classes, codes = np.unique(y[found.rows], return_inverse=True)
        learnt = calibration.learn(best.decisions, codes, len(estimator.classes_))
        held = calibration.held_out(best.decisions, codes, found.fold_of, len(classes)) if learnt.size else None
    support = support_rows(estimator)
    names = np.array([data.name_of(int(row)) for row in support], dtype=np.str_)
    versions = versions_used()
    about = {
        "task": task,
        "target": data.target,
        "kernel": str(best.kernel),
        "penalty": best.penalty,
        "penalty_name": problem.learner.penalty,
        "objects": len(y),
        "trained_on": len(y),
        "searched_on": len(found.rows),
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
        objects,
        command,
        versions,
    )


def _warm(learner: Learner) -> None:
    """Compile before the clock of the first kernel runs, so that its seconds are its own."""
    K = np.array([[2.0, 1.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0]])
    learner.trained(Precomputed(), 1.0).fit(K, [0, 0, 1, 1])


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
    across = gram_of(fitted, part, expansion.support.take(columns), dtype=np.float64).exact()
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

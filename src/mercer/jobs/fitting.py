"""From the data of a file to a trained model and everything that a report says about it."""

from __future__ import annotations

import html
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, final

import numpy as np

from mercer._types import Float64, Indices
from mercer._version import __version__
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.jobs import calibration
from mercer.jobs.candidates import short_text
from mercer.jobs.checkpoint import Checkpoint
from mercer.jobs.problem import Plan, Problem, prepare
from mercer.jobs.scoring import Estimate, corrected, of_predictions, verdict
from mercer.jobs.search import Search, search
from mercer.jobs.sizing import held_out, take
from mercer.jobs.trained import TrainedModel
from mercer.kernels.precomputed import Precomputed
from mercer.readers.data import Data
from mercer.selection.learner import Learner, evenly_spread

_SAMPLE = 2000
"""How many training and support objects the novelty of new objects is measured by: more would
estimate the 99 % quantile better, and cost the square of their number in kernel values."""
_LEVELS = (50, 80, 90, 95, 99)
"""The levels of intervals that a model of numbers can give, in per cent."""
_SEARCH_SHARE = 0.7
"""How much of the time limit goes to the search; the rest is for training on all objects."""


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """The model, and how it was trained."""

    model: TrainedModel
    problem: Problem
    search: Search
    estimate: Estimate
    verdict: str
    probabilities: Float64 | None
    """Of the objects searched on, each from a calibration that had not seen it."""
    notes: tuple[str, ...]
    seconds: float
    support: Indices
    """Which objects of the file the machine keeps."""
    held_out: Indices
    """Those that the model was scored on and not trained on; none after a search on all objects."""

    def predict(self, X: Any) -> Any:
        """What the model predicts for new objects."""
        return self.model.predict(X)

    def predict_proba(self, X: Any) -> Float64:
        """The probability of each class, one column per class."""
        return self.model.predict_proba(X)

    def __str__(self) -> str:
        return self.verdict

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, and the kernels compared."""
        rows = "".join(
            f"<tr><td>{html.escape(short_text(trial.kernel, self.model.preparation))}</td>"
            f"<td>{trial.score:.3f}</td><td>{trial.penalty:g}</td></tr>"
            for trial in self.search.by_kernel()
        )
        head = (
            f"<tr><th>kernel</th><th>{html.escape(self.estimate.name)}</th><th>{self.problem.learner.penalty}</th></tr>"
        )
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return (
            f"<p><b>{html.escape(self.verdict)}</b></p><table>{head}{rows}</table>"
            f"<details><summary>{len(self.notes)} notes</summary><ul>{notes}</ul></details>"
        )


def fit(
    data: Data,
    plan: Plan | None = None,
    *,
    command: str = "",
    report: Callable[[float, str], None] = lambda fraction, note: None,
    checkpoint: Checkpoint | None = None,
) -> Outcome:
    """Choose a kernel and a penalty by cross-validation, train on all objects, and say how good the model is.

    A `checkpoint` keeps what the search has finished, so that it can be resumed after an interrupt.
    """
    plan = plan or Plan()
    began = time.monotonic()
    problem = prepare(data, plan, () if plan.kernel == "auto" else (plan.kernel,))
    plan, y = problem.plan, problem.y
    notes = list(problem.notes)
    if checkpoint is not None:
        notes += [note for note in [checkpoint.begin(problem)] if note]
    _compile(problem.learner)
    deadline = None if plan.time_limit is None else began + _SEARCH_SHARE * plan.time_limit
    found = search(problem, deadline=deadline, report=report, memory=checkpoint, scout=True)
    notes += found.notes(len(y))
    best = found.best
    held = rows_held_out(problem)
    rows = np.setdiff1d(np.arange(len(y)), held)
    objects = take(problem.objects, rows) if len(held) else problem.objects
    left = None if plan.time_limit is None else max(1.0, plan.time_limit - (time.monotonic() - began))
    estimator = problem.learner.trained(best.kernel, best.penalty, left).fit(objects, y[rows])
    estimate, words, note = _scored(problem, found, estimator, held)
    notes += [note] if note else []
    probabilities, calibrated = _calibrated(problem, found)
    support = rows[support_rows(estimator)]
    names = np.array([data.name_of(int(row)) for row in support], dtype=np.str_)
    about = {
        "task": problem.task,
        "target": data.target,
        "kernel": str(best.kernel),
        "penalty": best.penalty,
        "penalty_name": problem.learner.penalty,
        "objects": len(y),
        "trained_on": len(rows),
        "scored_on": len(held) or len(found.rows),
        "searched_on": len(found.rows),
        "support": len(support),
        "format": data.format,
        "id": data.detail.get("id"),
        "whole_files": data.detail.get("whole_files"),
        "first_index": data.detail.get("first"),
        "data": data.name,
        "score": {name: getattr(estimate, name) for name in ("name", "value", "low", "high", "baseline")},
        "verdict": words,
        "seed": plan.seed,
        "command": command,
        "versions": versions_used(),
        "standardised": problem.preparation.standardised,
        "balanced": plan.balanced,
        "errors": typical_errors(y[found.rows] - best.predicted) if problem.task == "regression" else None,
    }
    novelty = novelty_threshold(estimator, objects)
    model = TrainedModel(estimator, problem.preparation, calibrated, names, novelty, about)
    seconds = time.monotonic() - began
    return Outcome(model, problem, found, estimate, words, probabilities, tuple(notes), seconds, support, held)


def _scored(problem: Problem, found: Search, estimator: Any, held: Indices) -> tuple[Estimate, str, str]:
    """How good the model is: the score, the verdict, and a sentence on which machines and objects it is about."""
    y, target = problem.y, problem.data.target
    if len(held):
        predicted = np.asarray(estimator.predict(take(problem.objects, held)))
        estimate = of_predictions(y[held], predicted, problem.scoring, problem.plan.seed)
        note = f"The score is that of the model itself, on {len(held):,} objects that it was not trained on."
        return estimate, verdict(estimate, y[held], target, predicted=predicted), note
    estimate = corrected(found, problem)
    words = verdict(estimate, y[found.rows], target, predicted=found.best.predicted)
    sampled = len(found.rows) < len(y)
    note = "The score is that of machines trained on this sample; the model should be slightly better."
    return estimate, words, note if sampled else ""


def _calibrated(problem: Problem, found: Search) -> tuple[Float64 | None, Float64]:
    """The probabilities of the objects searched on, each without itself; and what new ones are calibrated by."""
    if problem.task != "classification":
        return None, np.zeros((0, 0))
    classes, codes = np.unique(problem.y[found.rows], return_inverse=True)
    calibrated = calibration.learn(found.best.decisions, codes, len(np.unique(problem.y)))
    if not calibrated.size:
        return None, calibrated
    return calibration.held_out(found.best.decisions, codes, found.splits, len(classes)), calibrated


def rows_held_out(problem: Problem) -> Indices:
    """Which objects the model is not trained on.

    Rows of a Gram matrix cannot be told from its columns, and objects of one group not be parted: then it is on all.
    """
    if not isinstance(problem.objects, Objects) or problem.data.groups is not None:
        return np.zeros(0, dtype=np.intp)
    return held_out(problem.y, problem.task, problem.search_size, problem.plan.seed)


def _compile(learner: Learner) -> None:
    """Compile the loops before the first kernel is timed."""
    K = np.array([[2.0, 1.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0]])
    learner.trained(Precomputed(), 1.0).fit(K, [0, 0, 1, 1])


def typical_errors(residuals: Float64) -> dict[str, float]:
    """How large errors on objects not seen are: the level in per cent, and the size that so many stay within."""
    sizes = np.abs(residuals)
    return {str(level): float(np.quantile(sizes, min(1.0, level / 100 * (1 + 1 / len(sizes))))) for level in _LEVELS}


def support_rows(estimator: Any) -> Indices:
    """Which training objects the machine keeps."""
    rows = getattr(estimator, "support_", None)
    return np.arange(len(estimator.expansion_.support)) if rows is None else np.asarray(rows)


def novelty_threshold(estimator: Any, objects: Any) -> float:
    """The distance within which 99 % of the training objects have a support object other than themselves."""
    expansion = estimator.expansion_
    fitted = expansion.kernel
    if fitted.kernel.domain is GramRows:
        return float("inf")
    support = support_rows(estimator)
    rows, columns = evenly_spread(len(objects), _SAMPLE), evenly_spread(len(support), _SAMPLE)
    part, kept = objects.take(rows), expansion.support.take(columns)
    across = gram_of(fitted, part, kept, dtype=np.float64).exact()
    own, theirs = (fitted.diagonal(fitted.features(some)) for some in (part, kept))
    squared = np.maximum(own[:, None] + theirs[None, :] - 2.0 * across, 0.0)
    squared[rows[:, None] == support[columns][None, :]] = np.inf
    found = np.sqrt(squared.min(axis=1))
    found = found[np.isfinite(found)]
    return float(np.quantile(found, 0.99)) if len(found) else float("inf")


def versions_used() -> dict[str, str]:
    """The versions of everything that a result may depend on."""
    return {
        "mercer": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
        "system": f"{platform.system()} {platform.machine()}",
    }

"""What a model file records about its training: plain values, for `mercer info`, model cards and reports."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, final

import numpy as np

from mercer._types import Float64
from mercer._version import __version__
from mercer.jobs.metric_formulas import Answers
from mercer.jobs.problem import Problem
from mercer.jobs.scaling import Scaled
from mercer.jobs.scoring import Estimate
from mercer.jobs.search import Search

_LEVELS = (50, 80, 90, 95, 99)
"""The levels of intervals that a model of numbers can give, in per cent."""


@final
@dataclass(frozen=True, eq=False)
class Judged:
    """Predictions for unseen objects, and their scores."""

    answers: Answers
    estimate: Estimate
    verdict: str


def record(
    problem: Problem, found: Search, trained: Scaled, judged: Judged, counts: Mapping[str, int], command: str
) -> dict[str, Any]:
    """Everything worth knowing later; `counts` are those of objects in all, trained on, scored on and kept."""
    data, plan, estimate = problem.data, problem.plan, judged.estimate
    classes = problem.task == "classification"
    return {
        "task": problem.task,
        "target": data.target,
        "kernel": str(trained.way.kernel(trained.kernel)),
        "penalty": trained.penalty,
        "penalty_name": trained.way.penalty_name(problem.learner),
        "way": str(trained.way),
        "searched_on": found.searched,
        **counts,
        "format": data.format,
        "id": data.detail.get("id"),
        "whole_files": data.detail.get("whole_files"),
        "first_index": data.detail.get("first"),
        "data": data.name,
        "score": {name: getattr(estimate, name) for name in ("name", "value", "low", "high", "baseline")},
        "verdict": judged.verdict,
        "seed": plan.seed,
        "command": command,
        "versions": versions_used(),
        "standardised": problem.preparation.standardised,
        "balanced": plan.balanced,
        "errors": _errors(problem, found, trained),
        "link": problem.link.name,
        "link_limits": [problem.link.low, problem.link.high] if problem.link.name else None,
        "metric": problem.metric.text,
        "threshold": plan.threshold,
        **{name: data.detail.get(name) for name in ("weight", "class_names", "group", "time")},
        "figures": _of_classes(judged.answers) if classes else _of_numbers(problem.y),
        "notes": list(problem.notes),
    }


def _errors(problem: Problem, found: Search, trained: Scaled) -> dict[str, float] | None:
    """The sizes of errors, for intervals around predictions; none for classes and quantiles other than the median."""
    if problem.task != "regression" or problem.metric.quantile not in (None, 0.5):
        return None
    if trained.growth is not None:
        answers = trained.growth.chosen.answers
        return typical_errors(problem.link(answers.y) - problem.link(answers.predicted))
    return typical_errors(problem.link(problem.y[found.rows]) - found.best.decisions[:, 0])


def typical_errors(residuals: Float64) -> dict[str, float]:
    """The sizes of errors on unseen objects: levels in per cent, and the error that this many do not exceed."""
    sizes = np.abs(residuals)
    return {str(level): float(np.quantile(sizes, min(1.0, level / 100 * (1 + 1 / len(sizes))))) for level in _LEVELS}


def _of_classes(answers: Answers) -> list[dict[str, Any]]:
    """For each class: its number of objects, its recall, and its precision."""
    found = []
    for label in answers.labels:
        true, said = answers.y == label, answers.predicted == label
        both = int((true & said).sum())
        figures = {"recall": both / max(int(true.sum()), 1), "precision": both / max(int(said.sum()), 1)}
        found.append({"name": str(label), "objects": int(true.sum()), **figures})
    return found


def _of_numbers(y: Float64) -> dict[str, float]:
    """The range of the target."""
    names = ("least", "median", "mean", "largest", "deviation")
    found = (y.min(), np.median(y), y.mean(), y.max(), y.std())
    return {name: float(value) for name, value in zip(names, found, strict=True)}


def versions_used() -> dict[str, str]:
    """The versions of everything that a result may depend on."""
    return {
        "mercer": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
        "system": f"{platform.system()} {platform.machine()}",
    }

"""A finished search as the page gets it: ranking, verdict, errors, and what to take away."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from mercer.errors import MercerError
from mercer.jobs.code import equivalent
from mercer.jobs.fitting import Outcome
from mercer.jobs.problem import Plan
from mercer.readers.options import Options
from mercer.selection.learner import has_converged
from mercer.studio.workbench.command import command_line
from mercer.studio.workbench.objects import shown
from mercer.theory.diagnosis import diagnose

_MOST_ERRORS = 40
"""The most errors that are shown: the clearest ones say most."""
_NEAREST = 3
"""The support objects that are named for each error."""


def result(outcome: Outcome, path: str, options: Options) -> dict[str, Any]:
    """Everything that the page shows about a finished search."""
    model = outcome.model
    proof = model.estimator.certificate_
    return {
        "task": outcome.problem.task,
        "target": outcome.problem.data.target,
        "kernel": model.about["kernel"],
        "penalty": model.about["penalty"],
        "penalty_name": model.about["penalty_name"],
        "score": dataclasses.asdict(outcome.estimate),
        "verdict": outcome.verdict,
        "notes": list(outcome.notes),
        "support": model.about["support"],
        "objects": model.about["objects"],
        "seconds": outcome.seconds,
        "certificate": {"gap": proof.relative_gap, "converged": bool(has_converged(model.estimator))},
        "ranking": [
            {"kernel": str(trial.kernel), "penalty": trial.penalty, "score": trial.score,
             "spread": float(trial.fold_scores.std()), "seconds": trial.seconds}
            for trial in outcome.search.by_kernel()
        ],
        "errors": _errors(outcome),
        "diagnosis": _diagnosis(outcome),
        "command": command_line(path, options, _repeatable(outcome)),
        "ended_early": outcome.search.unfinished,
        "python": equivalent(outcome, path, options),
    }  # fmt: skip


def _repeatable(outcome: Outcome) -> Plan:
    """A plan that gives this model on any machine: it states what the time limit decided.

    A search that ended early is not repeated, since a faster machine would get further: its winner is trained instead.
    """
    plan, found = outcome.problem.plan, outcome.search
    sampled = found.searched < len(outcome.problem.y)
    plan = dataclasses.replace(plan, time_limit=None, search_size=plan.search_size if sampled else None)
    return dataclasses.replace(plan, kernel=str(found.best.kernel), C=found.best.penalty) if found.unfinished else plan


def _errors(outcome: Outcome) -> list[dict[str, Any]]:
    """Objects that the cross-validation got wrong, the clearest first, each with its nearest support objects."""
    found, data = outcome.search, outcome.problem.data
    labels, predicted = outcome.problem.y[found.rows], found.best.predicted
    if outcome.problem.task == "regression":
        size = np.abs(predicted - labels)
        wrong = np.argsort(-size, kind="stable")
    else:
        size = np.abs(found.best.decisions).max(axis=1)
        wrong = np.flatnonzero(predicted != labels)
        wrong = wrong[np.argsort(-size[wrong], kind="stable")]
    told = []
    for place in wrong[:_MOST_ERRORS]:
        row = int(found.rows[place])
        told.append({**shown(data, row), "predicted": _plain(predicted[place]), "near": _nearest(outcome, row)})
    return told


def _nearest(outcome: Outcome, row: int) -> list[dict[str, Any]]:
    """Support objects with the largest normalised kernel value."""
    model, objects = outcome.model, outcome.problem.objects
    expansion = model.machine.expansion
    if not hasattr(objects, "take") or outcome.problem.preparation.kind == "gram":
        return []
    across = model.similarities(objects.take(np.array([row])))[0]
    fitted = expansion.kernel
    lengths = fitted.diagonal(fitted.features(expansion.support))
    cosines = across / np.sqrt(np.maximum(lengths, np.finfo(float).tiny))
    cosines[outcome.support == row] = -np.inf
    order = [int(place) for place in np.argsort(-cosines, kind="stable")[:_NEAREST] if np.isfinite(cosines[place])]
    return [shown(outcome.problem.data, int(outcome.support[place])) for place in order]


def _diagnosis(outcome: Outcome) -> dict[str, Any] | None:
    """What the Gram matrix says about the kernel."""
    problem = outcome.problem
    if problem.preparation.kind == "gram":
        return None
    try:
        found = diagnose(outcome.search.best.kernel, problem.objects, problem.y, random_state=problem.plan.seed)
    except MercerError as error:
        return {"verdict": "", "text": str(error)}
    return {"verdict": str(found.verdict), "text": str(found)}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value

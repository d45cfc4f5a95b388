"""From the data of a file to a trained model and everything for a report about it."""

from __future__ import annotations

import contextlib
import html
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer import _deadline
from mercer._progress import reporting
from mercer._types import Float64, Indices
from mercer.gram.journal import Journal
from mercer.inputs.base import Objects
from mercer.inputs.blocks import ArrayBlocks
from mercer.jobs import calibration
from mercer.jobs.candidates import short_text
from mercer.jobs.checkpoint import Checkpoint
from mercer.jobs.experiments import with_link
from mercer.jobs.growing import Growth
from mercer.jobs.machines import Machine
from mercer.jobs.metric_formulas import Answers
from mercer.jobs.novelty import novelty_threshold, support_rows
from mercer.jobs.prepared import prepared
from mercer.jobs.problem import Plan, Problem, prepare
from mercer.jobs.record import Judged, record
from mercer.jobs.scaling import Scaled, scaled
from mercer.jobs.scoring import Estimate, corrected, of_answers
from mercer.jobs.search import Search, search
from mercer.jobs.sizing import held_out, take
from mercer.jobs.trained import TrainedModel
from mercer.jobs.verdicts import verdict
from mercer.jobs.whole import Whole
from mercer.kernels.precomputed import Precomputed
from mercer.readers.data import Data
from mercer.selection.cells import Cells
from mercer.selection.learner import Learner
from mercer.training.kernel_estimator import fit_with_kernel

_SEARCH_SHARE = 0.7
"""The fraction of the time limit for the search; the rest is for training on all objects."""


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
    """Probabilities of the objects in the search, each from a calibration that had not seen it."""
    notes: tuple[str, ...]
    seconds: float
    support: Indices
    """The objects of the file that the machine keeps."""
    held_out: Indices
    """The objects that the model was scored on and not trained on; none after a search on all objects."""
    trained: Scaled
    """How the machine was trained on all objects."""

    def predict(self, X: Any) -> Any:
        """The predictions of the model for new objects."""
        return self.model.predict(X)

    def predict_proba(self, X: Any) -> Float64:
        """The probability of each class, one column per class."""
        return self.model.predict_proba(X)

    def card(self, path: str = "model.mercer") -> str:
        """A model card in Markdown, for a model that will be in a file at this path."""
        from mercer.jobs.card import card

        return card(self.model, path)

    def __str__(self) -> str:
        return self.verdict

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, and the kernels compared."""
        rows = "".join(
            f"<tr><td>{html.escape(short_text(trial.kernel, self.model.preparation))}</td>"
            f"<td>{self.problem.metric.shown(trial.score)}</td><td>{trial.penalty:g}</td></tr>"
            for trial in self.search.by_kernel()
        )
        score = html.escape(self.problem.metric.head)
        head = f"<tr><th>kernel</th><th>{score}</th><th>{self.problem.learner.penalty}</th></tr>"
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
    report: Callable[[float, str], None] | None = None,
    checkpoint: Checkpoint | None = None,
    whole: Whole | None = None,
) -> Outcome:
    """Choose a kernel and a penalty by cross-validation, train on all objects, and say how good the model is.

    A `checkpoint` keeps the finished part of the search, so it can be resumed after an interrupt. If `data` are a
    sample of a file that is larger than memory, `whole` is this file, which the model is trained on.
    """
    plan = plan or Plan()
    began = time.monotonic()
    problem = prepare(data, plan, () if plan.kernel == "auto" else (plan.kernel,))
    data = problem.data
    n = len(data)
    if whole is not None:
        n, whole = whole.objects, replace(whole, found=replace(whole.found, data=data))
        problem = replace(problem, plan=replace(problem.plan, search_size=whole.search_size(problem.search_size)))
    _compile(problem.learner)
    problem = with_link(problem)
    plan, y = problem.plan, problem.y
    notes = list(problem.notes)
    if checkpoint is not None:
        notes += [note for note in [checkpoint.begin(problem)] if note]
    deadline = None if plan.time_limit is None else began + _SEARCH_SHARE * plan.time_limit
    with reporting("Comparing kernels") if report is None else contextlib.nullcontext(report) as told:
        found = search(problem, deadline=deadline, report=told, memory=checkpoint, scout=True)
    notes += found.notes(n)
    held = rows_held_out(problem)
    rows = np.setdiff1d(np.arange(len(y)), held)
    objects = take(problem.objects, rows) if len(held) else problem.objects
    trained = _trained(problem, found, rows, objects, began, whole, checkpoint)
    way, estimator = trained.way, trained.estimator
    notes += [*([way.why] if way.why else []), *trained.notes]
    probabilities, calibrated = _calibrated(problem, found)
    if way.growth is not None:
        calibrated = _calibrated_again(problem, way.growth)
    decided, found = found, _as_said(problem, found, probabilities)
    answers, estimate, note = _scored(problem, (decided, found), estimator, held, calibrated)
    words = verdict(estimate, problem.metric, answers, data.target)
    notes += [note] if note else []
    support = rows[support_rows(estimator, objects)]
    names = np.array([data.name_of(int(row)) for row in support], dtype=np.str_)
    counts = {
        "objects": n,
        "trained_on": trained.objects,
        "scored_on": len(held) or len(found.rows),
        "support": len(support),
    }
    about = record(problem, found, way, Judged(answers, estimate, words), counts, command)
    novelty = novelty_threshold(estimator, objects)
    model = TrainedModel(Machine.of(estimator), problem.preparation, calibrated, names, novelty, about)
    seconds = time.monotonic() - began
    return Outcome(model, problem, found, estimate, words, probabilities, tuple(notes), seconds, support, held, way)


@final
@dataclass(frozen=True, eq=False)
class _Trained:
    """The machine, how it was trained, and on how many objects."""

    way: Scaled
    estimator: Any
    objects: int
    notes: tuple[str, ...] = ()


def _trained(
    problem: Problem,
    found: Search,
    rows: Indices,
    objects: Any,
    began: float,
    whole: Whole | None,
    checkpoint: Checkpoint | None,
) -> _Trained:
    """The machine on all objects but those held out, and how it was trained."""

    def left() -> float | None:
        limit = problem.plan.time_limit
        return None if limit is None else max(1.0, limit - (time.monotonic() - began))

    way = scaled(problem, found.best, rows, partial(_asked, problem), left(), whole, checkpoint)
    if whole is not None:
        return _trained_in_blocks(problem, way, rows, objects, left, whole)
    weights = None if problem.data.weights is None else problem.data.weights[rows]
    seconds = left()
    with _deadline.limited(seconds):
        estimator = way.way.fit(way.machine(problem, seconds), objects, problem.learnt(rows), weights)
    return _Trained(_with_penalty(way, estimator), estimator, len(rows))


def _trained_in_blocks(
    problem: Problem, way: Scaled, rows: Indices, objects: Any, left: Callable[[], float | None], whole: Whole
) -> _Trained:
    """A machine on landmarks of the sample, trained on all of the file."""
    known = ArrayBlocks(objects)
    fitted = way.way.kernel(way.kernel).fit(known)
    held = np.setdiff1d(np.arange(len(problem.y)), rows)
    made = prepared(whole, problem, way.kernel.fit(known), held)
    seconds = left()
    with _deadline.limited(seconds), Journal(whole.run).open():
        estimator = fit_with_kernel(way.machine(problem, seconds), fitted, made.blocks)
    if problem.task == "classification":  # it learnt their places
        estimator.classes_ = np.unique(problem.y)[estimator.classes_]
    return _Trained(_with_penalty(way, estimator), estimator, made.blocks.n_objects, made.notes)


def _with_penalty(way: Scaled, estimator: Any) -> Scaled:
    return replace(way, penalty=float(getattr(estimator, "alpha_", way.penalty)))


def _as_said(problem: Problem, found: Search, chances: Float64 | None) -> Search:
    """The search with the labels that the model would predict: the most probable ones, unless told otherwise."""
    if chances is None or problem.plan.balanced or problem.threshold is not None:
        return found
    best = found.best
    said = calibration.most_probable(np.unique(problem.y[found.rows]), chances, best.predicted)
    return replace(found, trials=[replace(best, predicted=said), *found.trials[1:]])


def _scored(
    problem: Problem, searches: tuple[Search, Search], estimator: Any, held: Indices, calibrated: Float64
) -> tuple[Answers, Estimate, str]:
    """The predictions for unseen objects, their score, and a sentence on which objects they are.

    The search is given both with the labels of machines, by which settings were compared, and with those of the model.
    """
    decided, found = searches
    if len(held):
        answers = answers_of(estimator, take(problem.objects, held), problem.y[held], problem, calibrated)
        answers = replace(answers, weights=problem.weights[held])
        note = f"The score is that of the model itself, on {len(held):,} objects that it was not trained on."
        return answers, of_answers(answers, problem.metric, problem.plan.seed), note
    best = found.best
    answers = found.judge.answers(best.predicted, best.decisions)
    sampled = found.searched < len(problem.y)
    note = "The score is that of machines trained on this sample; the model should be slightly better."
    before = decided.judge.answers(decided.best.predicted, decided.best.decisions)
    shift = problem.metric.score(answers) - problem.metric.score(before)
    return answers, corrected(decided, problem, shift), note if sampled else ""


def answers_of(estimator: Any, objects: Any, y: npt.NDArray[Any], problem: Problem, calibrated: Float64) -> Answers:
    """The answers of a machine about objects, as the model will give them."""
    predicted = np.asarray(estimator.predict(objects))
    weights = np.ones(len(y))
    if problem.task != "classification":
        return Answers(y, problem.link.inverse(predicted), weights)
    decisions = columns_of(estimator.decision_function(objects))
    chances = calibration.probabilities(calibrated, decisions) if calibrated.size else None
    if problem.threshold is not None and chances is not None:
        predicted = problem.threshold.predicted(estimator.classes_, chances)
    elif not problem.plan.balanced and not (isinstance(estimator, Cells) and len(estimator.classes_) > 2):
        predicted = calibration.most_probable(estimator.classes_, chances, predicted)
    return Answers(y, predicted, weights, decisions, chances, estimator.classes_)


def columns_of(decisions: Any) -> Float64:
    """Decision values with a column for two classes, or one for each of more."""
    values = np.asarray(decisions)
    return values[:, None] if values.ndim == 1 else values


def _calibrated(problem: Problem, found: Search) -> tuple[Float64 | None, Float64]:
    """The probabilities of the objects in the search, each held out, and the calibration for new ones."""
    if problem.task != "classification":
        return None, np.zeros((0, 0))
    classes, codes = np.unique(problem.y[found.rows], return_inverse=True)
    weights, many = problem.weights[found.rows], len(np.unique(problem.y))
    calibrated = calibration.learn(found.best.decisions, codes, many, weights)
    if not calibrated.size:
        return None, calibrated
    return calibration.held_out(found.best.decisions, codes, found.splits, len(classes), weights), calibrated


def _asked(problem: Problem, machine: Any, objects: Any, rows: Indices) -> Answers:
    """What a machine that is compared with others says of objects; probabilities are learnt from the same."""
    calibrated = np.zeros((0, 0))
    if problem.task == "classification" and problem.needs_chances:
        classes = np.unique(problem.y)
        calibrated = calibration.learn(
            columns_of(machine.decision_function(objects)), np.searchsorted(classes, problem.y[rows]), len(classes),
            problem.weights[rows],
        )  # fmt: skip
    answers = answers_of(machine, objects, problem.y[rows], problem, calibrated)
    return replace(answers, weights=problem.weights[rows])


def _calibrated_again(problem: Problem, growth: Growth) -> Float64:
    """From what the machine that was chosen said of objects that it had not seen."""
    answers = growth.chosen.answers
    if problem.task != "classification" or answers.decisions is None:
        return np.zeros((0, 0))
    classes = np.unique(problem.y)
    return calibration.learn(answers.decisions, np.searchsorted(classes, answers.y), len(classes), answers.weights)


def rows_held_out(problem: Problem) -> Indices:
    """Which objects the model is not trained on.

    With a Gram matrix, groups or times it is trained on all objects: rows of a Gram matrix belong to its columns,
    groups must not be split, and the latest objects are the most important.
    """
    data = problem.data
    if not isinstance(problem.objects, Objects) or data.groups is not None or data.times is not None:
        return np.zeros(0, dtype=np.intp)
    return held_out(problem.y, problem.task, problem.search_size, problem.plan.seed)


def _compile(learner: Learner) -> None:
    """Compile the loops before the first kernel is timed."""
    K = np.array([[2.0, 1.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0]])
    learner.trained(Precomputed(), 1.0).fit(K, [0, 0, 1, 1])

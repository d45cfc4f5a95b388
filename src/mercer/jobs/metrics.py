"""Metrics: accuracy, AUC, F1, log loss, R2, absolute and squared errors, quantiles, or the user's own function.

A metric is computed from predictions for unseen objects, with a weight for each object: the weights of a file, how
often a resample drew the object, or both. One product then scores hundreds of resamples.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._check import did_you_mean
from mercer._types import Float64, Index
from mercer.errors import InputError, ParameterError
from mercer.jobs import metric_formulas as formulas
from mercer.jobs.metric_formulas import Answers

Function = Callable[..., float]
"""A user's own metric: (y, predicted) -> number, larger for better predictions."""
CLASSES, NUMBERS = "classification", "regression"


@final
@dataclass(frozen=True, eq=False)
class Metric:
    """A score, and how it is shown."""

    text: str
    """Its name in options and model files."""
    name: str
    """Its name in tables and sentences."""
    task: str
    formula: Callable[[Answers, Float64], Float64]
    """One score per row of weights."""
    constant: Callable[[Answers], Any]
    """The best constant answer: the baseline."""
    perfect: float | None = 1.0
    """The best possible score; 0 for errors, None if unknown."""
    percent: bool = False
    needs: str = ""
    """What it needs besides predictions: "decisions" or "chances"."""
    quantile: float | None = None
    """The quantile that machines should predict for a good score; the mean if None."""

    @property
    def sign(self) -> float:
        """-1 if less is better, because searches maximise."""
        return -1.0 if self.perfect == 0.0 else 1.0

    def gains(self, answers: Answers, draws: Float64) -> Float64:
        """Scores by rows of weights, with the sign such that more is better."""
        return self.sign * self.formula(answers, draws * answers.weights)

    def score(self, answers: Answers) -> float:
        """The score itself."""
        return float(self.formula(answers, answers.weights[None, :])[0])

    def fold_gains(self, answers: Answers, parts: list[Index]) -> Float64:
        """For each part of the objects, more for better."""
        return np.array([self.sign * self.score(answers.take(part)) for part in parts])

    def baseline(self, answers: Answers) -> float:
        """The score of the best constant answer."""
        predicted = np.full(len(answers.y), self.constant(answers))
        shares = None
        if self.task == CLASSES:
            shares = np.tile(answers.shares(), (len(answers.y), 1))
        return self.score(replace(answers, predicted=predicted, decisions=None, chances=shares))

    def shown(self, gain: float) -> str:
        """A score as in tables: per cent with one digit, or at least three significant digits."""
        return self.figure(self.sign * gain)

    def figure(self, value: float) -> str:
        if self.percent:
            return f"{100 * value:.1f}"
        return f"{value:.3f}" if self.perfect == 1.0 else f"{value:.4g}"

    @property
    def unit(self) -> str:
        return " %" if self.percent else ""

    @property
    def head(self) -> str:
        """The head of a column of such scores."""
        return self.name + self.unit


_KNOWN = {
    "accuracy": (CLASSES, "how often the predicted class is right"),
    "balanced_accuracy": (CLASSES, "the same, averaged over the classes"),
    "auc": (CLASSES, "how often an object of a class is ranked above one of another"),
    "f1": (CLASSES, "precision and recall in one; f1=CLASS for a certain class"),
    "log_loss": (CLASSES, "how surprising the truth is, by the predicted probabilities"),
    "r2": (NUMBERS, "the share of the variance that is explained"),
    "mae": (NUMBERS, "the mean absolute error"),
    "rmse": (NUMBERS, "the root of the mean squared error"),
    "quantile": (NUMBERS, "quantile=0.9: the quantile loss of a machine that predicts this quantile"),
}
"""The metrics by their names: the task of each, and what it measures."""
_SPELT = {"balanced": "balanced_accuracy", "roc_auc": "auc", "logloss": "log_loss", "r^2": "r2"}


def names_of(task: str = "") -> list[str]:
    """The names of all metrics, or of those for a task."""
    return [name for name, (own, _) in _KNOWN.items() if task in ("", own)]


def metric_for(asked: str | Function, task: str, y: npt.NDArray[Any], *, balanced: bool = False) -> Metric:
    """The metric of this name; "auto" means R2 for numbers and accuracy for classes."""
    if not isinstance(asked, str):
        return _own(asked, task)
    word, _, detail = asked.partition("=")
    word = word.strip().lower().replace("-", "_").replace(" ", "_")
    word = _SPELT.get(word, word)
    if word == "auto":
        word = "r2" if task == NUMBERS else "balanced_accuracy" if balanced else "accuracy"
    if word not in _KNOWN:
        raise ParameterError(f"There is no metric {asked!r}. {did_you_mean(word, _KNOWN)} Known: {', '.join(_KNOWN)}.")
    if _KNOWN[word][0] != task:
        what = "classes" if _KNOWN[word][0] == CLASSES else "numbers"
        raise ParameterError(
            f"The metric {word} is for {what}, but this is {task}. Choose one of {', '.join(names_of(task))}."
        )
    if detail and word not in ("f1", "quantile"):
        raise ParameterError(f"The metric {word} takes nothing after its name, but got {asked!r}.")
    if word == "f1":
        return _f1(detail.strip(), y)
    return _quantile(detail, asked) if word == "quantile" else _plain()[word]


def _plain() -> dict[str, Metric]:
    mean, mode, median = formulas.mean, formulas.mode, formulas.quantile_of(0.5)
    found = (
        Metric("accuracy", "accuracy", CLASSES, formulas.accuracy, mode, percent=True),
        Metric("balanced_accuracy", "balanced accuracy", CLASSES, formulas.balanced_accuracy, mode, percent=True),
        Metric("auc", "AUC", CLASSES, formulas.auc, mode, needs="decisions"),
        Metric("log_loss", "log loss", CLASSES, formulas.log_loss, mode, 0.0, needs="chances"),
        Metric("r2", "R2", NUMBERS, formulas.r_squared, mean),
        Metric("mae", "mean absolute error", NUMBERS, formulas.pinball(0.5, 2.0), median, 0.0, quantile=0.5),
        Metric("rmse", "root mean squared error", NUMBERS, formulas.rmse, mean, 0.0),
    )
    return {metric.text: metric for metric in found}


def _f1(label: str, y: npt.NDArray[Any]) -> Metric:
    """F1 of the given class, of the rarer of two, or averaged over more."""
    labels, counts = np.unique(y, return_counts=True)
    names = [str(one) for one in labels]
    if label and label not in names:
        hint = did_you_mean(label, names)
        raise ParameterError(f"The metric f1={label}: there is no class {label!r}. {hint}".strip())
    if not label and len(labels) != 2:
        return Metric("f1", "F1", CLASSES, formulas.f1(None), formulas.mode)
    positive = labels[names.index(label) if label else int(counts.argmin())]
    return Metric(f"f1={positive}", f"F1 of {positive}", CLASSES, formulas.f1(positive), lambda answers: positive)


def _quantile(detail: str, asked: str) -> Metric:
    try:
        level = float(detail or "0.5")
    except ValueError:
        level = 0.0
    if not 0.0 < level < 1.0:
        raise ParameterError(f"The metric quantile takes a number between 0 and 1 (quantile=0.9), not {asked!r}.")
    name = f"quantile loss at {level:g}"
    formula, constant = formulas.pinball(level), formulas.quantile_of(level)
    return Metric(f"quantile={level:g}", name, NUMBERS, formula, constant, 0.0, quantile=level)


def _own(function: Function, task: str) -> Metric:
    if not callable(function):
        raise ParameterError(f"metric must be a name or a function of (y, predicted), not {function!r:.60}.")
    name = getattr(function, "__name__", "own metric").replace("_", " ")

    def formula(answers: Answers, draws: Float64) -> Float64:
        return np.array([_called(function, name, answers, row) for row in draws])

    mean, mode = formulas.mean, formulas.mode
    return Metric("own", name, task, formula, mode if task == CLASSES else mean, None)


def _called(function: Function, name: str, answers: Answers, weights: Float64) -> float:
    """The function on the objects that have a weight; whole weights are repetitions.

    Others are passed on as `sample_weight`, if the function takes it.
    """
    whole = bool((weights == np.rint(weights)).all())
    rows = np.repeat(np.arange(len(weights)), (weights if whole else weights > 0).astype(np.intp))
    known = {} if whole or not _weighs(function) else {"sample_weight": weights[rows]}
    value = float(function(answers.y[rows], answers.predicted[rows], **known)) if len(rows) else 0.0
    if not np.isfinite(value):
        raise InputError(f"The metric {name!r} gave {value} for {len(rows):,} objects; it must give a finite number.")
    return value


def _weighs(function: Function) -> bool:
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # functions implemented in other languages have no signature
        return False

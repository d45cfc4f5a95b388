"""The meaning of a score, in two or three sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.jobs.metric_formulas import Answers
from mercer.jobs.metrics import Metric
from mercer.jobs.scoring import Estimate
from mercer.readers.problems import readable as readable

_SELDOM = 0.6
"""A class is reported as overlooked if less than this fraction of its objects is recognised: the overall score may hide
it."""
_NEW = "On objects it has not seen"
_CLOSINGS = {
    "no better than guessing": "That is no better than guessing. Do not use the model: it needs more objects, other "
    "features or another kernel.",
    "better than guessing": "That is better than guessing.",
    "weak": "That is weak: the model has found something, but decisions should not depend on it.",
    "useful": "That is useful, but expect errors.",
    "good": "That is good.",
    "excellent": "That is excellent.",
}


def verdict(estimate: Estimate, metric: Metric, answers: Answers, target: str | None, on: str = _NEW) -> str:
    """The meaning of the scores; `on` says which objects they are about.

    It also names a class that is hardly recognised, which a good overall score may hide.
    """
    closing = _CLOSINGS[estimate.level]
    if len(answers.y) == 0:
        return f"{on} there is nothing to say."
    if metric.task == "classification":
        opening = _of_classes(estimate, metric, answers)
        if len(np.unique(answers.y)) < 2:
            closing = "All of them are of one class, which says nothing about telling classes apart."
        else:
            closing += _overlooked(answers.y, answers.predicted)
    else:
        opening = _of_numbers(estimate, metric, answers, target or "the target")
    if estimate.skill > 0.95:
        closing += " If that seems too good, look for something in the data that gives the answer away."
    return f"{on} {opening} {closing}"


def _of_classes(estimate: Estimate, metric: Metric, answers: Answers) -> str:
    low, high, kind = _percent(estimate.low), _percent(estimate.high), metric.text.partition("=")[0]
    sure = f"(with 95 % confidence between {low} and {high})"
    if kind in ("accuracy", "balanced_accuracy"):
        plain = kind == "accuracy"
        what = "right" if plain else "right on average over the classes"
        guess = f"always predicting {str(metric.constant(answers))!r}" if plain else "guessing"
        return (
            f"the model is {what} {_percent(estimate.value)} of the time {sure}; {guess} is right "
            f"{_percent(estimate.baseline)} of the time."
        )
    if kind == "auc":
        labels = answers.labels
        pair = f"of class {str(labels[-1])!r}" if len(labels) == 2 else "of a class"
        return f"the model ranks an object {pair} above one of another {_percent(estimate.value)} of the time {sure}."
    return _plainly(estimate, metric)


def _of_numbers(estimate: Estimate, metric: Metric, answers: Answers, target: str) -> str:
    kind = metric.text.partition("=")[0]
    if kind == "r2":
        mean = float(np.average(answers.y, weights=answers.weights))
        deviation = float(np.average(np.square(answers.y - mean), weights=answers.weights)) ** 0.5
        error = deviation * max(1.0 - estimate.value, 0.0) ** 0.5
        return (
            f"the model explains {_percent(max(estimate.value, 0))} of the variance of {target} "
            f"({_percent(estimate.low)} to {_percent(estimate.high)}), with a typical error of {readable(error)}; the "
            f"mean alone has one of {readable(deviation)}."
        )
    if kind in ("mae", "rmse"):
        how, alone = ("on average", "median") if kind == "mae" else ("in the root mean square", "mean")
        return (
            f"the model is off by {readable(estimate.value)} {how} (with 95 % confidence between "
            f"{readable(estimate.low)} and {readable(estimate.high)}) when it predicts {target}; the {alone} alone is "
            f"off by {readable(estimate.baseline)}."
        )
    words = _plainly(estimate, metric)
    if metric.quantile is None:
        return words
    below = float(np.average(answers.y <= answers.predicted, weights=answers.weights))
    return f"{words} Of the true numbers, {_percent(below)} are not above what is predicted."


def _plainly(estimate: Estimate, metric: Metric) -> str:
    low, value, high, guess = map(readable, (estimate.low, estimate.value, estimate.high, estimate.baseline))
    return (
        f"the model has a score ({metric.name}) of {value} (with 95 % confidence between {low} and {high}); the best "
        f"constant answer has {guess}."
    )


def _overlooked(y: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> str:
    """The class that is recognised least, if it is recognised seldom."""
    labels = np.unique(y)
    found = [float((predicted[y == label] == label).mean()) for label in labels]
    worst = int(np.argmin(found))
    if found[worst] >= _SELDOM:
        return ""
    return f" It recognises only {_percent(found[worst])} of the objects of class {str(labels[worst])!r}."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"

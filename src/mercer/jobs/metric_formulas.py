"""Scores of predictions, each for many rows of weights at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Index

Formula = Callable[["Answers", Float64], Float64]
_LEAST = 1e-15
"""The smallest probability in a logarithm, as in scikit-learn: a single true class of probability 0 would make the
score infinite."""


@final
@dataclass(frozen=True, eq=False)
class Answers:
    """Labels of objects, and predictions of machines that had not seen them."""

    y: npt.NDArray[Any]
    predicted: npt.NDArray[Any]
    weights: Float64
    decisions: Float64 | None = None
    """One column for two classes, else one per class."""
    chances: Float64 | None = None
    """The probability of each class."""
    classes: npt.NDArray[Any] | None = None
    """The classes that the columns stand for; those of `y` if None."""

    @property
    def labels(self) -> npt.NDArray[Any]:
        return np.unique(self.y) if self.classes is None else self.classes

    def take(self, index: Index) -> Answers:
        """The answers about these objects; the classes stay."""
        decisions, chances = (None if part is None else part[index] for part in (self.decisions, self.chances))
        classes = self.labels if self.decisions is not None or self.chances is not None else self.classes
        return Answers(self.y[index], self.predicted[index], self.weights[index], decisions, chances, classes)

    def shares(self) -> Float64:
        """The fraction of each class."""
        found = np.array([self.weights[self.y == label].sum() for label in self.labels])
        return np.asarray(found / max(float(found.sum()), np.finfo(float).tiny))


def _ratio(above: Float64, below: Float64, otherwise: float = 0.0) -> Float64:
    return np.asarray(np.divide(above, below, out=np.full(np.shape(below), otherwise), where=below > 0))


def _mean(values: Float64, draws: Float64) -> Float64:
    return _ratio(draws @ values, draws.sum(axis=1))


def accuracy(answers: Answers, draws: Float64) -> Float64:
    return _mean((answers.predicted == answers.y).astype(np.float64), draws)


def balanced_accuracy(answers: Answers, draws: Float64) -> Float64:
    """The fraction of each class that is recognised, averaged over those that occur."""
    total, present = np.zeros(len(draws)), np.zeros(len(draws))
    for label in np.unique(answers.y):
        own = answers.y == label
        weight = draws[:, own].sum(axis=1)
        total += _ratio(draws[:, own] @ (answers.predicted[own] == label).astype(np.float64), weight)
        present += weight > 0
    return _ratio(total, present)


def f1(positive: Any) -> Formula:
    """The F1 score of a class; for None, the mean over classes."""

    def of_class(answers: Answers, draws: Float64, label: Any) -> Float64:
        true, said = answers.y == label, answers.predicted == label
        both = draws @ (true & said).astype(np.float64)
        return _ratio(2.0 * both, draws @ (true.astype(np.float64) + said))

    def formula(answers: Answers, draws: Float64) -> Float64:
        labels = np.unique(answers.y) if positive is None else [positive]
        return np.asarray(np.mean([of_class(answers, draws, label) for label in labels], axis=0))

    return formula


def auc(answers: Answers, draws: Float64) -> Float64:
    """The probability that an object of a class is ranked above one of another: for the second of two, or averaged."""
    values = answers.decisions if answers.decisions is not None else answers.chances
    if values is None:
        return np.full(len(draws), 0.5)
    labels = answers.labels
    if values.shape[1] == 1 or len(labels) == 2:
        return _area(answers.y == labels[1], values[:, -1], draws)
    found = [_area(answers.y == label, values[:, place], draws) for place, label in enumerate(labels)]
    return np.asarray(np.mean(found, axis=0))


def _area(positive: npt.NDArray[np.bool_], values: Float64, draws: Float64) -> Float64:
    """The area by ranks, with ties counted half; 1/2 if one side has no weight."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(values[order]) > 0]))
    above = np.add.reduceat(draws[:, order] * positive[order], starts, axis=1)
    below = np.add.reduceat(draws[:, order] * ~positive[order], starts, axis=1)
    won = (above * (np.cumsum(below, axis=1) - 0.5 * below)).sum(axis=1)
    return _ratio(won, above.sum(axis=1) * below.sum(axis=1), 0.5)


def log_loss(answers: Answers, draws: Float64) -> Float64:
    assert answers.chances is not None
    codes = np.searchsorted(answers.labels, answers.y)
    chances = np.clip(answers.chances[np.arange(len(codes)), codes], _LEAST, 1.0)
    return _mean(-np.log(chances), draws)


def r_squared(answers: Answers, draws: Float64) -> Float64:
    """1 - squared errors over squared distances from the mean; 0 if all numbers are equal."""
    centred = answers.y - float(np.average(answers.y, weights=answers.weights))
    weight = draws.sum(axis=1)
    spread = draws @ np.square(centred) - _ratio(np.square(draws @ centred), weight)
    errors = draws @ np.square(answers.y - answers.predicted)
    some = spread > 1e-12 * np.maximum(weight, 1.0) * max(float(np.square(centred).max(initial=0.0)), 1e-300)
    return np.where(some, 1.0 - errors / np.where(some, spread, 1.0), 0.0)


def rmse(answers: Answers, draws: Float64) -> Float64:
    return np.sqrt(_mean(np.square(answers.y - answers.predicted), draws))


def pinball(level: float, factor: float = 1.0) -> Formula:
    """Predictions below the truth cost `level`, those above 1 - `level`; at 1/2 this is half the absolute error."""

    def formula(answers: Answers, draws: Float64) -> Float64:
        short = answers.y - answers.predicted
        return _mean(factor * np.maximum(level * short, (level - 1.0) * short), draws)

    return formula


def mean(answers: Answers) -> float:
    return float(np.average(answers.y, weights=answers.weights))


def mode(answers: Answers) -> Any:
    """The class of the largest weight."""
    labels = np.unique(answers.y)
    return labels[int(np.argmax([answers.weights[answers.y == label].sum() for label in labels]))]


def quantile_of(level: float) -> Callable[[Answers], float]:
    """A quantile under weights: the number that this fraction of the weight does not exceed."""

    def quantile(answers: Answers) -> float:
        order = np.argsort(answers.y, kind="stable")
        below = np.cumsum(answers.weights[order])
        return float(answers.y[order][min(int(np.searchsorted(below, level * below[-1])), len(order) - 1)])

    return quantile

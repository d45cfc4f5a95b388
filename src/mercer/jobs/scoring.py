"""Scores on unseen objects, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from mercer._types import Float64, Indices
from mercer.jobs.metric_formulas import Answers
from mercer.jobs.metrics import Metric

if TYPE_CHECKING:
    from mercer.jobs.problem import Problem
    from mercer.jobs.search import Search

_RESAMPLES = 300
"""The number of resamples for an interval: more make its ends steadier, but take longer."""
_NORMAL = 1.959964
"""The 97.5 % quantile of the normal distribution."""
_LEVELS = ((0.2, "weak"), (0.5, "useful"), (0.8, "good"), (2.0, "excellent"))


@final
@dataclass(frozen=True)
class Estimate:
    """A score with the interval of 95 % of resamples."""

    value: float
    low: float
    high: float
    baseline: float
    """The score of the best constant answer: always the most frequent label, or the mean."""
    name: str = "accuracy"
    perfect: float | None = 1.0
    """The best possible score; 0 for errors, None if unknown."""

    @property
    def skill(self) -> float:
        """0 for the baseline, 1 for perfect; 0 if the best score is unknown."""
        if self.perfect is None or self.perfect == self.baseline:
            return 0.0
        return (self.value - self.baseline) / (self.perfect - self.baseline)

    @property
    def level(self) -> str:
        guessed = self.high >= self.baseline if self.perfect == 0.0 else self.low <= self.baseline
        if guessed:
            return "no better than guessing"
        if self.perfect is None:
            return "better than guessing"
        return next(word for bound, word in _LEVELS if self.skill < bound)


def corrected(found: Search, problem: Problem, shift: float = 0.0) -> Estimate:
    """The score of the whole procedure, including the choice of kernel and penalty.

    The best of many settings looks too good on the objects that it was chosen on. Bootstrap bias correction draws
    objects with replacement, and scores the setting that is best on those drawn on the others. Every prediction was
    made by a machine that had not seen the object. `shift` is how much higher the labels of the model score than those
    by which settings were compared.
    """
    metric = problem.metric
    said = [found.judge.answers(trial.predicted, trial.decisions) for trial in found.trials]
    draws = _draws(problem, found.rows)
    out = (draws == 0).astype(float)
    inside = np.array([metric.gains(answers, draws) for answers in said])
    outside = np.array([metric.gains(answers, out) for answers in said])
    best = inside.argmax(axis=0)
    chosen = metric.sign * outside[best, np.arange(len(draws))]
    if metric.text == "r2":  # the variance of all objects, not of the few outside of a resample
        errors = np.array([np.square(answers.y - answers.predicted) for answers in said])
        weighted = out * said[0].weights
        left = (weighted @ errors.T)[np.arange(len(draws)), best] / np.maximum(weighted.sum(axis=1), 1e-300)
        mean = float(np.average(said[0].y, weights=said[0].weights))
        chosen = 1.0 - left / (float(np.average(np.square(said[0].y - mean), weights=said[0].weights)) or 1.0)
    chosen = chosen + shift
    if shift and metric.perfect is not None:
        chosen = np.minimum(chosen, metric.perfect) if metric.sign > 0 else np.maximum(chosen, metric.perfect)
    return _estimate(float(chosen.mean()), chosen, said[0], metric)


def _draws(problem: Problem, rows: Indices) -> Float64:
    """How often each object is drawn in each resample; those of a group are drawn together."""
    n, groups = len(rows), problem.data.groups
    places = np.arange(n) if groups is None else np.unique(groups[rows], return_inverse=True)[1]
    many = int(places.max()) + 1
    draws = np.random.default_rng(problem.plan.seed).multinomial(many, np.full(many, 1.0 / many), size=_RESAMPLES)
    return draws[:, places].astype(float)


def of_answers(answers: Answers, metric: Metric, seed: int) -> Estimate:
    """The score of given answers, with an interval by resampling the objects."""
    resampled = metric.sign * metric.gains(answers, _resamples(len(answers.y), seed))
    return _estimate(metric.score(answers), resampled, answers, metric)


def difference(best: Answers, other: Answers, metric: Metric, seed: int) -> tuple[float, float]:
    """How far one set of answers falls behind another: the interval of 95 % of resamples of the same objects."""
    draws = _resamples(len(best.y), seed)
    low, high = np.quantile(metric.gains(best, draws) - metric.gains(other, draws), (0.025, 0.975))
    return float(low), float(high)


def _resamples(n: int, seed: int) -> Float64:
    """How often each object is drawn, one row per resample."""
    random = np.random.default_rng(seed)
    drawn = (random.integers(n, size=n) for _ in range(_RESAMPLES))
    return np.array([np.bincount(rows, minlength=n) for rows in drawn], dtype=np.float64)


def _estimate(value: float, resampled: Float64, answers: Answers, metric: Metric) -> Estimate:
    low, high = _interval(resampled, value, answers, metric)
    return Estimate(value, low, high, metric.baseline(answers), metric.name, metric.perfect)


def _interval(scores: Float64, value: float, answers: Answers, metric: Metric) -> tuple[float, float]:
    """The interval of 95 % of resamples; for an accuracy at least Wilson's interval: 60 of 60 does not mean always.

    Objects of unequal weights count as fewer.
    """
    low, high = (float(bound) for bound in np.quantile(scores, (0.025, 0.975)))
    if metric.text != "accuracy":
        return low, high
    n = float(answers.weights.sum() ** 2 / np.square(answers.weights).sum())
    shrink = 1.0 + _NORMAL**2 / n
    centre = (value + _NORMAL**2 / (2 * n)) / shrink
    spread = _NORMAL / shrink * (value * (1 - value) / n + _NORMAL**2 / (4 * n**2)) ** 0.5
    return max(min(low, centre - spread), 0.0), min(max(high, centre + spread), 1.0)

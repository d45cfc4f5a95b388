"""How good a model is on objects that it has not seen: scores with intervals, and a verdict in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Indices
from mercer.jobs.problem import Problem
from mercer.jobs.search import Search

_RESAMPLES = 300
"""How many resamples an interval is read from: more make its ends steadier, and take longer."""
_SELDOM = 0.6
"""A class is reported as overlooked if less than this share of its objects is recognised: the overall score may hide
it."""
_NORMAL = 1.959964
"""The 97.5 % quantile of the normal distribution."""
_NEW = "On objects it has not seen"
_LEVELS = ((0.2, "weak"), (0.5, "useful"), (0.8, "good"), (2.0, "excellent"))
_CLOSINGS = {
    "no better than guessing": "That is no better than guessing. Do not use the model: it needs more objects, other "
    "features or another kernel.",
    "weak": "That is weak: the model has found something, but decisions should not depend on it.",
    "useful": "That is useful, but expect errors.",
    "good": "That is good.",
    "excellent": "That is excellent.",
}


@final
@dataclass(frozen=True)
class Estimate:
    """A score with the interval in which 95 % of resamples lie."""

    value: float
    low: float
    high: float
    baseline: float
    """The score of always predicting the most frequent label, or the mean."""
    name: str = "accuracy"

    @property
    def skill(self) -> float:
        """0 for the baseline, 1 for perfect."""
        return (self.value - self.baseline) / (1.0 - self.baseline) if self.baseline < 1 else 0.0

    @property
    def level(self) -> str:
        if self.low <= self.baseline:
            return "no better than guessing"
        return next(word for bound, word in _LEVELS if self.skill < bound)


def corrected(found: Search, problem: Problem) -> Estimate:
    """The score of the whole procedure, including the choice of kernel and penalty.

    The best of many settings looks too good on the objects that it was chosen on. Bootstrap bias correction draws
    objects with replacement, and scores the setting that is best on those drawn on the others. Every prediction was
    made by a machine that had not seen the object.
    """
    labels, n = problem.y[found.rows], len(found.rows)
    weights = np.ones(n)
    if problem.task == "classification":
        gains = np.array([(trial.predicted == labels).astype(float) for trial in found.trials])
        classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
        if problem.plan.balanced:
            weights = (n / (len(classes) * counts))[codes]
    else:
        gains = -np.array([np.square(trial.predicted - labels) for trial in found.trials])
    draws = _draws(problem, found.rows)
    inside = (draws * weights) @ gains.T / (draws @ weights)[:, None]
    out = (draws == 0) * weights
    outside = (out @ gains.T) / np.maximum(out.sum(axis=1), 1.0)[:, None]
    chosen = outside[np.arange(_RESAMPLES), inside.argmax(axis=1)]
    if problem.task == "regression":
        chosen = 1.0 + chosen / (float(np.var(labels)) or 1.0)
    return _estimate(float(chosen.mean()), chosen, labels, problem.scoring)


def _draws(problem: Problem, rows: Indices) -> Float64:
    """How often each object is drawn in each resample; those of a group are drawn together."""
    n, groups = len(rows), problem.data.groups
    places = np.arange(n) if groups is None else np.unique(groups[rows], return_inverse=True)[1]
    many = int(places.max()) + 1
    draws = np.random.default_rng(problem.plan.seed).multinomial(many, np.full(many, 1.0 / many), size=_RESAMPLES)
    return draws[:, places].astype(float)


def of_predictions(y: npt.NDArray[Any], predicted: npt.NDArray[Any], scoring: str, seed: int) -> Estimate:
    """The score of given predictions, with an interval by resampling the objects."""
    resampled = np.array([score(y[rows], predicted[rows], scoring) for rows in _resamples(len(y), seed)])
    return _estimate(score(y, predicted, scoring), resampled, y, scoring)


def difference(
    y: npt.NDArray[Any], best: npt.NDArray[Any], other: npt.NDArray[Any], scoring: str, seed: int
) -> tuple[float, float]:
    """How far one set of predictions falls behind another: where 95 % of resamples of the same objects lie."""
    gaps = [
        score(y[rows], best[rows], scoring) - score(y[rows], other[rows], scoring) for rows in _resamples(len(y), seed)
    ]
    low, high = np.quantile(gaps, (0.025, 0.975))
    return float(low), float(high)


def score(y: npt.NDArray[Any], predicted: npt.NDArray[Any], scoring: str) -> float:
    """scikit-learn's score of this name, fast enough for hundreds of resamples."""
    if scoring == "r2":
        spread = float(np.square(y - y.mean()).sum())
        return 1.0 - float(np.square(y - predicted).sum()) / spread if spread > 0 else 0.0
    right = predicted == y
    if scoring == "balanced_accuracy":
        return float(np.mean([right[y == label].mean() for label in np.unique(y)]))
    return float(right.mean())


def _resamples(n: int, seed: int) -> Iterator[Indices]:
    random = np.random.default_rng(seed)
    for _ in range(_RESAMPLES):
        yield random.integers(n, size=n)


def _estimate(value: float, resampled: Float64, y: npt.NDArray[Any], scoring: str) -> Estimate:
    baseline = 0.0
    if scoring != "r2":
        counts = np.unique(y, return_counts=True)[1]
        baseline = 1.0 / len(counts) if scoring == "balanced_accuracy" else float(counts.max()) / len(y)
    name = "R2" if scoring == "r2" else scoring.replace("_", " ")
    return Estimate(value, *_interval(resampled, value, len(y), name), baseline, name)


def _interval(scores: Float64, value: float, n: int, name: str) -> tuple[float, float]:
    """Where 95 % of resamples lie; of an accuracy at least Wilson's interval: 60 of 60 does not mean always."""
    low, high = (float(bound) for bound in np.quantile(scores, (0.025, 0.975)))
    if name != "accuracy":
        return low, high
    shrink = 1.0 + _NORMAL**2 / n
    centre = (value + _NORMAL**2 / (2 * n)) / shrink
    spread = _NORMAL / shrink * (value * (1 - value) / n + _NORMAL**2 / (4 * n**2)) ** 0.5
    return max(min(low, centre - spread), 0.0), min(max(high, centre + spread), 1.0)


def verdict(
    estimate: Estimate,
    y: npt.NDArray[Any],
    target: str | None,
    on: str = _NEW,
    predicted: npt.NDArray[Any] | None = None,
) -> str:
    """What the scores mean, in two or three sentences; `on` says which objects they are about.

    With the predictions it also names a class that is hardly recognised, which a good overall score may hide.
    """
    low, high = _percent(estimate.low), _percent(estimate.high)
    closing = _CLOSINGS[estimate.level]
    if estimate.name == "R2":
        deviation = float(np.std(y))
        error = deviation * max(1.0 - estimate.value, 0.0) ** 0.5
        opening = (
            f"{on} the model explains {_percent(max(estimate.value, 0))} of the variance of {target or 'the target'} "
            f"({low} to {high}), with a typical error of {_readable(error)}; the mean alone has one of "
            f"{_readable(deviation)}."
        )
    else:
        labels, counts = np.unique(y, return_counts=True)
        usual = labels[counts.argmax()]
        plain = estimate.name == "accuracy"
        what = "right" if plain else "right on average over the classes"
        guess = f"always predicting {str(usual)!r}" if plain else "guessing"
        opening = (
            f"{on} the model is {what} {_percent(estimate.value)} of the time (with 95 % confidence between {low} and "
            f"{high}); {guess} is right {_percent(estimate.baseline)} of the time."
        )
        if len(labels) < 2:
            closing = "All of them are of one class, which says nothing about telling classes apart."
        elif predicted is not None:
            closing += _overlooked(y, predicted)
    if estimate.skill > 0.95:
        closing += " If that seems too good, look for something in the data that gives the answer away."
    return f"{opening} {closing}"


def _overlooked(y: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> str:
    """The class that is recognised least, if it is recognised seldom."""
    labels = np.unique(y)
    found = [float((predicted[y == label] == label).mean()) for label in labels]
    worst = int(np.argmin(found))
    if found[worst] >= _SELDOM:
        return ""
    return f" It recognises only {_percent(found[worst])} of the objects of class {str(labels[worst])!r}."


def _readable(value: float) -> str:
    """Three digits, without a power of ten up to a trillion."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if 1000 <= rounded < 1e12 else f"{value:.3g}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"

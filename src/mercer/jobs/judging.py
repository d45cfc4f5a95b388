"""How good a model is on objects that it has not seen: figures with intervals, and a verdict in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.jobs.search import Search, score

_RESAMPLES = 300
_SELDOM = 0.6
_NORMAL = 1.959964
_NEW = "On objects it has not seen"
_LEVELS = ((0.2, "weak"), (0.5, "useful"), (0.8, "good"), (2.0, "excellent"))


@final
@dataclass(frozen=True)
class Estimate:
    """A score with the interval in which 95 % of resamples lie."""

    value: float
    low: float
    high: float
    baseline: float
    """What always giving the commonest label, or the mean, would score."""
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


def honest(found: Search, y: npt.NDArray[Any], task: str, balanced: bool, seed: int) -> Estimate:
    """The score of the whole procedure, choice of kernel and penalty included.

    Objects are drawn with replacement; the setting that is best on those drawn is scored on those that were not
    (bootstrap bias correction: the best of many settings is too good on the objects that chose it). Every prediction
    was made by a machine that had not seen the object.
    """
    labels = y[found.rows]
    random = np.random.default_rng(seed)
    n = len(labels)
    weights = np.ones(n)
    if task == "classification":
        gains = np.array([(trial.predicted == labels).astype(float) for trial in found.trials])
        classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
        if balanced:
            weights = (n / (len(classes) * counts))[codes]
        baseline = 1.0 / len(classes) if balanced else float(counts.max()) / n
        scale = 1.0
    else:
        gains = -np.array([np.square(trial.predicted - labels) for trial in found.trials])
        baseline, scale = 0.0, float(np.var(labels)) or 1.0
    draws = random.multinomial(n, np.full(n, 1.0 / n), size=_RESAMPLES).astype(float)
    inside = (draws * weights) @ gains.T / (draws @ weights)[:, None]
    out = (draws == 0) * weights
    outside = (out @ gains.T) / np.maximum(out.sum(axis=1), 1.0)[:, None]
    chosen = outside[np.arange(_RESAMPLES), inside.argmax(axis=1)]
    if task == "regression":
        chosen = 1.0 + chosen / scale
    name = "R2" if task == "regression" else "balanced accuracy" if balanced else "accuracy"
    value = float(chosen.mean())
    return Estimate(value, *_interval(chosen, value, n, name), baseline, name)


def of_predictions(y: npt.NDArray[Any], predicted: npt.NDArray[Any], task: str, balanced: bool, seed: int) -> Estimate:
    """The score of given predictions, with an interval by resampling the objects."""
    random = np.random.default_rng(seed)
    scores = []
    for _ in range(_RESAMPLES):
        rows = random.integers(len(y), size=len(y))
        scores.append(score(y[rows], predicted[rows], task, balanced))
    baseline = 0.0
    if task == "classification":
        counts = np.unique(y, return_counts=True)[1]
        baseline = 1.0 / len(counts) if balanced else float(counts.max()) / len(y)
    name = "R2" if task == "regression" else "balanced accuracy" if balanced else "accuracy"
    value = score(y, predicted, task, balanced)
    return Estimate(value, *_interval(np.array(scores), value, len(y), name), baseline, name)


def behind(
    y: npt.NDArray[Any], best: npt.NDArray[Any], other: npt.NDArray[Any], task: str, balanced: bool, seed: int
) -> tuple[float, float]:
    """By how much one set of predictions falls behind another: where 95 % of resamples of the same objects lie."""
    random = np.random.default_rng(seed)
    gaps = []
    for _ in range(_RESAMPLES):
        rows = random.integers(len(y), size=len(y))
        gaps.append(score(y[rows], best[rows], task, balanced) - score(y[rows], other[rows], task, balanced))
    low, high = np.quantile(gaps, (0.025, 0.975))
    return float(low), float(high)


def _interval(scores: Float64, value: float, n: int, name: str) -> tuple[float, float]:
    """Where 95 % of resamples lie; a share gets Wilson's interval at least: 60 of 60 does not mean always."""
    low, high = (float(bound) for bound in np.quantile(scores, (0.025, 0.975)))
    if name != "accuracy":
        return low, high
    shrink = 1.0 + _NORMAL**2 / n
    centre = (value + _NORMAL**2 / (2 * n)) / shrink
    spread = _NORMAL / shrink * (value * (1 - value) / n + _NORMAL**2 / (4 * n**2)) ** 0.5
    return max(min(low, centre - spread), 0.0), min(max(high, centre + spread), 1.0)


def verdict(
    estimate: Estimate,
    task: str,
    y: npt.NDArray[Any],
    target: str | None,
    on: str = _NEW,
    predicted: npt.NDArray[Any] | None = None,
) -> str:
    """What the figures mean, in two or three sentences; `on` says which objects they are about.

    With the predictions it is also said which class is hardly recognised, which a good share of right answers may hide.
    """
    if task == "regression":
        error = float(np.std(y)) * max(1.0 - estimate.value, 0.0) ** 0.5
        opening = (
            f"{on} the model explains {_percent(max(estimate.value, 0))} of the variance of "
            f"{target or 'the target'} ({_percent(estimate.low)} to {_percent(estimate.high)}), with a typical error "
            f"of {_readable(error)}, where the mean alone errs by {_readable(float(np.std(y)))}."
        )
    else:
        labels, counts = np.unique(y, return_counts=True)
        usual = labels[counts.argmax()]
        what = "right" if estimate.name == "accuracy" else "right on average over the classes"
        opening = (
            f"{on} the model is {what} {_percent(estimate.value)} of the time (with 95 % "
            f"confidence between {_percent(estimate.low)} and {_percent(estimate.high)}), where "
            + (
                f"always saying {str(usual)!r} is right {_percent(estimate.baseline)}."
                if estimate.name == "accuracy"
                else f"guessing is right {_percent(estimate.baseline)}."
            )
        )
    closing = {
        "no better than guessing": "That is no better than guessing: do not use it; more objects, other features or "
        "another kernel are needed.",
        "weak": "That is weak: it has found something, but decisions should not hang on it.",
        "useful": "That is useful, with errors to be reckoned with.",
        "good": "That is good.",
        "excellent": "That is excellent.",
    }[estimate.level]
    if task == "classification" and len(np.unique(y)) < 2:
        closing = "All of them are of one class, which says nothing about telling classes apart."
    elif task == "classification" and predicted is not None:
        closing += _overlooked(y, predicted)
    if estimate.skill > 0.95:
        closing += " If it seems too good, look for something in the data that gives the answer away."
    return f"{opening} {closing}"


def _overlooked(y: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> str:
    """The class that is recognised least, if that is seldom."""
    labels = np.unique(y)
    found = [float((predicted[y == label] == label).mean()) for label in labels]
    worst = int(np.argmin(found))
    if found[worst] >= _SELDOM:
        return ""
    return f" Of those that are {str(labels[worst])!r} it recognises only {_percent(found[worst])}."


def _readable(value: float) -> str:
    """Three digits, without a power of ten where there is a plainer way."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if 1000 <= rounded < 1e12 else f"{value:.3g}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"

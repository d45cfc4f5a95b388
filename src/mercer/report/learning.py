"""What more data would bring: the score on objects held out, by how many objects were trained on."""

from __future__ import annotations

import warnings

import numpy as np

from mercer._types import Float64, Indices
from mercer.errors import MercerError
from mercer.inputs.base import Objects
from mercer.jobs.fitting import Outcome
from mercer.jobs.folds import folds_for
from mercer.jobs.metric_formulas import Answers
from mercer.jobs.sizing import sample
from mercer.report.drawing import Axes
from mercer.report.page import figure, paragraph

_MOST = 1200  # objects that the curve is made of: machines on more take seconds each
_FEWEST = 60  # objects below which a curve is noise
_FOLDS = 5  # machines for each point of the curve
_SHARES = (0.125, 0.25, 0.5, 1.0)  # of the training part: each doubles the one before
_FLAT = 0.05  # of what is left to gain: a smaller rise by the last doubling is called flat


def learning(outcome: Outcome) -> str:
    """A curve of the model's kernel and penalty on parts of the data, and what it says about more of them."""
    found = curve(outcome)
    if len(found) < 2:
        return ""
    metric = outcome.problem.metric
    points = [(size, float(scores.mean())) for size, scores in found]
    sizes, scores = [size for size, _ in points], [score for _, score in points]
    name, last = metric.name, scores[-1]
    alt = f"{name} by the number of objects trained on: " + ", ".join(
        f"{score:.3g} with {size:,}" for size, score in points
    )
    axes = Axes(
        (float(np.log2(sizes[0])), float(np.log2(sizes[-1]))),
        (float(min(own.min() for _, own in found)), float(max(own.max() for _, own in found))),
        "objects trained on",
        name,
        alt,
        x_labels=[(float(np.log2(size)), f"{size:,}") for size in sizes],
    )
    placed = [(float(np.log2(size)), score) for size, score in points]
    axes.line(placed)
    axes.dots([(float(np.log2(size)), float(score)) for size, own in found for score in own], size=4)
    steps = metric.sign * (found[-1][1] - found[-2][1])
    gained, unsure = float(steps.mean()), float(steps.std(ddof=1)) / len(steps) ** 0.5
    left = abs((metric.perfect if metric.perfect is not None else last) - last)
    brought = _change(gained, metric.percent)
    if gained <= _FLAT * left:
        words = "The curve is flat: more objects of the same kind will hardly help; other columns or kernels may."
    elif gained > 2.0 * unsure:
        words = f"The curve still rises: twice as many objects brought {brought} the last time."
    else:
        words = f"The curve seems to rise (by {brought} the last time), but folds differ too much to be sure."
    note = (
        "Dots are folds, the line their mean: machines with the chosen kernel and penalty, scored on objects that they "
        "had not seen."
    )
    return paragraph(words) + figure(axes.svg(), note, "learning-curve")


def _change(gained: float, percent: bool) -> str:
    return f"{100 * gained:.1f} points" if percent else f"{gained:.3g}"


def curve(outcome: Outcome) -> list[tuple[int, Float64]]:
    """How many objects were trained on, and the scores on others, fold by fold."""
    problem = outcome.problem
    data = problem.data
    special = data.groups is not None or data.times is not None or problem.needs_chances
    if special or not isinstance(problem.objects, Objects) or len(problem.y) < _FEWEST:
        return []
    rows = sample(problem.y, problem.task, _MOST, problem.plan.seed)
    splits = folds_for(problem.y[rows], problem.task, _FOLDS, problem.plan.seed)
    random = np.random.default_rng(problem.plan.seed)
    orders = [random.permutation(train) for train, _ in splits]
    found: list[tuple[int, Float64]] = []
    for share in _SHARES:
        parts = [order[: max(int(share * len(order)), 2)] for order in orders]
        scores = [_score(outcome, rows[part], rows[test]) for part, (_, test) in zip(parts, splits, strict=True)]
        known = [score for score in scores if score is not None]
        if len(known) == len(splits):
            found.append((round(share * float(np.mean([len(order) for order in orders]))), np.array(known)))
    return found


def _score(outcome: Outcome, train: Indices, test: Indices) -> float | None:
    """Of the chosen kernel and penalty, trained on some objects; None if that is not possible with so few."""
    problem, best, y = outcome.problem, outcome.search.best, outcome.problem.y
    classes = np.unique(y) if problem.task == "classification" else None
    if classes is not None and len(np.unique(y[train])) < len(classes):
        return None
    machine = problem.learner.compared(best.kernel).set_params(**{problem.learner.penalty: best.penalty})
    given = {} if problem.data.weights is None else {"sample_weight": problem.weights[train]}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            machine.fit(problem.objects.take(train), problem.learnt(train), **given)
    except MercerError:
        return None
    new, decisions = problem.objects.take(test), None
    if problem.metric.needs == "decisions":
        values = np.asarray(machine.decision_function(new))
        decisions = values[:, None] if values.ndim == 1 else values
    said = np.asarray(machine.predict(new))
    said = said if classes is not None else problem.link.inverse(said)
    return problem.metric.score(Answers(y[test], said, problem.weights[test], decisions, None, classes))

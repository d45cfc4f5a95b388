"""Where a model errs: which classes it takes for which, and its worst errors with what they were compared to."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Indices
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.jobs.fitting import Outcome
from mercer.jobs.sizing import take
from mercer.readers.problems import measured
from mercer.report.drawing import confusion
from mercer.report.page import figure, paragraph, table
from mercer.report.support import described
from mercer.selection.learner import evenly_spread

_WORST = 6  # errors that are shown: enough to see a pattern, few enough to be read
_NEAREST = 3  # support objects beside each
_MOST_SUPPORT = 5000  # support objects that are searched for the nearest: more cost seconds and change little


def confused(y: npt.NDArray[Any], predicted: npt.NDArray[Any], labels: npt.NDArray[Any]) -> str:
    """A picture of how often each class was taken for each."""
    counts = np.array([[int(((y == one) & (predicted == other)).sum()) for other in labels] for one in labels])
    names = [str(label) for label in labels]
    shares = 100 * np.diagonal(counts) / np.maximum(counts.sum(axis=1), 1)
    told = "; ".join(f"{name}: {share:.0f} % recognised" for name, share in zip(names, shares, strict=True))
    picture = confusion(counts, names, f"How often each class was taken for each. {told}")
    caption = "Rows are true classes, columns predicted ones. A stronger colour means a larger share of the row."
    rows = [(name, *(f"{count:,}" for count in own)) for name, own in zip(names, counts.tolist(), strict=True)]
    cells = table(("truth", *names), rows, "The heads of columns are predicted classes.")
    return figure(picture, caption, "confusion") + f"<details><summary>The same as a table</summary>{cells}</details>"


def worst(outcome: Outcome) -> str:
    """The largest errors on objects held out, each with the support objects that are most like it."""
    data, y, found = outcome.problem.data, outcome.problem.y, outcome.search
    places = _worst_places(outcome)
    if not len(places):
        return ""
    rows = found.rows[places]
    beside = _neighbours(outcome, rows)
    cells = [
        (
            data.name_of(int(row)),
            _label(y[row]),
            _label(found.best.predicted[place]),
            described(data, int(row)),
            near,
        )
        for place, row, near in zip(places, rows, beside, strict=True)
    ]
    heads = ("object", data.target or "truth", "predicted", "content", "most like (support objects)")
    how = "surest wrong answers" if outcome.problem.task == "classification" else "largest errors"
    words = (
        f"The {how}, on objects held out. Each stands beside the training objects that the model finds most similar: "
        "a wrong label, a misread value or a kind of object that is missing often shows here."
    )
    return paragraph(words) + table(heads, cells, stacked=True)


def _worst_places(outcome: Outcome) -> Indices:
    """Among the objects that were tried."""
    found, y = outcome.search, outcome.problem.y[outcome.search.rows]
    if outcome.problem.task == "regression":
        sizes = np.abs(y - found.best.predicted)
        return np.argsort(-sizes, kind="stable")[:_WORST]
    wrong = np.flatnonzero(found.best.predicted != y)
    sure = np.abs(found.best.decisions).max(axis=1)
    if outcome.probabilities is not None and np.isfinite(outcome.probabilities).all():
        sure = outcome.probabilities.max(axis=1)
    return wrong[np.argsort(-sure[wrong], kind="stable")[:_WORST]]


def _neighbours(outcome: Outcome, rows: Indices) -> list[str]:
    """For each object its nearest support objects other than itself, by the distance of the kernel."""
    expansion, data, y = outcome.model.machine.expansion, outcome.problem.data, outcome.problem.y
    fitted = expansion.kernel
    if fitted.kernel.domain is GramRows or not isinstance(outcome.problem.objects, Objects):
        return ["" for _ in rows]
    columns = evenly_spread(len(outcome.support), _MOST_SUPPORT)
    part, kept = take(outcome.problem.objects, rows), expansion.support.take(columns)
    across: Float64 = gram_of(fitted, part, kept, dtype=np.float64).exact()
    own, theirs = (fitted.diagonal(fitted.features(some)) for some in (part, kept))
    apart = own[:, None] + theirs[None, :] - 2.0 * across
    support = outcome.support[columns]
    apart[rows[:, None] == support[None, :]] = np.inf
    nearest = np.argsort(apart, axis=1, kind="stable")[:, :_NEAREST]
    return [
        ", ".join(f"{data.name_of(int(support[one]))} ({_label(y[support[one]])})" for one in line) for line in nearest
    ]


def _label(value: Any) -> str:
    return measured(float(f"{value:.4g}")) if isinstance(value, float) else str(value)

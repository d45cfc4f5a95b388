"""What moves the predictions of a table: each column is varied while the others stay, and the answers are averaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.jobs.fitting import Outcome
from mercer.readers.data import CATEGORY, DATE, NUMERIC, Column, Data
from mercer.readers.problems import count, readable
from mercer.readers.written import Style
from mercer.report.drawing import Axes, levels
from mercer.report.page import figure, paragraph, table
from mercer.report.support import cell_text
from mercer.selection.learner import evenly_spread

_ROWS = 60  # objects that answers are averaged over: more make the curves steadier, and take longer
_STEPS = 9  # values that a column takes: enough to see a bend
_MOST_COLUMNS = 30  # columns that are varied: a report of hundreds takes minutes, and nobody reads it
_DRAWN = 4  # columns that are drawn, two beside each other
_ROOM = 45  # letters below a curve: more would run into each other
_LISTED = 12  # columns in the list of the most important


@final
@dataclass(frozen=True, eq=False)
class Influence:
    """The mean answer for each value of a column."""

    column: Column
    values: npt.NDArray[Any]
    answers: Float64

    @property
    def size(self) -> float:
        """How far the mean answer moves."""
        return float(np.ptp(self.answers))


def influence(outcome: Outcome) -> str:
    """A list of the columns that matter most, and the curves of the first of them."""
    found = influences(outcome)
    if not found:
        return ""
    what = _answer_name(outcome)
    opening = paragraph(
        f"Each column is varied over its values while the others stay as they are; {what} is averaged over "
        f"{min(_ROWS, len(outcome.problem.data))} objects. Columns that move it most come first."
    )
    rows = [(one.column.name, _shown(one.size)) for one in found[:_LISTED]]
    more = len(found) - len(rows)
    listed = table(
        ("column", "moves it by"), rows, f"and {count(more, 'more column')}" if more else "",
        bars=[one.size for one in found[:_LISTED]],
    )  # fmt: skip
    drawn = _drawn(found)
    answers = np.concatenate([found[0].answers, *(one.answers for one in drawn)])
    pictures = "".join(_picture(one, what, (float(answers.min()), float(answers.max()))) for one in drawn)
    return opening + listed + (f"<div class=pair>{pictures}</div>" if pictures else "")


def _drawn(found: list[Influence]) -> list[Influence]:
    """The first columns that move anything."""
    return [one for one in found if one.size > 0 and len(one.values) > 1][:_DRAWN]


def influences(outcome: Outcome) -> list[Influence]:
    """For every column of numbers, dates or categories, the largest first; none for a file that is no table."""
    data = outcome.problem.data
    if data.kind != "table":
        return []
    part = data.take(evenly_spread(len(data), _ROWS))
    columns = [column for column in data.objects.values() if column.kind in (*NUMERIC, CATEGORY)][:_MOST_COLUMNS]
    found = [_of_column(outcome, part, column) for column in columns]
    order = sorted(range(len(found)), key=lambda place: -found[place].size)
    return [found[place] for place in order]


def _of_column(outcome: Outcome, part: Data, column: Column) -> Influence:
    values = _values(column)
    answers = [float(np.mean(_answers(outcome, _with(part, column, value)))) for value in values]
    return Influence(column, values, np.array(answers))


def _values(column: Column) -> npt.NDArray[Any]:
    """The quantiles of a number or date, the steps of a scale, the commonest of other values."""
    present = column.values[~column.missing]
    if _is_scale(column):
        return np.unique(present)
    if column.kind in NUMERIC:
        return np.unique(np.quantile(present, np.linspace(0.02, 0.98, _STEPS)))
    values, counts = np.unique(present.astype(np.str_), return_counts=True)
    return values[np.argsort(-counts, kind="stable")[:_STEPS]].astype(object)


def _with(part: Data, column: Column, value: Any) -> Data:
    """The same objects, all with this value of the column."""
    constant = np.full(len(part), value, dtype=column.values.dtype)
    changed = Column(column.name, column.kind, constant, column.style)
    return Data(part.name, part.format, "table", {**part.objects, column.name: changed})


def _answers(outcome: Outcome, data: Data) -> Float64:
    """The number predicted, or the probability of the last class of two or the commonest of more."""
    model = outcome.model
    if outcome.problem.task == "regression":
        return np.asarray(model.predict(data), dtype=np.float64)
    place = _class(outcome)
    if model.calibration.size:
        return model.predict_proba(data)[:, place]
    assert model.classes is not None
    return np.asarray(np.asarray(model.predict(data)) == model.classes[place], dtype=np.float64)


def _class(outcome: Outcome) -> int:
    labels, counts = np.unique(outcome.problem.y, return_counts=True)
    return 1 if len(labels) == 2 else int(counts.argmax())


def _answer_name(outcome: Outcome) -> str:
    if outcome.problem.task == "regression" or outcome.model.classes is None:
        return "the prediction"
    return f"the probability of {str(outcome.model.classes[_class(outcome)])!r}"


def _picture(one: Influence, what: str, span: tuple[float, float]) -> str:
    """A picture; all have one scale, so that steep curves matter more than flat ones."""
    if one.column.kind == CATEGORY:
        return _levels(one, what, span)
    x, y = one.values.astype(np.float64), one.answers
    labels = [(float(place), cell_text(one.column, place)) for place in x] if _in_words(one.column) else None
    first, last = (labels[0][1], labels[-1][1]) if labels else (_shown(x[0]), _shown(x[-1]))
    if labels and sum(len(word) for _, word in labels) > _ROOM:
        labels = [labels[0], labels[-1]]
    alt = f"{what} against {one.column.name}: from {_shown(y[0])} at {first} to {_shown(y[-1])} at {last}"
    axes = Axes((x[0], x[-1]), span, one.column.name, what, alt, labels)
    axes.line(list(zip(x.tolist(), y.tolist(), strict=True)))
    ends = "its steps" if _is_scale(one.column) else "from its 2 % to its 98 % quantile"
    return figure(axes.svg(), f"{one.column.name}, {ends}.", "influence")


def _in_words(column: Column) -> bool:
    return column.kind == DATE or _is_scale(column)


def _is_scale(column: Column) -> bool:
    """Whether its numbers stand for words in order."""
    style = Style.of(column.style)
    return style is not None and style.scale is not None


def _levels(one: Influence, what: str, span: tuple[float, float]) -> str:
    """A dot for each of the commonest categories, the largest answer first."""
    order = np.argsort(-one.answers, kind="stable")
    rows = [(str(one.values[place]), float(one.answers[place])) for place in order]
    told = ", ".join(f"{name} {_shown(answer)}" for name, answer in rows)
    caption = f"{one.column.name}, its {'values' if len(rows) < _STEPS else 'commonest values'}."
    return figure(levels(rows, what, f"{what} by {one.column.name}: {told}", span), caption, "influence")


def _shown(value: float) -> str:
    return readable(value)

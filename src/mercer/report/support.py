"""The objects with the largest coefficients, and which of their parts count."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.errors import MercerError
from mercer.inputs.strings import Strings
from mercer.jobs.fitting import Outcome
from mercer.readers.data import DATE, NUMERIC, Column, Data
from mercer.readers.dates import day_text
from mercer.readers.written import SCALES, Style
from mercer.report.page import escape, paragraph, table

_MOST = 8  # objects listed: a few of every class
_LONGEST = 300  # letters of a coloured string: about three lines


def objects(outcome: Outcome) -> str:
    """The largest coefficients, and what each of their objects is."""
    data, y, rows = outcome.problem.data, outcome.problem.y, outcome.support
    weights = np.abs(outcome.model.machine.expansion.coefficients).max(axis=1)
    top = _heaviest(outcome, weights)
    share = 100 * len(rows) / len(y)
    words = f"Predictions compare a new object with {len(rows):,} support objects, {share:.0f} % of all. "
    if outcome.problem.task == "classification":
        words += (
            "Those with the largest weights lie near the border between classes, or on its wrong side; errors and odd "
            "cases are among them. The largest of every class:"
        )
    else:
        words += "The largest weights:"
    listed = [
        (data.name_of(row), str(y[row]), f"{weight:.4g}", described(data, row))
        for row, weight in zip(rows[top].tolist(), weights[top], strict=True)
    ]
    heads = ("object", data.target or "label", "weight", "content")
    return paragraph(words) + table(heads, listed, stacked=True) + _explained(outcome, rows[top])


def _heaviest(outcome: Outcome, weights: Any) -> Any:
    """Of every class in turn: many weights are equal, and the first class would take all places."""
    order = np.argsort(-weights, kind="stable")
    if outcome.problem.task == "regression":
        return order[:_MOST]
    classes = np.unique(outcome.problem.y[outcome.support], return_inverse=True)[1][order]
    turn = np.empty(len(order), dtype=np.intp)
    for code in np.unique(classes):
        turn[classes == code] = np.arange(int((classes == code).sum()))
    return order[np.lexsort((np.arange(len(order)), turn))][:_MOST]


def described(data: Data, row: int) -> str:
    """One object in a line."""
    if data.kind == "table":
        columns = list(data.objects.values())
        shown = "; ".join(f"{column.name} {cell_text(column, column.values[row])}" for column in columns[:8])
        return shown + (f"; and {len(columns) - 8:,} more" if len(columns) > 8 else "")
    if data.kind == "graphs":
        nodes = int(data.objects.sizes[row])
        arcs = int(np.diff(data.objects.arc_offsets)[row])
        return f"{nodes} nodes, {arcs if data.objects.directed else arcs // 2} edges"
    if data.kind in ("vectors", "gram"):
        values: Any = data.objects[[row]]
        dense = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
        return ", ".join(f"{value:.4g}" for value in dense.ravel()[:8]) + (" ..." if dense.size > 8 else "")
    text = str(data.objects[row])
    return text if len(text) <= 120 else text[:117] + "..."


def cell_text(column: Column, value: Any) -> str:
    """A value of a column as people write it: days as dates, steps of a scale as words."""
    if value is None or (column.kind in NUMERIC and np.isnan(value)):
        return "missing"
    if column.kind == DATE:
        return day_text(float(value), column.style)
    style = Style.of(column.style)
    if style is not None and style.scale is not None:
        steps = SCALES[style.scale]
        return steps[min(max(round(float(value)), 0), len(steps) - 1)][0]
    return f"{value:g}" if column.kind in NUMERIC else str(value)[:60]


def _explained(outcome: Outcome, rows: Any) -> str:
    """Strings with their symbols coloured by their contributions to the decision, for two classes."""
    data, estimator = outcome.problem.data, outcome.model.estimator
    if data.kind != "strings" or outcome.problem.task != "classification" or len(estimator.classes_) != 2:
        return ""
    texts = [data.objects[int(row)][:_LONGEST] for row in rows[:4]]
    try:
        found = estimator.explain(Strings.coerce(texts), by="features")
    except (MercerError, AttributeError):  # features that have no place in the string, or machines in cells
        return ""
    if any("".join(map(str, one.parts)) != shown for shown, one in zip(texts, found, strict=True)):
        return ""  # words or other features, not symbols in their places
    first, second = (str(label) for label in estimator.classes_)
    text = paragraph(
        f"Each symbol is coloured by its contribution to the decision: blue for {second}, orange and underlined for "
        f"{first}."
    )
    for shown, one in zip(texts, found, strict=True):
        shares = one.contributions[:, 0]
        most = float(np.abs(shares).max()) or 1.0
        marks = []
        for symbol, value in zip(shown, shares, strict=True):
            strength = abs(float(value)) / most
            colour = f"rgba(84,160,255,{strength:.2f})" if value > 0 else f"rgba(255,166,77,{strength:.2f})"
            line = ";text-decoration:underline" if value < 0 and strength > 0.3 else ""
            marks.append(f'<span style="background:{colour}{line}">{escape(symbol)}</span>')
        text += f'<p><code class="sequence">{"".join(marks)}</code></p>'
    return text

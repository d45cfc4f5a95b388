"""What the decisions on a table or on vectors are made of: the mean share of each column, or term of the kernel."""

from __future__ import annotations

import numpy as np

from mercer.errors import MercerError
from mercer.jobs.fitting import Outcome
from mercer.readers.problems import count, readable
from mercer.report.naming import part_name
from mercer.report.page import paragraph, table
from mercer.selection.learner import evenly_spread

_ROWS = 40  # decisions that are taken apart: more make the means steadier, and take longer
_LISTED = 12  # parts in the list


def shares(outcome: Outcome) -> str:
    """The parts with the largest shares; nothing for objects of other kinds."""
    data, model = outcome.problem.data, outcome.model
    if data.kind not in ("table", "vectors") or not hasattr(model.estimator, "explain"):
        return ""
    rows = evenly_spread(len(data), _ROWS)
    try:
        found = model.estimator.explain(model.objects(data.take(rows)))
    except MercerError:  # kernels of the user's own may not be told apart
        return ""
    if found[0].by == "support":
        return ""
    sizes: dict[str, float] = {}
    for one in found:
        for part, share in zip(one.parts, np.abs(one.contributions).mean(axis=1), strict=True):
            sizes[str(part)] = sizes.get(str(part), 0.0) + float(share) / len(found)
    total = sum(sizes.values())
    if total <= 0 or len(sizes) < 2:  # all of it, which says nothing
        return ""
    how = "Shapley values" if found[0].by == "columns" and found[0].exact else "shares"
    most = sorted(sizes.items(), key=lambda item: -item[1])
    text = paragraph(
        f"Each of {len(found)} {_decisions(outcome)} is the sum of what its parts add: {how}, here without their signs "
        "and averaged."
    )
    known = model.preparation
    listed = [(part_name(name, known), readable(size), f"{100 * size / total:.0f} %") for name, size in most[:_LISTED]]
    more = len(most) - len(listed)
    heads, sizes_listed = ("part", "adds on average", "share"), [size for _, size in most[:_LISTED]]
    return text + table(
        heads, listed, f"and {count(more, 'more part')}" if more > 0 else "", bars=sizes_listed, stacked=True
    )


def _decisions(outcome: Outcome) -> str:
    """What is taken apart, which need not be what is predicted."""
    model = outcome.model
    if model.task == "classification":
        return "decision values"
    return (
        f"predicted logarithms of {outcome.problem.data.target or 'the target'}" if model.link.name else "predictions"
    )

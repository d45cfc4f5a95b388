"""How far new objects may be from all support objects, before they are unlike anything in training."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram.make import gram_of
from mercer.inputs.blocks import ArrayBlocks
from mercer.inputs.gram_rows import GramRows
from mercer.inputs.streamed import streamed
from mercer.jobs.machines import Machine
from mercer.selection.cell_view import CellView, places
from mercer.selection.cells import Cells
from mercer.selection.learner import evenly_spread

_SAMPLE = 2000
"""How many training and support objects it is measured by: more would estimate the 99 % quantile better, and cost the
square of their number in kernel values."""


def support_rows(estimator: Any, objects: Any) -> Indices:
    """Which training objects the machine keeps."""
    if isinstance(estimator, Cells):
        return places(estimator)
    expansion = estimator.expansion_
    landmarks = expansion.kernel.state.values.get("landmark_places")
    if landmarks is not None and len(landmarks) == len(expansion.support):
        found: Indices = streamed(ArrayBlocks(objects), expansion.kernel.kernel.domain).known_places[landmarks]
        return found
    rows = getattr(estimator, "support_", None)
    return np.arange(len(expansion.support)) if rows is None else np.asarray(rows)


def novelty_threshold(estimator: Any, objects: Any) -> float:
    """The distance within which 99 % of the training objects have a support object other than themselves."""
    machine = Machine.of(estimator)
    expansion = machine.expansion
    fitted = expansion.kernel
    if fitted.kernel.domain is GramRows:
        return float("inf")
    support = support_rows(estimator, objects)
    if machine.cells is not None:
        return _novelty_in_cells(machine.cells, objects, support)
    rows, columns = evenly_spread(len(objects), _SAMPLE), evenly_spread(len(support), _SAMPLE)
    part, kept = objects.take(rows), expansion.support.take(columns)
    across = gram_of(fitted, part, kept, dtype=np.float64).exact()
    own, theirs = (fitted.diagonal(fitted.features(some)) for some in (part, kept))
    squared = np.maximum(own[:, None] + theirs[None, :] - 2.0 * across, 0.0)
    squared[rows[:, None] == support[columns][None, :]] = np.inf
    return _usual(np.sqrt(squared.min(axis=1)))


def _novelty_in_cells(cells: CellView, objects: Any, support: Indices) -> float:
    """The same, where each object is compared with the support objects of its cell."""
    fitted, kept = cells.expansion.kernel, cells.expansion.support
    rows = evenly_spread(len(objects), _SAMPLE)
    part = objects.take(rows)
    own = fitted.diagonal(fitted.features(part))
    found = np.full(len(rows), np.inf)
    for some, columns in cells.parts(part):
        others = kept.take(columns)
        across = gram_of(fitted, part.take(some), others, dtype=np.float64).exact()
        squared = np.maximum(own[some][:, None] + fitted.diagonal(fitted.features(others)) - 2.0 * across, 0.0)
        squared[rows[some][:, None] == support[columns][None, :]] = np.inf
        found[some] = np.sqrt(squared.min(axis=1))
    return _usual(found)


def _usual(distances: Float64) -> float:
    """What 99 % of them stay below."""
    known = distances[np.isfinite(distances)]
    return float(np.quantile(known, 0.99)) if len(known) else float("inf")

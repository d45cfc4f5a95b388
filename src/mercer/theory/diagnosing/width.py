"""Kernels that fall off with a distance: is their width right for these objects, and which one would be?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import MercerError
from mercer.inputs.base import Objects
from mercer.kernels.base import Kernel, State, children
from mercer.kernels.pointwise import Pointwise
from mercer.theory.alignment import centred
from mercer.theory.diagnosing.targets import Target

Float64 = npt.NDArray[np.float64]

_NARROW, _WIDE = 12.0, 0.02
_SAMPLE = 400
_GRID = 2.0 ** np.arange(-3, 4)


@final
@dataclass(frozen=True)
class Width:
    """gamma of one kernel against the distances in the data; `too` is "narrow", "wide" or "" if it is in between."""

    kernel: str
    gamma: float
    exponent: float
    """gamma times the median distance measure: k of a typical pair is exp(-exponent)."""
    too: str
    suggested: float
    """The gamma to try: that with the best alignment with the labels, or 1 / the median without labels."""
    by: str


def widths_of(kernel: Kernel, objects: Objects, target: Target | None) -> tuple[Width, ...]:
    """One for each kernel with a single gamma in the tree that compares these objects."""
    found = []
    for part in _tree(kernel):
        if isinstance(part, Pointwise) and part.domain is type(objects) and "gamma" in part.get_params():
            width = _width(part, objects, target)
            if width is not None:
                found.append(width)
    return tuple(found)


def _tree(kernel: Kernel) -> Iterator[Kernel]:
    yield kernel
    for child in children(kernel):
        yield from _tree(child)


def _width(kernel: Pointwise, objects: Objects, target: Target | None) -> Width | None:
    step = max(1, -(-len(objects) // _SAMPLE))
    ids = np.arange(0, len(objects), step)
    try:
        state = kernel.resolve(objects)
        inner = kernel.measure_state(state)
        features = kernel.measure.features(objects.take(ids), inner, np.float64)
        if np.any(kernel.measure.diagonal(features, inner) != 0.0):
            return None  # a dot product, not a distance
        left, right = kernel.measure.align(features, features, inner)
        distances = np.empty((len(ids), len(ids)))
        kernel.measure.tile(left, right, inner, distances)
        gamma = state.number("gamma")
    except (MercerError, KeyError):
        return None
    apart = distances[np.triu_indices(len(ids), 1)]
    apart = apart[apart > 0]
    if not len(apart) or isinstance(kernel.get_params()["gamma"], tuple):
        return None
    median = float(np.median(apart))
    exponent = gamma * median
    too = "narrow" if gamma * float(np.quantile(apart, 0.05)) > _NARROW / 2 and exponent > _NARROW else ""
    too = "wide" if exponent < _WIDE else too
    suggested, by = 1.0 / median, "the median distance"
    if target is not None and len(np.unique(target.codes[ids])) > 1:
        suggested, by = _best(kernel, state, distances, target.take(ids).columns, median), "alignment with the labels"
    return Width(str(kernel), gamma, exponent, too, float(f"{suggested:.3g}"), by)


def _best(kernel: Pointwise, state: State, distances: Float64, Y: Float64, median: float) -> float:
    best, found = -np.inf, 1.0 / median
    for factor in _GRID:
        values: Any = distances.copy()
        kernel.pointwise(values, State({**state.values, "gamma": np.asarray(factor / median)}, state.parts))
        np.fill_diagonal(values, 1.0)
        HKH = centred(values)
        length = float(np.linalg.norm(HKH))
        score = float((Y * (HKH @ Y)).sum()) / length if length > 1e-12 * len(Y) else -np.inf
        if score > best:
            best, found = score, float(factor / median)
    return found

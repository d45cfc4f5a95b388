"""Kernels that decay with a distance: does their width suit these objects, and which would suit better?

A width is judged by its effect: the similarity of a typical pair of objects. This works for gamma of a Gaussian, the
length scale of a Matern kernel and sigma of an alignment, on vectors, columns of a table or anything else.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Indices
from mercer.errors import MercerError
from mercer.inputs.base import Objects
from mercer.kernels.algebra.normalised import Normalised
from mercer.kernels.base import FittedKernel, Kernel, State
from mercer.kernels.probing import parts
from mercer.theory.diagnosing.targets import Target
from mercer.theory.geometry import centred

_NARROW, _WIDE = 12.0, 0.02
"""Similarities of exp(-12) or less are practically 0, those of exp(-0.02) or more practically 1. A narrower range would
criticise widths that still work."""
_SAMPLE, _SLOW_SAMPLE = 400, 40  # objects whose distances are known, or that are compared for each width: n^2 pairs
_SLOW_SECONDS = 0.5  # seconds for one comparison of the sample above which no other widths are tried
_GRID = np.array([0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0])
_SLOW_GRID = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
_SHARPER = {"gamma": True, "length_scale": False, "sigma": False}
"""Parameters that set a width, and whether a larger one makes the kernel narrower."""


@final
@dataclass(frozen=True)
class Width:
    """A width compared to the distances in the data; `too` is "narrow", "wide" or "" if it is in between."""

    kernel: str
    parameter: str
    """Its name: gamma, length_scale or sigma."""
    value: float
    exponent: float
    """A typical pair of different objects has a similarity (a cosine) of exp(-exponent)."""
    too: str
    suggested: float
    """The value to try: the one of best alignment with the labels, or at which a typical pair has exp(-1)."""
    by: str

    @property
    def direction(self) -> str:
        """Whether to try a "larger" or a "smaller" value."""
        return "larger" if (self.too == "wide") == _SHARPER[self.parameter] else "smaller"


def widths_of(kernel: Kernel, objects: Objects, target: Target | None) -> tuple[Width, ...]:
    """One for each component kernel with a width, on the objects (or their columns) that it compares."""
    found = []
    for part, seen in parts(kernel, objects):
        name = next((name for name in _SHARPER if name in part.get_params()), None)
        if name is None or part.domain is not type(seen) or isinstance(part.get_params()[name], tuple):
            continue
        try:
            trial = (_by_values if part.measure is part else _by_measure)(part, name, seen)
            if trial is not None:
                found.append(trial.width(str(part), name, target))
        except (MercerError, KeyError, ArithmeticError):
            continue
    return tuple(found)


@final
@dataclass(frozen=True, eq=False)
class _Trial:
    """A width, and the effect of other widths on some of the objects."""

    value: float
    typical: float
    """The exponents of a typical pair of different objects, and of a `near` one."""
    near: float
    suggested: float
    """The value suggested by the rule named `by`."""
    by: str
    values: Callable[[float], Float64]
    """The similarities of these objects at another width."""
    grid: Float64
    """Other widths to try, as multiples of the suggested one."""
    ids: Indices

    def width(self, kernel: str, name: str, target: Target | None) -> Width:
        """The verdict; if there are labels, they determine the suggested width."""
        too = "narrow" if self.near > _NARROW / 2 and self.typical > _NARROW else "wide" if self.typical < _WIDE else ""
        suggested, by = self.suggested, self.by
        if target is not None and target.varies and len(self.grid):
            columns = target.take(self.ids).columns
            scores = [_aligned(self.values(float(factor * suggested)), columns) for factor in self.grid]
            if max(scores) > -np.inf:
                suggested, by = float(self.grid[int(np.argmax(scores))] * suggested), "alignment with the labels"
        return Width(kernel, name, self.value, self.typical, too, float(f"{suggested:.3g}"), by)


def _by_measure(kernel: Kernel, name: str, objects: Objects) -> _Trial | None:
    """For kernels that are a function of a distance, which is computed once for all widths."""
    ids = np.arange(0, len(objects), max(1, -(-len(objects) // _SAMPLE)))
    state = kernel.resolve(objects)
    inner = kernel.measure_state(state)
    features = kernel.measure.features(objects.take(ids), inner, np.float64)
    if np.any(kernel.measure.diagonal(features, inner) != 0.0):
        return None  # a dot product, not a distance
    left, right = kernel.measure.align(features, features, inner)
    distances = np.empty((len(ids), len(ids)))
    kernel.measure.tile(left, right, inner, distances)
    np.fill_diagonal(distances, 0.0)
    apart = distances[np.triu_indices(len(ids), 1)]
    apart = apart[apart > 0]
    if not len(apart):
        return None

    def values(at: Float64, size: float) -> Float64:
        other = kernel.with_params(**{name: size})
        numbers = other.parameters(objects, inner)
        found: Any = at.copy()
        other.pointwise(found, State({key: np.asarray(number) for key, number in numbers.items()}, (inner,)))
        return np.asarray(found)

    value = _number(kernel, name, state)
    median, near = np.array([[np.median(apart)]]), np.array([[np.quantile(apart, 0.05)]])
    suggested = _typical(lambda size: float(values(median, size)[0, 0]), value, name)
    exponents = _exponent(values(median, value)), _exponent(values(near, value))
    # Lengths are often squared, so half as many steps cover the same range.
    grid = _GRID if _SHARPER[name] else np.sqrt(_GRID)
    return _Trial(value, *exponents, suggested, "the median distance", lambda size: values(distances, size), grid, ids)


def _by_values(kernel: Kernel, name: str, objects: Objects) -> _Trial | None:
    """For other kernels with such a parameter: a few objects are compared again for each value, if that is quick."""
    ids = np.arange(0, len(objects), max(1, -(-len(objects) // _SLOW_SAMPLE)))
    few = objects.take(ids)
    fitted = kernel.fit(objects)
    value = _number(kernel, name, fitted.state)
    began = time.perf_counter()
    C = _cosines(fitted, few)
    grid = _SLOW_GRID if time.perf_counter() - began <= _SLOW_SECONDS else np.ones(0)
    apart = np.sort(C[np.triu_indices(len(ids), 1)])
    apart = apart[apart < 1.0 - 1e-12]
    if not len(apart):
        return None
    exponents = _exponent(np.median(apart)), _exponent(np.quantile(apart, 0.95))
    rule = type(kernel)().fit(objects).state.values.get(name)  # the suggestion of the kernel itself

    def values(size: float) -> Float64:
        return _cosines(kernel.with_params(**{name: size}).fit(objects), few)

    suggested = value if rule is None else float(rule)
    return _Trial(value, *exponents, suggested, "the rule of the kernel", values, grid, ids)


def _number(kernel: Kernel, name: str, state: State) -> float:
    """The width itself, or the result of its rule."""
    given = kernel.get_params()[name]
    return state.number(name) if isinstance(given, str) else float(given)


def _typical(similarity: Callable[[float], float], start: float, name: str) -> float:
    """The width at which a typical pair has a similarity of exp(-1), by bisection of its logarithm."""
    wanted = math.exp(-1.0)
    narrower = 1.0 if _SHARPER[name] else -1.0
    low, high = math.log(start) - 60.0 * math.log(10.0), math.log(start) + 60.0 * math.log(10.0)
    low, high = max(low, -690.0), min(high, 690.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        narrow = similarity(math.exp(middle)) < wanted
        low, high = (low, middle) if narrow == (narrower > 0) else (middle, high)
    return math.exp(0.5 * (low + high))


def _exponent(similarity: Any) -> float:
    value = float(np.ravel(similarity)[0])
    return -math.log(value) if value > 0 else math.inf


def _cosines(fitted: FittedKernel, objects: Objects) -> Float64:
    return FittedKernel(Normalised(fitted.kernel), State(parts=(fitted.state,)))(objects)


def _aligned(values: Float64, Y: Float64) -> float:
    np.fill_diagonal(values, 1.0)
    if not np.isfinite(values).all():
        return -np.inf
    HKH = centred(values)
    length = float(np.linalg.norm(HKH))
    return float((Y * (HKH @ Y)).sum()) / length if length > 1e-12 * len(Y) else -np.inf

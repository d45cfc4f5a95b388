"""Kernels that are a function of something simpler: f(dot product), f(distance).

The dot product or distance, called the *measure*, takes most of the time. Because it is separate from f, a Gram matrix
computes it once for many f: a grid over gamma needs one matrix product, and ``RBF(0.1) + RBF(1.0)`` computes distances
once.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import _check
from mercer._types import DType, Float64, Floating
from mercer.inputs.base import Objects
from mercer.kernels.base import Features, Kernel, Measure, State
from mercer.kernels.features.columns import ColumnProducts, of_vectors
from mercer.kernels.loops import epilogues
from mercer.kernels.weighing import weights_of

Gamma = float | str
"""A positive number, or the name of a rule that computes it from the data."""
_RULES = ("scale", "auto", "median")
_SAMPLE = 1000
"""About the largest number of objects whose distances determine the width: half a million pairs. More would hardly
change a median, and take longer than the first tiles of the Gram matrix."""


class Pointwise(Kernel):
    """k(x, z) = f(m(x, z)) for a measure m. Subclasses define `measure`, `pointwise` (f in place) and `parameters`."""

    @property
    @abstractmethod
    def measure(self) -> Measure: ...

    @abstractmethod
    def pointwise(self, values: Floating, state: State) -> None: ...

    @property
    def domain(self) -> type[Objects]:
        return self.measure.domain

    def resolve(self, objects: Objects) -> State:
        inner = self.measure.resolve(objects)
        numbers = self.parameters(objects, inner)
        return State({name: np.asarray(value) for name, value in numbers.items()}, (inner,))

    def measure_state(self, state: State) -> State:
        return state.parts[0]

    def features(self, objects: Objects, state: State, dtype: DType) -> Features:
        return self.measure.features(objects, state.parts[0], dtype)

    def align(self, left: Any, right: Any, state: State) -> tuple[Features, Features]:
        return self.measure.align(left, right, state.parts[0])

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        self.measure.tile(left, right, state.parts[0], out)
        self.pointwise(out, state)

    def tile_entries(self, left: Any, right: Any, state: State) -> int:
        return self.measure.tile_entries(left, right, state.parts[0])

    def diagonal(self, features: Any, state: State) -> Float64:
        values: Float64 = self.measure.diagonal(features, state.parts[0]).reshape(1, -1).copy()
        with np.errstate(over="ignore"):  # FittedKernel.diagonal refuses overflow
            self.pointwise(values, state)
        return np.asarray(values[0])

    def single_precision(self, features: Any, state: State) -> bool:
        return self.measure.single_precision(features, state.parts[0]) and super().single_precision(features, state)


class Distance(Measure):
    """A measure that is 0 between an object and itself."""

    def diagonal(self, features: Any, state: State) -> Float64:
        return np.zeros(len(features))

    def column_terms(self, row: Float64, rows: Float64) -> Float64 | None:
        """What each column adds to the distances of one row from others; None if they are not sums over columns."""
        del row, rows
        return None

    def gamma(self, rule: str, objects: Any, state: State) -> float:
        """The gamma that the named rule gives for a kernel decaying with this distance."""
        if rule == "auto":
            raise _check.fail("RBF", "gamma", "a number, 'scale' or 'median' over another kernel", rule)
        return gamma_of_distances(rule, self, objects, state)


class HasGamma(Kernel):
    """A kernel with a parameter gamma: a positive number, or the name of a rule that computes it from the data."""

    gamma: Gamma

    def __post_init__(self) -> None:
        super().__post_init__()
        check_gamma(type(self).__name__, self.gamma)

    @property
    def data_dependent(self) -> bool:
        return self.gamma in ("scale", "median")


@dataclass(frozen=True)
class ExponentialDecay(HasGamma, Pointwise):
    """k(x, z) = exp(-gamma d(x, z)). Subclasses give the distance, as `measure`."""

    gamma: Gamma = "scale"

    variants = ({}, {"gamma": 0.3}, {"gamma": "median"})

    @property
    @abstractmethod
    def measure(self) -> Distance: ...

    def parameters(self, objects: Any, measure_state: State) -> dict[str, float]:
        rule = self.gamma
        return {"gamma": self.measure.gamma(rule, objects, measure_state) if isinstance(rule, str) else float(rule)}

    def pointwise(self, values: Floating, state: State) -> None:
        epilogues.exp_of_negative(values, state.number("gamma"))

    def diagonal(self, features: Any, state: State) -> Float64:
        del state
        return np.ones(len(features))  # the distance is zero

    def column_products(self, state: State) -> ColumnProducts | None:
        return decaying(self.measure, state.number("gamma"))


def decaying(distance: Distance, gamma: float) -> ColumnProducts | None:
    """exp(-gamma d), column by column, if the distance is a sum over columns of vectors."""
    if distance.column_terms(np.zeros((1, 0)), np.zeros((1, 0))) is None:
        return None
    return of_vectors(lambda row, rows: np.exp(-gamma * np.asarray(distance.column_terms(row, rows))))


def check_gamma(owner: str, gamma: Gamma) -> None:
    """Refuse anything but a positive number or the name of a rule."""
    if isinstance(gamma, str):
        _check.choice(owner, "gamma", gamma, _RULES, "Or give a positive number.")
    else:
        _check.real(owner, "gamma", gamma, low=0, low_open=True, high_open=True)


def spread_sample(objects: Objects) -> Objects:
    """An evenly spaced sample of many objects, without randomness."""
    return objects.take(_spread(objects))


def _spread(objects: Objects) -> slice:
    return slice(0, None, max(1, -(-len(objects) // _SAMPLE)))


def gamma_of_distances(rule: str, measure: Measure, objects: Objects, state: State) -> float:
    """The rules on any objects, from squared distances in a sample: 1 / mean for 'scale', 1 / median for 'median'.

    Half the mean squared distance is the variance in feature space, so 'scale' divides by the variance, as on vectors.
    """
    some = spread_sample(objects)
    sample, weights = measure.features(some, state, np.float64), weights_of(objects)
    left, right = measure.align(sample, sample, state)
    values = np.empty((len(sample), len(sample)))
    measure.tile(left, right, state, values)
    pairs, typical = len(sample) * (len(sample) - 1), 0.0
    if weights is not None:
        typical = _of_weighted_pairs(rule, values, weights[_spread(objects)])
    elif pairs:
        mean = float(values.sum() - np.trace(values)) / pairs
        typical = float(np.median(values[np.triu_indices(len(sample), 1)])) if rule == "median" else mean / 2
        typical = typical or mean  # most pairs are equal: the median is useless
    return 1.0 if typical <= 0 else 1.0 / typical


def _of_weighted_pairs(rule: str, values: Float64, weights: Float64) -> float:
    """Half the mean of squared distances, or their median, where a weight of w is w objects, apart by nothing."""
    total = float(weights.sum())
    pairs = total * (total - 1.0)
    if pairs <= 0:
        return 0.0
    first, second = np.triu_indices(len(values), 1)
    mean = 2.0 * float((weights[first] * weights[second]) @ values[first, second]) / pairs
    if rule != "median":
        return mean / 2
    found = np.append(values[first, second], 0.0)
    counts = np.append(weights[first] * weights[second], float(weights @ np.maximum(weights - 1.0, 0.0)) / 2)
    order = np.argsort(found)
    reached = np.cumsum(counts[order])
    low, high = (found[order[np.searchsorted(reached, 0.5 * reached[-1], side)]] for side in ("left", "right"))
    return float(low + high) / 2 or mean

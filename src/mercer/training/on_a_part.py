"""Machines trained on a part of the objects, if the time limit allows no more.

Newton's method and the conjugate gradients of least squares need products with the whole matrix. The nu forms have
fixed sums, so about half of their coefficients are on a bound from the start, and no step is possible until half of the
matrix has been computed. If that would take too much of the time, a machine is trained on every stride-th object
instead, weighted to stand for the others; then on twice as many, as long as there is time.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar, final

import numpy as np

from mercer import _deadline, _speed
from mercer._types import Float64, Indices
from mercer.errors import TimeLimitError
from mercer.gram.contract import Gram
from mercer.solvers.drive import Limits, no_machine_error
from mercer.solvers.numerics.thinning import thinned
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Solution, Status
from mercer.training.certificate import certify
from mercer.training.train import Machine

_FIRST = 0.25
"""The fraction of the remaining time that the first product with the matrix may take. More would leave too little for
steps."""
_MATRIX = 0.02
"""The same for the matrix of the first part. It is small because entries and steps may take longer than estimated from
a few timed ones, especially on a busy machine, and because parts grow."""
_DECOMPOSITION = 0.04
"""The same for a decomposition of that matrix, which cannot be interrupted."""
_GROWS, _GROWS_BY_CUBES = 6.0, 10.0
"""The expected increase in time if the number of objects doubles: four times for the matrix, and some more for the
steps. A decomposition takes eight times as long."""
_FEWEST = 1000
"""The minimum number of objects of a part: fewer tell little, and training on these takes no time."""


class Trained(Protocol):
    """What was trained on a part: a machine or a solution."""

    @property
    def status(self) -> Status: ...


Made = TypeVar("Made", bound=Trained)


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """Some of the objects, with weights that have the same sum as those of all objects."""

    ids: Indices
    weights: Float64
    n: int

    def all(self, coefficients: Float64) -> Float64:
        """Coefficients of all objects."""
        found = np.zeros((self.n, *coefficients.shape[1:]))
        found[self.ids] = coefficients
        return found

    def machine(self, trained: Machine, gram: Gram, problem: LossProblem) -> Machine:
        """The machine of these objects as a machine over all objects, whose certificate is computed on demand."""
        coefficients, steps = self.all(trained.coefficients), trained.iterations
        prove = partial(
            certify, problem, coefficients, np.zeros(0), trained.intercept, iterations=steps,
            dtype=np.dtype(gram.dtype).name,
        )  # fmt: skip
        return Machine(coefficients, trained.intercept, Status.OF_A_PART, steps, prove)

    def solution(self, found: Solution) -> Solution:
        """The same for a solution; its objective is the objective on the part."""
        return dataclasses.replace(
            found, coefficients=self.all(found.coefficients), outputs=np.zeros(0), off=0.0, status=Status.OF_A_PART,
        )  # fmt: skip


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Growing:
    """Parts that double in size as long as there is time."""

    weights: Float64
    classes: Float64 | None
    """Each keeps its proportion of the objects."""
    stride: int
    left: Callable[[], float]
    gram: Gram
    """Of all objects."""
    grows: float = _GROWS

    def largest(self, train: Callable[[Part], Made]) -> tuple[Part, Made]:
        """The largest part whose training was completed, and its result; if none was, the unfinished result of the
        first.
        """
        part, stride = self._part(self.stride), self.stride
        began = time.monotonic()
        try:
            found = train(part)
        except TimeLimitError as error:
            raise no_machine_error(self.gram, error) from error
        while stride > 3 and found.status is Status.CONVERGED:
            now = time.monotonic()
            if self.grows * (now - began) > self.left():
                break
            stride, began = -(-stride // 2), now
            larger = self._part(stride)
            try:
                more = train(larger)
            except TimeLimitError:
                break
            if more.status is not Status.CONVERGED:
                break
            part, found = larger, more
        return part, found

    def _part(self, stride: int) -> Part:
        thin = thinned(self.weights, stride, self.classes)
        assert thin is not None, "a part of the objects without one of the classes"
        n = len(self.weights)
        return Part(np.arange(n)[thin[0]], thin[1], n)


def affordable(
    gram: Gram,
    weights: Float64,
    share: float,
    limits: Limits | None,
    classes: Float64 | None = None,
    flops_per_cube: float = 0.0,
) -> Growing | None:
    """Parts, if a product with a `share` of the columns would take too much of the time; None if all objects can be
    used.

    `flops_per_cube` is the cost of a decomposition of the matrix of a part, one of those in `_speed`, if there is one.
    """
    n = gram.shape[0]
    if not _deadline.is_limited() or n <= _FEWEST or gram.in_memory or gram.factor is not None:
        return None

    def left() -> float:
        own = math.inf if limits is None else limits.since + limits.time_limit - time.monotonic()
        return min(_deadline.left(), own)

    seconds = gram.seconds * (2.0 if gram.symmetric else 1.0)  # of n x n entries, since it counts only one triangle
    if share * seconds <= _FIRST * left():
        return None
    most = n * math.sqrt(max(left(), 0.0) * _MATRIX / seconds)
    if flops_per_cube:
        most = min(most, n * (max(left(), 0.0) * _DECOMPOSITION / _speed.seconds(flops_per_cube, n)) ** (1 / 3))
    stride = max(2, math.ceil(n / max(_FEWEST, most)))
    if thinned(weights, stride, classes) is None:
        return None
    return Growing(weights, classes, stride, left, gram, _GROWS_BY_CUBES if flops_per_cube else _GROWS)

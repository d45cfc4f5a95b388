"""How far an algorithm of the slides stopped from the exact optimum of what it minimises.

What the slides minimise is a multiple of 1/2 |w|^2 + C sum_i loss(y_i, f(x_i)), or, for the perceptron, which only
wants objects on their sides, the problem of the largest margin: C = inf. The exact machine of that problem is trained
when somebody asks for the certificate, and its dual bounds the objective from below. |w - w*|^2 is at most twice the
gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.errors import InseparableError, MemoryBudgetError
from mercer.gram.contract import Gram
from mercer.losses.base import Loss
from mercer.solvers.problem import LossProblem
from mercer.training.certificate import Certificate
from mercer.training.train import train

_TOL = 1e-6
"""Of the exact machine, in units of the decision function: its own gap is then far below any that slides leave."""


@final
@dataclass(frozen=True)
class Aim:
    """What an algorithm minimises: `factor` times 1/2 |w|^2 + C sum loss; with C = None, the losses alone."""

    loss: Loss
    C: float | None
    intercept: bool = True
    factor: float = 1.0


@final
@dataclass(frozen=True, eq=False)
class Stopped:
    """Where one machine stopped: |w|^2, decision values of the training objects, and steps made."""

    signs: Float64
    squared: float
    decisions: Float64
    steps: int


def certificate_of(
    aim: Aim,
    stopped: Sequence[Stopped],
    gram: Callable[[], Gram],
    entries: int,
    seconds: float,
    *,
    bounded: bool = True,
) -> Certificate:
    """The certificate of all machines, in units of the objective on the slide.

    Unless it shall be `bounded` by that of the exact machine, all that is known is that no objective is below zero.
    """
    matrix = gram()
    proofs = tuple(_one(aim, machine, matrix, bounded=bounded) for machine in stopped)
    return Certificate.together(proofs, entries, seconds)


def _one(aim: Aim, machine: Stopped, gram: Gram, *, bounded: bool) -> Certificate:
    dtype = np.dtype(gram.dtype).name
    with np.errstate(over="ignore", invalid="ignore"):  # printed descents may have diverged
        primal, length = _objective(aim, machine)
    if not math.isfinite(primal):
        primal = math.inf
    dual = _least(aim, machine.signs, gram) if bounded and aim.C is not None else 0.0
    gap = primal - dual
    reach = math.sqrt(max(float(gram.diagonal().max()), 0.0))
    known = math.isfinite(gap) and aim.C is not None
    violation = math.sqrt(2.0 * max(gap, 0.0)) * reach if known else math.inf
    margin = 1.0 / length if length > 0 else math.inf
    return Certificate(
        aim.factor * primal, aim.factor * dual, violation, margin, machine.steps, kernel_entries=0, seconds=0.0,
        dtype=dtype,
    )  # fmt: skip


def _objective(aim: Aim, machine: Stopped) -> tuple[float, float]:
    """The objective, and |w|; of a largest margin, for w stretched until the nearest object is at 1."""
    if aim.C is not None and math.isinf(aim.C):
        nearest = float((machine.signs * machine.decisions).min())
        if nearest <= 0:
            return math.inf, math.inf
        return 0.5 * machine.squared / nearest**2, math.sqrt(machine.squared) / nearest
    losses = float(aim.loss.value(machine.signs, machine.decisions).sum())
    if aim.C is None:
        return losses, math.sqrt(machine.squared)
    return 0.5 * machine.squared + aim.C * losses, math.sqrt(machine.squared)


def _least(aim: Aim, signs: Float64, gram: Gram) -> float:
    """What no machine is below: infinite if no machine satisfies the conditions, -inf if that is too much to ask."""
    penalties = np.full(len(signs), aim.C)
    try:
        exact = train(gram, LossProblem(aim.loss, signs, penalties, intercept=aim.intercept), tol=_TOL)
    except InseparableError:
        return math.inf
    except MemoryBudgetError:
        return -math.inf
    return max(exact.certificate.dual, 0.0)

"""Newton's method on the weights of small machines, each of them from its start to its end within one compiled call.

Problem   minimise  1/2 |w|^2 + 1/2 (c / intercept_scale)^2 + sum_i C_i loss(y_i, <w, x_i> + c), for one or more y
Given     dense or CSR rows, and a loss with a quadratic dual
Result    weights, dual coefficients and both objectives of each machine
Source    the steps of `newton`, and where the dual is a box the rounds of `smoothed`, number for number

Python around a Newton step takes 150 microseconds; on 60 rows of 4 numbers, the step itself takes one. An intercept is
the weight of one more column, of ones. Loops stand in place of array expressions, which take seconds to compile and
longer than the loops for so few numbers. What is not solved within the steps that small problems are granted, the
caller trains as any other problem.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64
from mercer.gram import cost
from mercer.gram.executors import Threads
from mercer.inputs.vectors import is_sparse
from mercer.losses.base import Loss
from mercer.solvers.drive import Limits
from mercer.solvers.numerics import line_search
from mercer.solvers.solution import Stats, Status
from mercer.solvers.weights import run, smoothed
from mercer.solvers.weights.problem import LinearSolution
from mercer.solvers.weights.small_loops import (
    LINEAR,
    RIDGE,
    TINY,
    evaluate,
    minimised,
    proven,
    set_outputs,
)

_STEPS = 400
"""Newton steps that a small problem is granted: ten times as many as most take. With the costs that count as small,
they take less than a tenth of a second, for which limits and Ctrl-C can wait."""


def suits(rows: Any) -> bool:
    """Whether loops over these rows cost less than products of matrices and the Python around these."""
    n, d = rows.shape
    return cost.loops_pay(n, d, _entries(rows))


def _entries(rows: Any) -> float:
    """Numbers of a row that are not zero."""
    return float(rows.nnz / max(1, rows.shape[0]) if is_sparse(rows) else rows.shape[1])


def solve(
    rows: Any, loss: Loss, y: Float64, C: Float64, intercept_scale: float, *, tol: float, limits: Limits
) -> list[LinearSolution] | None:
    """The machines of targets y with penalties C, a row of each per machine; None if one of them is not solved."""
    began = time.monotonic()
    if limits.out_of_time:
        return None
    dual = loss.dual(y.ravel(), C.ravel())
    assert dual is not None, "a loss without a quadratic dual"
    machines, (n, d) = len(y), rows.shape
    m = d + (intercept_scale > 0)
    table = np.ones((n, m))
    table[:, :d] = rows.toarray() if is_sparse(rows) else rows
    price = np.ones(m)
    if m > d:
        price[d] = intercept_scale**-2.0
    pieces = np.empty((machines, 5, n))
    for number, part in enumerate((dual.linear, dual.kink, dual.lower, dual.upper, dual.ridge)):
        pieces[:, number] = part.reshape(machines, n)
    theta, b = np.zeros((machines, m)), np.empty((machines, n))
    objectives, steps = np.empty((machines, 2)), np.zeros(machines, dtype=np.intp)
    allowed = _STEPS if limits.max_iter < 0 else min(_STEPS, limits.max_iter)
    rules = line_search.RULES, run.RULES, smoothed.RULES

    def job(some: slice) -> None:
        limits.raise_if_stopped()
        _solve_all(
            table, price, pieces[some], C[some], tol, allowed, *rules,
            theta[some], b[some], objectives[some], steps[some],
        )  # fmt: skip

    at_once = max(1, int(cost.AT_ONCE / cost.of_loops(n, m, _entries(rows))))
    parts = [slice(start, min(start + at_once, machines)) for start in range(0, machines, at_once)]
    if len(parts) == 1:
        job(parts[0])
    else:
        Threads().each(job, parts, limits.stop)
    gaps = (objectives[:, 0] - objectives[:, 1]) / np.maximum(np.abs(objectives[:, 0]), TINY)
    if not (gaps <= tol).all():  # also where one is no number
        return None
    seconds = time.monotonic() - began
    found = zip(theta, b, objectives.tolist(), gaps.tolist(), steps.tolist(), strict=True)
    return [
        LinearSolution(
            weights[:d], float(weights[d]) if m > d else 0.0, coefficients, primal, lower, Status.CONVERGED,
            Stats(count, gap, seconds),
        )
        for weights, coefficients, (primal, lower), gap, count in found
    ]  # fmt: skip


@jit
def _solve_all(
    rows: Array,
    price: Array,
    pieces: Array,
    C: Array,
    tol: float,
    allowed: int,
    line: tuple[float, ...],
    newton: tuple[float, ...],
    rounds: tuple[float, ...],
    theta: Array,
    b: Array,
    objectives: Array,
    steps: Array,
) -> None:
    """Machine after machine."""
    n = rows.shape[0]
    for k in range(theta.shape[0]):
        own = pieces[k]
        box = True
        for i in range(n):
            if own[RIDGE, i] != 0.0:
                box = False
        primal, dual, steps[k] = _by_rounds(
            rows, price, own, C[k], tol, allowed, line, newton, rounds, box, theta[k], b[k]
        )
        objectives[k, 0], objectives[k, 1] = primal, dual


@jit
def _by_rounds(
    rows: Array,
    price: Array,
    pieces: Array,
    C: Array,
    tol: float,
    allowed: int,
    line: tuple[float, ...],
    newton: tuple[float, ...],
    rounds: tuple[float, ...],
    box: bool,
    theta: Array,
    b: Array,
) -> tuple[float, float, int]:
    """Rounds of parabolas in place of kinks; of a smooth loss there is one round, with the loss as it is."""
    widest, narrower, gains, better, idle_rounds, narrowest, share = rounds
    n, m = rows.shape
    total, scale = 0.0, 0.0
    for i in range(n):
        total += C[i]
        scale = max(scale, abs(pieces[LINEAR, i]))
    scale = scale if scale > 0.0 else 1.0
    state, work, matrix = np.empty((3, n)), np.empty((4, m)), np.empty((m, m))
    outputs, slope = state[0], state[1]
    if not box:
        steps, _ = minimised(rows, price, pieces, total, tol, allowed, line, newton, theta, state, work, matrix)
        for i in range(n):
            b[i] = -slope[i]
        primal, dual = proven(rows, price, pieces, theta, outputs, b, work[0])
        return primal, dual, steps
    smooth, best_theta, mine = pieces.copy(), theta.copy(), np.empty(n)
    width, steps, idle = widest * scale, 0, 0
    _narrow(pieces, C, width, b, True, smooth)
    set_outputs(rows, theta, outputs)
    evaluate(rows, price, smooth, theta, outputs, slope, work[0])
    for i in range(n):
        b[i] = -slope[i]
    primal, dual = proven(rows, price, pieces, theta, outputs, b, work[0])
    last = (primal - dual) / max(abs(primal), TINY)
    while last > tol and idle < idle_rounds and steps < allowed:
        did, stalled = minimised(
            rows, price, smooth, total, share * tol, allowed - steps, line, newton, theta, state, work, matrix
        )
        steps += did
        for i in range(n):
            mine[i] = -slope[i]
        value, bound = proven(rows, price, pieces, theta, outputs, mine, work[0])
        gap = (value - bound) / max(abs(value), TINY)
        lost = stalled or width <= narrowest * scale
        idle = 0 if gap < better * last else idle + (1 if lost else 0)
        if gap < last:
            primal, dual = value, bound
            b[:] = mine
            best_theta[:] = theta
        if lost and gap > last:  # too narrow for rounding, or for too few rows
            theta[:] = best_theta
            mine[:] = b
            width *= narrower**2
        elif not gap < gains * last:
            width /= narrower
        last = min(last, gap)
        _narrow(pieces, C, width, mine, False, smooth)
    theta[:] = best_theta
    return primal, dual, steps


@jit
def _narrow(pieces: Array, C: Array, width: float, centre: Array, at_zero: bool, smooth: Array) -> None:
    """The losses with parabolas of this width in place of kinks, centred at coefficients."""
    for i in range(C.shape[0]):
        smooth[RIDGE, i] = width / C[i]
        smooth[LINEAR, i] = pieces[LINEAR, i]
        if not at_zero:
            smooth[LINEAR, i] -= smooth[RIDGE, i] * centre[i]

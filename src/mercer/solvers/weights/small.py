"""Newton's method on the weights of small machines, each trained entirely within one compiled call.

Problem   minimise  1/2 |w|^2 + 1/2 (c / intercept_scale)^2 + sum_i C_i loss(y_i, <w, x_i> + c), for one or more y
Given     dense or CSR rows, and a loss with a quadratic dual
Result    weights, dual coefficients and both objectives of each machine
Source    the steps of `newton` and, if the dual is a box, the rounds of `smoothed`, number for number

Python around a Newton step takes 150 microseconds; on 60 rows of 4 numbers, the step itself takes one. An intercept is
the weight of one more column, of ones. Loops replace array expressions, which take seconds to compile and are slower
for so few numbers. A problem that is not solved within the steps allowed here is trained by the caller like any other.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Indices
from mercer.gram import cost
from mercer.gram.executors import Threads
from mercer.inputs.vectors import is_sparse
from mercer.losses.base import Loss
from mercer.solvers.drive import Limits
from mercer.solvers.numerics import line_search
from mercer.solvers.solution import Stats, Status
from mercer.solvers.weights import run, small_sparse, smoothed
from mercer.solvers.weights.problem import LinearProblem, LinearSolution
from mercer.solvers.weights.small_loops import (
    LINEAR,
    RIDGE,
    TINY,
    evaluate,
    minimised,
    proven,
    set_outputs,
    violation,
)

_STEPS = 400
"""Maximum Newton steps of a small problem: ten times as many as most take. For problems that count as small they take
less than a tenth of a second, so limits and Ctrl-C can wait."""


def suits(rows: Any) -> bool:
    """Whether loops over these rows cost less than matrix products and the Python around them."""
    n, d = rows.shape
    return cost.loops_pay(n, d, _entries(rows))


def _entries(rows: Any) -> float:
    """Nonzero entries of a row."""
    return float(rows.nnz / max(1, rows.shape[0]) if is_sparse(rows) else rows.shape[1])


_BY_GAP = (-1.0, 0.0, 0, 0.0)
"""Rounds that end when the duality gap is small enough, unlike those of `kinked`."""


def solve(
    rows: Any, loss: Loss, y: Float64, C: Float64, intercept_scale: float, *, tol: float, limits: Limits
) -> list[LinearSolution] | None:
    """The machines of targets y with penalties C, a row of each per machine; None if one of them is not solved."""
    began = time.monotonic()
    if limits.out_of_time:
        return None
    theta, b, objectives, steps = _solved(rows, loss, y, C, intercept_scale, _BY_GAP, tol, limits)
    gaps = (objectives[:, 0] - objectives[:, 1]) / np.maximum(np.abs(objectives[:, 0]), TINY)
    if not (gaps <= tol).all():  # also if one is NaN
        return None
    d, seconds = rows.shape[1], time.monotonic() - began
    found = zip(theta, b, objectives.tolist(), gaps.tolist(), steps.tolist(), strict=True)
    return [
        LinearSolution(
            weights[:d], float(weights[d]) if len(weights) > d else 0.0, coefficients, primal, lower, Status.CONVERGED,
            Stats(count, gap, seconds),
        )
        for weights, coefficients, (primal, lower), gap, count in found
    ]  # fmt: skip


def coefficients(
    problem: LinearProblem, rules: tuple[float, float, int, float], tol: float, limits: Limits
) -> tuple[Float64, float, int] | None:
    """The same as `kinked`: coefficients, their violation of optimality, and the steps; None if it exceeds `tol`."""
    if limits.out_of_time or not suits(problem.rows):
        return None
    y, C = problem.y[None], problem.C[None]
    _, b, missed, steps = _solved(problem.rows, problem.loss, y, C, problem.intercept_scale, rules, tol, limits)
    return (b[0], float(missed[0, 0]), int(steps[0])) if missed[0, 0] <= tol else None


def _solved(
    rows: Any,
    loss: Loss,
    y: Float64,
    C: Float64,
    intercept_scale: float,
    kinked: tuple[float, float, int, float],
    tol: float,
    limits: Limits,
) -> tuple[Float64, Float64, Float64, Indices]:
    """Weights, coefficients, both objectives (or violations) and steps of each machine."""
    dual = loss.dual(y.ravel(), C.ravel())
    assert dual is not None, "a loss without a quadratic dual"
    machines, (n, d) = len(y), rows.shape
    m = d + (intercept_scale > 0)
    price = np.ones(m)
    if m > d:
        price[d] = intercept_scale**-2.0
    pieces = np.empty((machines, 5, n))
    for number, part in enumerate((dual.linear, dual.kink, dual.lower, dual.upper, dual.ridge)):
        pieces[:, number] = part.reshape(machines, n)
    theta, b = np.zeros((machines, m)), np.empty((machines, n))
    objectives, steps = np.empty((machines, 2)), np.zeros(machines, dtype=np.intp)
    if loss.smooth and kinked is _BY_GAP and small_sparse.suits(rows):
        step, most = cost.of_sparse_step(n, d, _entries(rows)), small_sparse.STEPS
        entries, rules = small_sparse.entries_of(rows), (line_search.RULES, small_sparse.RULES)

        def solve_some(some: slice, *found: Any) -> None:
            small_sparse.solve_all(*entries, d, price, pieces[some], tol, allowed, *rules, *found)

    else:
        step, most = cost.of_loops(n, m, _entries(rows)), _STEPS
        table = np.ones((n, m))
        table[:, :d] = rows.toarray() if is_sparse(rows) else rows
        all_rules = line_search.RULES, run.RULES, smoothed.RULES, kinked

        def solve_some(some: slice, *found: Any) -> None:
            _solve_all(table, price, pieces[some], C[some], tol, allowed, *all_rules, *found)

    allowed = most if limits.max_iter < 0 else min(most, limits.max_iter)

    def job(some: slice) -> None:
        limits.raise_if_stopped()
        solve_some(some, theta[some], b[some], objectives[some], steps[some])

    at_once = max(1, int(cost.AT_ONCE / step))
    parts = [slice(start, min(start + at_once, machines)) for start in range(0, machines, at_once)]
    if len(parts) == 1:
        job(parts[0])
    else:
        Threads().each(job, parts, limits.stop)
    return theta, b, objectives, steps


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
    kinked: tuple[float, float, int, float],
    theta: Array,
    b: Array,
    objectives: Array,
    steps: Array,
) -> None:
    """Machine after machine: both objectives of each, or in place of the first the violation of optimality."""
    n = rows.shape[0]
    for k in range(theta.shape[0]):
        own = pieces[k]
        box = True
        for i in range(n):
            if own[RIDGE, i] != 0.0:
                box = False
        primal, dual, steps[k] = _by_rounds(
            rows, price, own, C[k], tol, allowed, line, newton, rounds, kinked, box, theta[k], b[k]
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
    kinked: tuple[float, float, int, float],
    box: bool,
    theta: Array,
    b: Array,
) -> tuple[float, float, int]:
    """Rounds with parabolas in place of kinks; a smooth loss takes one round, unchanged."""
    widest, narrower, gains, better, idle_rounds, narrowest, share = rounds
    goal_share, most, mends, off = kinked
    by_gap, free, longest = goal_share < 0.0, price[price.shape[0] - 1] == 0.0, 0.0
    settling = (0.0, -1.0, 0.0)
    n, m = rows.shape
    total, scale = 0.0, 0.0
    for i in range(n):
        total += C[i]
        scale = max(scale, abs(pieces[LINEAR, i]))
    scale = scale if scale > 0.0 else 1.0
    state, work, matrix = np.empty((3, n)), np.empty((4, m)), np.empty((m, m))
    outputs, slope = state[0], state[1]
    if not box:
        steps, _ = minimised(
            rows, price, pieces, total, tol, allowed, line, newton, settling, theta, state, work, matrix
        )
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
    primal, dual, last = _judged(rows, price, pieces, by_gap, free, (mends, off), theta, outputs, b, work[0])
    known = np.inf  # the accuracy of the last round decides that of the next
    if not by_gap:
        for i in range(n):
            squared = 0.0
            for j in range(m - free):
                squared += rows[i, j] * rows[i, j]
            longest = max(longest, np.sqrt(squared))
    while last > tol and idle < idle_rounds and steps < allowed:
        if not by_gap:
            settling = (longest, goal_share * max(min(width, known), tol), most * total / n)
        did, stalled = minimised(
            rows, price, smooth, total, share * tol if by_gap else 0.0, allowed - steps, line, newton, settling,
            theta, state, work, matrix,
        )  # fmt: skip
        steps += did
        for i in range(n):
            mine[i] = -slope[i]
        value, bound, gap = _judged(rows, price, pieces, by_gap, free, (mends, off), theta, outputs, mine, work[0])
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
        known = last
        _narrow(pieces, C, width, mine, False, smooth)
    theta[:] = best_theta
    return primal, dual, steps


@jit
def _judged(
    rows: Array,
    price: Array,
    pieces: Array,
    by_gap: bool,
    free: bool,
    mends: tuple[int, float],
    theta: Array,
    outputs: Array,
    b: Array,
    scratch: Array,
) -> tuple[float, float, float]:
    """Both objectives and the gap between them; or the violation of optimality in place of the first and the last."""
    if by_gap:
        primal, dual = proven(rows, price, pieces, theta, outputs, b, scratch)
        return primal, dual, (primal - dual) / max(abs(primal), TINY)
    missed = violation(rows, free, pieces, mends, b, outputs, scratch)
    return missed, 0.0, missed


@jit
def _narrow(pieces: Array, C: Array, width: float, centre: Array, at_zero: bool, smooth: Array) -> None:
    """The losses with parabolas of this width in place of kinks, centred at coefficients."""
    for i in range(C.shape[0]):
        smooth[RIDGE, i] = width / C[i]
        smooth[LINEAR, i] = pieces[LINEAR, i]
        if not at_zero:
            smooth[LINEAR, i] -= smooth[RIDGE, i] * centre[i]

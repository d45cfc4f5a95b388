"""Newton's method with conjugate gradients on small machines of sparse rows, each trained within one compiled call.

Problem   minimise  1/2 |w|^2 + 1/2 (c / intercept_scale)^2 + sum_i C_i loss(y_i, <w, x_i> + c), for one or more y
Given     CSR rows, and a smooth loss with a quadratic dual
Result    weights, dual coefficients and both objectives of each machine
Source    the steps of `newton_cg`, with the line search of `small`

A product with the matrix 1 + X'RX takes two passes over the entries, which are few; the Python around it takes longer.
A problem that is not solved within the steps allowed here is trained by the caller like any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Int32
from mercer.gram import cost
from mercer.inputs.vectors import is_sparse
from mercer.solvers.weights.small_loops import (
    KINK,
    LINEAR,
    LOWER,
    RIDGE,
    UPPER,
    balance,
    flat_point,
    gap_of,
    size_of,
    slope_of,
)

Rows = tuple[Array, Array, Array, int]
"""Pointers, indices and values of CSR rows, and the number of their columns."""

STEPS = 100
"""Maximum number of Newton steps of a machine; a problem that needs more is left to the caller. Chosen, not tuned."""
_PRODUCTS, _ALL_PRODUCTS = 30, 600
"""Maximum number of products in a step, and in all steps of a machine: problems that need more have features of very
different sizes, and are solved better by a factorisation. The call cannot be interrupted, and ends within a third of a
second."""
_ROUGH = 0.1
"""A step is solved until its residual is below this fraction of the gradient, or below the root of the gap: early steps
need not be accurate, and late ones decide how fast the method converges."""
_BLEND = 0.01
"""The weight of the diagonal in the preconditioner, as in `newton_cg`."""
_IDLE = 3
"""After this many steps that neither halve the gap nor lower the objective, the problem is left to the caller."""
RULES = (_ROUGH, _BLEND, _PRODUCTS, _ALL_PRODUCTS, _IDLE)


def suits(rows: Any) -> bool:
    """Whether these are sparse rows on which this is faster than Newton's method with a factorisation."""
    if not is_sparse(rows):
        return False
    n, d = rows.shape
    return cost.sparse_loops_pay(n, d, rows.nnz / max(1, n))


def entries_of(rows: Any) -> tuple[Int32, Int32, Float64]:
    """Pointers, indices and values of CSR rows, always of the same types: compiling for others takes seconds."""
    return (
        rows.indptr.astype(np.int32, copy=False),
        rows.indices.astype(np.int32, copy=False),
        rows.data.astype(np.float64, copy=False),
    )


@jit
def solve_all(
    indptr: Array,
    indices: Array,
    data: Array,
    d: int,
    price: Array,
    pieces: Array,
    tol: float,
    allowed: int,
    line: tuple[float, ...],
    rules: tuple[float, float, int, int, int],
    theta: Array,
    b: Array,
    objectives: Array,
    steps: Array,
) -> None:
    """Machine after machine: both objectives of each."""
    n, m = b.shape[1], theta.shape[1]
    rows = (indptr, indices, data, d)
    state, work = np.empty((4, n)), np.empty((7, m))
    for k in range(theta.shape[0]):
        own = pieces[k]
        steps[k] = _minimise(rows, price, own, tol, allowed, line, rules, theta[k], state, work)
        for i in range(n):
            b[k, i] = -state[1, i]
        objectives[k, 0], objectives[k, 1] = _proven(rows, price, own, theta[k], state[0], b[k], work[0])


@jit
def _minimise(
    rows: Rows,
    price: Array,
    pieces: Array,
    tol: float,
    allowed: int,
    line: tuple[float, ...],
    rules: tuple[float, float, int, int, int],
    theta: Array,
    state: Array,
    work: Array,
) -> int:
    """Newton steps from theta; returns their number. Outputs and slopes are left in `state`."""
    rough, blend, products, left, idle_steps = rules
    outputs, slope, change, curvature = state
    gradient, step = work[0], work[1]
    _set_outputs(rows, theta, outputs)
    value = _evaluate(rows, price, pieces, theta, outputs, slope, gradient)
    gap, steps, idle = gap_of(price, theta, gradient, value), 0, 0
    while gap > tol and steps < allowed and idle < idle_steps and left > 0:
        steps += 1
        bend = 0.0
        for i in range(slope.shape[0]):
            free = -pieces[UPPER, i] < slope[i] < -pieces[LOWER, i]
            free = free and not (pieces[KINK, i] > 0.0 and slope[i] == 0.0)
            curvature[i] = 1.0 / pieces[RIDGE, i] if free else 0.0
            bend += curvature[i]
        if price[price.shape[0] - 1] == 0.0 and bend == 0.0:
            break  # no row has curvature at the unpenalised intercept: the caller's method handles this
        enough = min(rough, np.sqrt(gap))
        left -= _set_direction(rows, price, curvature, enough, blend, min(products, left), change, work)
        descent = 0.0
        for j in range(step.shape[0]):
            descent += step[j] * gradient[j]
        if not descent < 0.0:
            break
        _set_outputs(rows, step, change)
        size = flat_point(price, pieces, theta, step, outputs, change, descent, line)
        for j in range(step.shape[0]):
            theta[j] += size * step[j]
        for i in range(change.shape[0]):
            outputs[i] += size * change[i]
        new = _evaluate(rows, price, pieces, theta, outputs, slope, gradient)
        new_gap = gap_of(price, theta, gradient, new)
        idle = 0 if new < value or new_gap < 0.5 * gap else idle + 1
        value, gap = new, new_gap
    _set_outputs(rows, theta, outputs)  # those updated step by step are less accurate
    _evaluate(rows, price, pieces, theta, outputs, slope, gradient)
    return steps


@jit
def _set_direction(
    rows: Rows,
    price: Array,
    curvature: Array,
    rough: float,
    blend: float,
    products: int,
    change: Array,
    work: Array,
) -> int:
    """The Newton step, by preconditioned conjugate gradients on 1 + X'RX, R the curvatures of the losses.

    Returns the number of products.
    """
    indptr, indices, data, d = rows
    gradient, step, residual, scaled, search, image, weight = work
    m = step.shape[0]
    weight[:] = 0.0
    for i in range(curvature.shape[0]):
        if curvature[i] > 0.0:
            for p in range(indptr[i], indptr[i + 1]):
                weight[indices[p]] += curvature[i] * data[p] * data[p]
            if m > d:
                weight[d] += curvature[i]
    squared, product = 0.0, 0.0
    for j in range(m):
        weight[j] = 1.0 / ((1.0 - blend) + blend * (price[j] + weight[j]))
        step[j], residual[j] = 0.0, -gradient[j]
        search[j] = weight[j] * residual[j]
        squared += gradient[j] * gradient[j]
        product += residual[j] * search[j]
    enough = rough * rough * squared
    for count in range(products):
        _set_outputs(rows, search, change)
        for j in range(m):
            image[j] = price[j] * search[j]
        for i in range(curvature.shape[0]):
            pull = curvature[i] * change[i]
            if pull != 0.0:
                for p in range(indptr[i], indptr[i + 1]):
                    image[indices[p]] += pull * data[p]
                if m > d:
                    image[d] += pull
        across = 0.0
        for j in range(m):
            across += search[j] * image[j]
        if not across > 0.0:
            return count + 1
        size, squared = product / across, 0.0
        for j in range(m):
            step[j] += size * search[j]
            residual[j] -= size * image[j]
            squared += residual[j] * residual[j]
        if squared <= enough:
            return count + 1
        before, product = product, 0.0
        for j in range(m):
            scaled[j] = weight[j] * residual[j]
            product += residual[j] * scaled[j]
        for j in range(m):
            search[j] = scaled[j] + product / before * search[j]
    return products


@jit
def _set_outputs(rows: Rows, theta: Array, out: Array) -> None:
    indptr, indices, data, d = rows
    constant = theta[d] if theta.shape[0] > d else 0.0
    for i in range(out.shape[0]):
        total = constant
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * theta[indices[p]]
        out[i] = total


@jit
def _evaluate(
    rows: Rows,
    price: Array,
    pieces: Array,
    theta: Array,
    f: Array,
    slope: Array,
    gradient: Array,
) -> float:
    """The objective at theta, whose outputs are f; writes its gradient and the slopes of the losses."""
    indptr, indices, data, d = rows
    total = size_of(price, theta, gradient)
    for i in range(f.shape[0]):
        pull, error = slope_of(pieces, i, f[i])
        slope[i] = pull
        total += pull * (error - 0.5 * pieces[RIDGE, i] * pull)
        if pull != 0.0:
            for p in range(indptr[i], indptr[i + 1]):
                gradient[indices[p]] += pull * data[p]
            if theta.shape[0] > d:
                gradient[d] += pull
    return total


@jit
def _proven(
    rows: Rows,
    price: Array,
    pieces: Array,
    theta: Array,
    f: Array,
    b: Array,
    image: Array,
) -> tuple[float, float]:
    """Both objectives; b is made feasible first, if an unpenalised intercept requires a sum of zero."""
    indptr, indices, data, d = rows
    m = theta.shape[0]
    if price[m - 1] == 0.0:
        balance(b)
    primal, dual = 0.0, 0.0
    image[:] = 0.0
    for i in range(f.shape[0]):
        slope, error = slope_of(pieces, i, f[i])
        primal += slope * (error - 0.5 * pieces[RIDGE, i] * slope)
        dual -= 0.5 * pieces[RIDGE, i] * b[i] * b[i] + pieces[LINEAR, i] * b[i] + pieces[KINK, i] * abs(b[i])
        for p in range(indptr[i], indptr[i + 1]):
            image[indices[p]] += b[i] * data[p]
        if m > d:
            image[d] += b[i]
    for j in range(m):
        primal += 0.5 * price[j] * theta[j] * theta[j]
        if price[j] > 0.0:
            dual -= 0.5 * image[j] * image[j] / price[j]
    return primal, dual

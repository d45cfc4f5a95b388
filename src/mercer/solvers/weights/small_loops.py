"""The parts of a Newton step on the weights of a small machine, as compiled loops; see `small`.

A problem is an array of rows, the price of each weight, and the numbers that define its losses: rows of an array
(linear, kink, lower, upper, ridge: see `Dual`) with a column for each row of the problem. Tuples are the rules of
`line_search`, `run` and `smoothed`, whose steps these are.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit

LINEAR, KINK, LOWER, UPPER, RIDGE = range(5)
_ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Relative distance beyond a bound at which a coefficient still counts as on it."""
TINY = float(np.finfo(np.float64).tiny)


@jit
def minimised(
    rows: Array,
    price: Array,
    pieces: Array,
    total: float,
    tol: float,
    allowed: int,
    line: tuple[float, ...],
    newton: tuple[float, ...],
    settling: tuple[float, float, float],
    theta: Array,
    state: Array,
    work: Array,
    matrix: Array,
) -> tuple[int, bool]:
    """Newton steps from theta; returns their number, and whether they stalled before the tolerance was met.

    The tolerance is on the gap or, if the rules for `settling` have a goal, on how far the gradient moves outputs.
    """
    rounding, fine, patience, less, real = newton
    armijo, shortest = line[0], line[1]
    outputs, slope, change = state
    gradient, step, start, ends = work
    set_outputs(rows, theta, outputs)
    value = evaluate(rows, price, pieces, theta, outputs, slope, gradient)
    gap = gap_of(price, theta, gradient, value)
    best_gap, best_value, idle, steps = np.inf, np.inf, 0, 0
    while not _settled(price, gradient, gap, tol, settling) and steps < allowed:
        steps += 1
        noise = rounding * abs(value)
        _set_direction(rows, price, pieces, total, outputs, slope, gradient, matrix, step, ends)
        descent = 0.0
        for j in range(step.shape[0]):
            descent += step[j] * gradient[j]
        set_outputs(rows, step, change)
        size, wanted, small = 1.0, value + noise, not -descent > noise
        if not small:
            size = flat_point(price, pieces, theta, step, outputs, change, descent, line)
        start[:] = theta
        reached, moved, new, gap_before = 0.0, False, value, gap
        while descent < 0.0 and size > shortest:
            for j in range(step.shape[0]):
                theta[j] = start[j] + size * step[j]
            for i in range(change.shape[0]):
                outputs[i] += (size - reached) * change[i]
            reached = size
            new = evaluate(rows, price, pieces, theta, outputs, slope, gradient)
            gap = gap_of(price, theta, gradient, new)
            if small:  # values are lost to rounding: the gradient must fall
                moved = new <= wanted and gap < less * gap_before
                break
            if new <= wanted + armijo * size * descent:
                moved = True
                break
            size *= 0.5
        if not moved:
            theta[:] = start
        else:
            value = new
        if not moved or gap <= tol < fine:  # outputs updated step by step are not that accurate
            set_outputs(rows, theta, outputs)
            value = evaluate(rows, price, pieces, theta, outputs, slope, gradient)
            gap = gap_of(price, theta, gradient, value)
        idle = 0 if gap < real * best_gap or value < best_value - noise else idle + 1
        best_gap, best_value = min(gap, best_gap), min(value, best_value)
        if not moved or idle >= patience:
            return steps, not _settled(price, gradient, gap, tol, settling)
    return steps, False


@jit
def _settled(price: Array, gradient: Array, gap: float, tol: float, settling: tuple[float, float, float]) -> bool:
    """Whether a round is over: the longest row times the gradient bounds what that moves outputs by."""
    longest, goal, most = settling
    if goal < 0.0:
        return gap <= tol
    squared, excess = 0.0, 0.0
    for j in range(price.shape[0]):
        if price[j] > 0.0:
            squared += gradient[j] * gradient[j]
        else:
            excess = abs(gradient[j])  # of the sum of coefficients
    return longest * np.sqrt(squared) + longest * longest * excess <= goal and excess <= most


@jit
def slope_of(pieces: Array, i: int, f: float) -> tuple[float, float]:
    """The slope of a loss at f, and the part of its error that lies beyond the tube."""
    kink, ridge = pieces[KINK, i], pieces[RIDGE, i]
    error = f + pieces[LINEAR, i]
    error -= min(max(error, -kink), kink)
    low, high = -pieces[UPPER, i], -pieces[LOWER, i]
    if error == 0.0:
        return min(max(0.0, low), high), error
    if ridge > 0.0:
        return min(max(error / ridge, low), high), error
    return (high if error > 0.0 else low), error


@jit
def size_of(price: Array, theta: Array, gradient: Array) -> float:
    """What the weights cost, half of the sum of price * theta^2; writes its gradient."""
    total = 0.0
    for j in range(theta.shape[0]):
        gradient[j] = price[j] * theta[j]
        total += 0.5 * gradient[j] * theta[j]
    return total


@jit
def evaluate(rows: Array, price: Array, pieces: Array, theta: Array, f: Array, slope: Array, gradient: Array) -> float:
    """The objective at theta, whose outputs are f; writes its gradient and the slopes of the losses."""
    total = size_of(price, theta, gradient)
    for i in range(f.shape[0]):
        pull, error = slope_of(pieces, i, f[i])
        slope[i] = pull
        total += pull * (error - 0.5 * pieces[RIDGE, i] * pull)
        row = rows[i]
        for j in range(row.shape[0]):
            gradient[j] += pull * row[j]
    return total


@jit
def gap_of(price: Array, theta: Array, gradient: Array, value: float) -> float:
    """The relative duality gap; approximate if an intercept is not penalised."""
    gap = 0.0
    for j in range(theta.shape[0]):
        if price[j] > 0.0:
            gap += 0.5 * gradient[j] * gradient[j] / price[j]
        else:
            gap += abs(gradient[j]) * (1.0 + abs(theta[j]))
    return gap / max(value, TINY)


@jit
def set_outputs(rows: Array, theta: Array, out: Array) -> None:
    for i in range(out.shape[0]):
        row, total = rows[i], 0.0
        for j in range(row.shape[0]):
            total += row[j] * theta[j]
        out[i] = total


@jit
def _set_direction(
    rows: Array,
    price: Array,
    pieces: Array,
    total: float,
    outputs: Array,
    slope: Array,
    gradient: Array,
    matrix: Array,
    step: Array,
    ends: Array,
) -> None:
    """The Newton step, by a triangular factor of 1 + X'RX, R the curvatures of the losses."""
    m = matrix.shape[0]
    matrix[:] = 0.0
    off = 0.0
    for i in range(slope.shape[0]):
        off = max(off, abs(outputs[i] + pieces[LINEAR, i]))
        free = -pieces[UPPER, i] < slope[i] < -pieces[LOWER, i]
        if not free or (pieces[KINK, i] > 0.0 and slope[i] == 0.0):  # within a tube there is no slope at all
            continue
        row, steep = rows[i], 1.0 / pieces[RIDGE, i]
        for j in range(m):
            target, weighted = matrix[j], steep * row[j]
            if weighted != 0.0:  # of sparse rows, hardly any
                for k in range(j + 1):
                    target[k] += weighted * row[k]
    for j in range(m):
        matrix[j, j] += price[j]
        step[j] = -gradient[j]
    if matrix[m - 1, m - 1] <= 0.0:
        # No row has curvature at the unpenalised intercept, so only its slope matters.
        matrix[m - 1, m - 1] = max(total, TINY) / max(off, TINY)
    for j in range(m):
        ends[j] = matrix[j, j]
    for j in range(m):
        target = matrix[j]
        for k in range(j + 1):
            source, rest = matrix[k], target[k]
            for q in range(k):
                rest -= target[q] * source[q]
            if k < j:
                target[k] = rest / source[k]
        if not rest > 0.0:  # curvatures so large that the penalty is lost to rounding
            for q in range(m):
                step[q] = -gradient[q] / ends[q]
            return
        target[j] = np.sqrt(rest)
    for j in range(m):
        rest = step[j]
        for q in range(j):
            rest -= matrix[j, q] * step[q]
        step[j] = rest / matrix[j, j]
    for j in range(m - 1, -1, -1):
        step[j] /= matrix[j, j]
        for q in range(j):
            step[q] -= matrix[j, q] * step[j]


@jit
def _slope_along(pieces: Array, f: Array, change: Array, size: float) -> float:
    """The derivative of all losses in the size of a step."""
    total = 0.0
    for i in range(f.shape[0]):
        total += slope_of(pieces, i, f[i] + size * change[i])[0] * change[i]
    return total


@jit
def flat_point(
    price: Array,
    pieces: Array,
    theta: Array,
    step: Array,
    f: Array,
    change: Array,
    descent: float,
    line: tuple[float, ...],
) -> float:
    """As `line_search.flat_point`."""
    _, _, flat, longest, sections = line
    at, across = 0.0, 0.0
    for j in range(theta.shape[0]):
        at += price[j] * theta[j] * step[j]
        across += price[j] * step[j] * step[j]
    low, high, at_low = 0.0, 1.0, descent
    at_high = at + across + _slope_along(pieces, f, change, 1.0)
    enough = flat * abs(at_low)
    while at_high < -enough and high < longest:
        low, high, at_low = high, 2.0 * high, at_high
        at_high = at + high * across + _slope_along(pieces, f, change, high)
    if abs(at_high) <= enough or at_high < 0.0:
        return high
    for _ in range(int(sections)):
        middle = low + min(max(at_low / (at_low - at_high), 0.1), 0.9) * (high - low)
        at_middle = at + middle * across + _slope_along(pieces, f, change, middle)
        if abs(at_middle) <= enough:
            return middle
        if at_middle < 0.0:
            low, at_low = middle, at_middle
        else:
            high, at_high = middle, at_middle
    return low if low > 0.0 else high


@jit
def proven(
    rows: Array, price: Array, pieces: Array, theta: Array, f: Array, b: Array, image: Array
) -> tuple[float, float]:
    """Both objectives; b is made feasible first, if an unpenalised intercept requires a sum of zero."""
    n, m = rows.shape
    if price[m - 1] == 0.0:
        balance(b)
    primal, dual = 0.0, 0.0
    image[:] = 0.0
    for i in range(n):
        slope, error = slope_of(pieces, i, f[i])
        primal += slope * (error - 0.5 * pieces[RIDGE, i] * slope)
        lower, upper = pieces[LOWER, i], pieces[UPPER, i]
        if b[i] < lower - _ROUNDING * abs(lower) or b[i] > upper + _ROUNDING * abs(upper):
            dual = -np.inf
        dual -= 0.5 * pieces[RIDGE, i] * b[i] * b[i] + pieces[LINEAR, i] * b[i] + pieces[KINK, i] * abs(b[i])
        row = rows[i]
        for j in range(m):
            image[j] += b[i] * row[j]
    for j in range(m):
        primal += 0.5 * price[j] * theta[j] * theta[j]
        if price[j] > 0.0:
            dual -= 0.5 * image[j] * image[j] / price[j]
    return primal, dual


@jit
def balance(b: Array) -> None:
    """Scale down the coefficients of the heavier sign until all sum to zero; this crosses no bound."""
    positive, negative = 0.0, 0.0
    for i in range(b.shape[0]):
        positive += max(b[i], 0.0)
        negative += max(-b[i], 0.0)
    if positive == negative:
        return
    ratio = min(positive, negative) / max(positive, negative)
    for i in range(b.shape[0]):
        if (b[i] > 0.0) == (positive > negative):
            b[i] *= ratio


@jit
def violation(rows: Array, free: bool, pieces: Array, mends: tuple[int, float], b: Array, f: Array, w: Array) -> float:
    """The violation of optimality of b, whose sum is corrected first if an intercept is `free`; f and w belong to
    it."""
    n, m = rows.shape
    rounds, off = mends
    if free:
        for _ in range(rounds):
            if not _correct_sum(pieces, b):
                break
    total, size = 0.0, 0.0
    w[:] = 0.0
    for i in range(n):
        total += b[i]
        size += abs(b[i])
        row = rows[i]
        for j in range(m):
            w[j] += b[i] * row[j]
    if free:
        w[m - 1] = 0.0  # of the column of ones
        if abs(total) > off * size:
            return np.inf
    set_outputs(rows, w, f)
    highest, lowest = -np.inf, np.inf
    for i in range(n):
        kink, slope = pieces[KINK, i], -(f[i] + pieces[LINEAR, i])
        if b[i] < pieces[UPPER, i]:
            highest = max(highest, slope - kink if b[i] >= 0.0 else slope + kink)
        if b[i] > pieces[LOWER, i]:
            lowest = min(lowest, slope - kink if b[i] > 0.0 else slope + kink)
    if not free:
        return max(highest, -lowest, 0.0)
    return max(highest - lowest, 0.0) if np.isfinite(highest - lowest) else 0.0


@jit
def _correct_sum(pieces: Array, b: Array) -> bool:
    """Move free coefficients until all sum to zero or they meet bounds; returns whether there was anything to move."""
    excess, room, free = 0.0, 0.0, 0
    for i in range(b.shape[0]):
        excess += b[i]
    for i in range(b.shape[0]):
        if _is_free(pieces, i, b[i]):
            free += 1
            room += abs(_end(pieces, i, b[i], excess > 0.0) - b[i])
    if excess == 0.0 or free == 0:
        return False
    share = min(abs(excess) / max(room, TINY), 1.0)
    for i in range(b.shape[0]):
        if _is_free(pieces, i, b[i]):
            end = _end(pieces, i, b[i], excess > 0.0)
            b[i] = end if share == 1.0 else b[i] + share * (end - b[i])
    return True


@jit
def _is_free(pieces: Array, i: int, b: float) -> bool:
    """Whether a coefficient is free: on neither a bound nor a kink."""
    return pieces[LOWER, i] < b < pieces[UPPER, i] and (b != 0.0 or pieces[KINK, i] == 0.0)


@jit
def _end(pieces: Array, i: int, b: float, down: bool) -> float:
    """The value at which a free coefficient meets a bound or a kink."""
    kinked, end = pieces[KINK, i] > 0.0, float(pieces[LOWER, i] if down else pieces[UPPER, i])
    if kinked and down and b > 0.0:
        end = max(end, 0.0)
    elif kinked and not down and b < 0.0:
        end = min(end, 0.0)
    return end

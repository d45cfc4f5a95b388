"""Machines in their nu form: nu bounds the fraction of margin errors from above and of support objects from below."""

from __future__ import annotations

import dataclasses
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.errors import ParameterError
from mercer.gram.contract import Gram
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.solvers.box import refined
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.step_rules import side_levels
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Solution, Status
from mercer.solvers.weights import nu_newton
from mercer.training.on_a_part import Part, affordable
from mercer.training.train import Machine, machine_of

Levels = tuple[float, float]
"""The value of F at free coefficients, for the positive and the negative side."""

_GUESS = 0.1
"""The first guess of the margin, as a fraction of the largest possible one; a wrong guess costs one more run, which
continues from the last one."""
_NOTHING = 1e-9
"""A margin below this fraction of the largest possible one is rounding error."""
_SIDE = 0.5
"""The fraction of the tolerance given to each side of zero, since the violations of both sides add up."""
_GAP = 1e-4
"""The relative duality gap at which Newton's method on features stops, for a tolerance of one ..."""
_FINEST_GAP = 1e-9
"""... and the smallest one that rounding allows."""


@final
@dataclasses.dataclass(frozen=True, eq=False)
class _Made:
    """A machine, and the parameter that nu determines: its C, or half the width of its tube."""

    machine: Machine
    level: float

    @property
    def status(self) -> Status:
        return self.machine.status


class NoMarginError(ParameterError):
    """Raised if every boundary between two classes has more objects on its wrong side than nu allows."""


def train_nu_classifier(
    gram: Gram,
    y: Float64,
    weights: Float64,
    nu: float,
    *,
    tol: float,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> tuple[Machine, float]:
    """The machine with margin 1 that nu asks for, and the C with which the C form has the same solution.

    Minimises 1/2 |w|^2 - nu rho sum(w) + sum_i w_i max(0, rho - y_i f(x_i)) over w, the intercept and rho >= 0. The
    solution is then divided by rho, which gives the machine of the hinge loss with C = 1 / rho.
    """
    parts = affordable(gram, weights, nu, limits, y)
    if parts is not None:
        part, made = parts.largest(
            lambda part: _nu_classifier(
                gram.view(part.ids), y[part.ids], part.weights, _feasible(nu, y, part), tol, limits, on_chunk
            )
        )
        return part.machine(made.machine, gram, LossProblem(Hinge(), y, made.level * weights)), made.level
    made = _nu_classifier(gram, y, weights, nu, tol, limits, on_chunk)
    return made.machine, made.level


def _nu_classifier(
    gram: Gram, y: Float64, weights: Float64, nu: float, tol: float, limits: Limits | None, on_chunk: OnChunk | None
) -> _Made:
    mass = nu * float(weights.sum())
    positive = y > 0
    problem = BoxProblem(
        np.zeros(len(y)), np.where(positive, 0.0, -weights), np.where(positive, weights, 0.0), 0.0, mass
    )
    size = mass * max(float(gram.diagonal().max()), np.finfo(float).tiny)
    solution, rho = _with_margin(gram, problem, size, tol, limits, on_chunk)
    if rho <= _NOTHING * size:
        raise NoMarginError(
            f"With nu={nu:g} there is no margin: more than this fraction of the objects cannot be separated by this "
            "kernel (the same object with two labels, for example). Raise nu, or use a richer kernel or SVC."
        )
    scale = 1.0 / rho  # coefficients and bounds are scaled alike, so what was on a bound stays on it
    scaled = dataclasses.replace(
        solution,
        coefficients=scale * solution.coefficients,
        outputs=scale * solution.outputs,
        off=scale * solution.off,
        intercept=scale * solution.intercept,
    )
    return _Made(machine_of(gram, LossProblem(Hinge(), y, scale * weights), scaled), scale)


def train_nu_regressor(
    gram: Gram,
    y: Float64,
    C: Float64,
    nu: float,
    *,
    tol: float,
    limits: Limits | None = None,
    on_chunk: OnChunk | None = None,
) -> tuple[Machine, float]:
    """The machine whose tube leaves out at most a fraction nu of the objects, and half the width of the tube.

    Minimises 1/2 |w|^2 + sum_i C_i (nu epsilon + max(0, |y_i - f(x_i)| - epsilon)) over w, the intercept and epsilon.
    """
    parts = affordable(gram, C, nu, limits)
    if parts is not None:
        part, made = parts.largest(
            lambda part: _nu_regressor(gram.view(part.ids), y[part.ids], part.weights, nu, tol, limits, on_chunk)
        )
        return part.machine(made.machine, gram, LossProblem(EpsilonInsensitive(made.level), y, C)), made.level
    made = _nu_regressor(gram, y, C, nu, tol, limits, on_chunk)
    return made.machine, made.level


def _nu_regressor(
    gram: Gram, y: Float64, C: Float64, nu: float, tol: float, limits: Limits | None, on_chunk: OnChunk | None
) -> _Made:
    n, nothing = len(y), np.zeros_like(C)
    # The first copy of each object has the positive part, the second the negative part, as for a tube of known width.
    problem = BoxProblem(
        np.concatenate([-y, -y]), np.concatenate([nothing, -C]), np.concatenate([C, nothing]), 0.0, nu * float(C.sum())
    )
    copies = gram.view(np.tile(np.arange(n), 2))
    solution, (upper, lower) = solve_nu_form(copies, problem, tol, limits, on_chunk)
    epsilon = max((upper - lower) / 2, 0.0)
    merged = dataclasses.replace(
        solution,
        coefficients=solution.coefficients.reshape(2, n).sum(axis=0),
        outputs=solution.outputs[:n],
        off=solution.off if isinstance(solution.off, float) else solution.off.reshape(2, n).max(axis=0),
    )
    return _Made(machine_of(gram, LossProblem(EpsilonInsensitive(epsilon), y, C), merged), epsilon)


def _feasible(nu: float, y: Float64, part: Part) -> float:
    """The nearest nu for which a part of two classes has a solution: in a part, the proportions of classes differ
    slightly.
    """
    few = y[part.ids] > 0
    return min(nu, largest_nu(np.array([part.weights[few].sum(), part.weights[~few].sum()]))[0])


def solve_nu_form(
    gram: Gram, problem: BoxProblem, tol: float, limits: Limits | None, on_chunk: OnChunk | None
) -> tuple[Solution, Levels]:
    """Solve a problem whose positive and negative coefficients have fixed sums; also returns both levels."""
    solution, levels = _on_features(gram, problem, tol, limits, on_chunk)
    if solution is not None and solution.status is not Status.STALLED:
        return solution, levels
    start, two_sided = None if solution is None else solution.coefficients, problem.absolute_sum is not None
    exact = _SIDE * tol if two_sided else tol
    solution = refined.solve(gram, problem, start=start, tol=exact, limits=limits, on_chunk=on_chunk)
    if not two_sided:
        return solution, (solution.intercept, solution.intercept)
    return solution, side_levels(solution.coefficients, -solution.outputs - problem.linear, problem)


def largest_nu(totals: Float64) -> tuple[float, tuple[int, int]]:
    """The largest nu for which every pair of classes has a solution, and the pair that limits it."""
    first, second = np.argsort(totals)[[0, -1]]
    most = 2.0 * float(totals[first]) / float(totals[first] + totals[second])
    return most, (int(first), int(second))


def _with_margin(
    gram: Gram, problem: BoxProblem, size: float, tol: float, limits: Limits | None, on_chunk: OnChunk | None
) -> tuple[Solution, float]:
    """The solution and its margin rho, to within a relative error of `tol`."""
    start, guess, iterations = None, _GUESS * size, 0
    found, levels = _on_features(gram, problem, tol, limits, on_chunk)
    if found is not None:
        rho = (levels[1] - levels[0]) / 2
        if found.status is not Status.STALLED and rho > _NOTHING * size:
            return found, rho
        start, iterations = found.coefficients, found.stats.iterations
    while True:
        solution = refined.solve(gram, problem, start=start, tol=_SIDE * tol * guess, limits=limits, on_chunk=on_chunk)
        iterations += solution.stats.iterations
        of_positive, of_negative = side_levels(solution.coefficients, -solution.outputs, problem)
        rho = (of_negative - of_positive) / 2
        nothing = rho <= _NOTHING * size and (solution.stats.gap <= _NOTHING * size or not solution.converged)
        if nothing or not solution.converged or (rho > 0 and solution.stats.gap <= _SIDE * tol * rho):
            stats = dataclasses.replace(solution.stats, iterations=iterations)
            return dataclasses.replace(solution, stats=stats), rho
        # Just below the margin found, which may still shrink; at most half, and at least a thousandth, of the guess.
        start, guess = solution.coefficients, min(max(0.9 * rho, 1e-3 * guess), 0.5 * guess)


def _on_features(
    gram: Gram, problem: BoxProblem, tol: float, limits: Limits | None, on_chunk: OnChunk | None
) -> tuple[Solution | None, Levels]:
    """The solution by Newton's method, if the matrix comes from few features."""
    if not nu_newton.applies(gram, problem):
        return None, (0.0, 0.0)
    return nu_newton.solve(gram, problem, tol=max(_GAP * tol, _FINEST_GAP), limits=limits, on_chunk=on_chunk)

"""The conformance suite of everything that minimises: its claims are checked against the definition of the problem.

A `Minimiser` is a problem with a way to solve it. All that the suite knows about them is the objective, written from
its definition, and the minimum, found by other means.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, final
from unittest import mock

import numpy as np
import threadpoolctl

from mercer.solvers.drive import Chunk, Limits, OnChunk, Stopped
from mercer.solvers.solution import Status
from mercer.testing.checks import Check, fingerprint, named, require, require_unchanged, run_all

_ROUNDING = 1e-7
"""Relative error allowed for rounding, and for the method that found the minimum."""


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver found, and what it says about it."""

    point: Any
    """An array, or several."""
    objective: float
    status: Status
    iterations: int
    gap: float = 0.0
    """In the units of its tolerance."""
    lower_bound: float = -math.inf
    """It claims that no point has a smaller objective."""

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED


class Solve(Protocol):
    """One way to solve one problem."""

    def __call__(self, *, tol: float, limits: Limits, on_chunk: OnChunk | None = None, start: Any = None) -> Answer: ...


@final
@dataclass(frozen=True, eq=False)
class Minimiser:
    """A problem with a way to solve it."""

    solve: Solve
    objective: Callable[[Any], float]
    """The objective of a point, from its definition."""
    infeasibility: Callable[[Any], float]
    """By how much a point violates the constraints."""
    allowed: Callable[[float], float] = lambda tol: math.inf
    """By how much the objective of a converged answer may exceed the minimum, as a function of the tolerance."""
    least: float | None = None
    """The minimum, found by other means."""
    violation: Callable[[Any], float] | None = None
    """By how much a point violates the optimality conditions, in the units of the gap."""
    at_start: float = math.inf
    """The objective before the first step; stopping early must never leave a larger one."""
    given: tuple[Any, ...] = ()
    """What belongs to the caller, and must not change."""
    tolerances: tuple[float, float] = (1e-2, 1e-5)
    iterative: bool = True
    """Whether there are iterations that limits can stop."""
    reports: bool = True
    """Whether it reports its progress between two chunks."""
    warm_starts: bool = False
    doubled: Minimiser | None = None
    """The same problem with every object split into two copies that share its weight."""
    large: Solve | None = None
    """A problem that several threads work on."""


def minimiser_checks(subject: Minimiser) -> Iterator[Check]:
    """Every property that a solver promises, as named checks."""
    return _checks(subject)


def check_minimiser(subject: Minimiser) -> None:
    """Run every check of `minimiser_checks`; AssertionError lists those that fail."""
    run_all("the solver", minimiser_checks(subject))


def feasibility(subject: Minimiser) -> None:
    """Every answer, even one stopped early, satisfies the constraints, and the problem is left unchanged."""
    before = fingerprint(list(subject.given))
    for answer in [*_converged(subject), *_stopped(subject)]:
        outside = subject.infeasibility(answer.point)
        require(outside <= 1e-9, f"violates the constraints by {outside:g} ({answer.status.name})")
    require_unchanged(before, list(subject.given), "solve")


def optimality(subject: Minimiser) -> None:
    """The answer is as exact as asked for, and its objective is that of its point."""
    for tol, answer in zip(subject.tolerances, _converged(subject), strict=True):
        require(answer.converged, f"not converged to {tol:g}: {answer.status.name}")
        value = subject.objective(answer.point)
        off = abs(answer.objective - value)
        said = f"says the objective is {answer.objective:.9g}, but it is {value:.9g}"
        require(off <= _ROUNDING * max(1.0, abs(value)), said)
        if subject.least is not None:
            allowed = subject.allowed(tol) + _ROUNDING * max(1.0, abs(subject.least))
            over = value - subject.least
            require(over <= allowed, f"{over:g} above the least objective, {allowed:g} allowed at tol={tol:g}")
        if subject.violation is not None:
            violation = subject.violation(answer.point)
            require(violation <= tol * (1 + 1e-6) + 1e-9, f"violates optimality by {violation:g}, asked for {tol:g}")


def certificate(subject: Minimiser) -> None:
    """Its claims are true: no point is below its lower bound, and the real violation does not exceed its gap."""
    for tol, answer in zip(subject.tolerances, _converged(subject), strict=True):
        require(answer.gap <= tol, f"claims convergence to {tol:g} with a gap of {answer.gap:g}")
    for answer in [*_converged(subject), *_stopped(subject)]:
        if subject.least is not None:
            slack = _ROUNDING * max(1.0, abs(subject.least))
            false = f"says that nothing is below {answer.lower_bound:.9g}, but {subject.least:.9g} is"
            require(answer.lower_bound <= subject.least + slack, f"{false} ({answer.status.name})")
        if subject.violation is not None and math.isfinite(answer.gap):
            violation = subject.violation(answer.point)
            require(violation <= answer.gap * (1 + 1e-6) + 1e-9, f"says {answer.gap:g}, violates {violation:g}")


def iteration_limit(subject: Minimiser) -> None:
    """It does no more iterations than allowed; when they run out it says so, with a point no worse than the start."""
    if not subject.iterative:
        return
    for most in (0, 1, 3):
        answer = subject.solve(tol=1e-12, limits=Limits(max_iter=most))
        require(answer.iterations <= most, f"did {answer.iterations} iterations, {most} allowed")
        require(answer.status is not Status.OUT_OF_TIME, "out of iterations, it says that it ran out of time")
        _require_usable(subject, answer)


def time_limit(subject: Minimiser) -> None:
    """Out of time, it ends at once and says so, with a point no worse than the start."""
    if not subject.iterative:
        return
    late, work = _worked(subject, Limits(time_limit=0.0))
    require(late.status is not Status.OUT_OF_ITERATIONS, "out of time, it says that it ran out of iterations")
    whole = _worked(subject, Limits())[1]
    require(work <= 1 or work < whole, f"did all of its work, in {work} parts, without any time for them")
    _require_usable(subject, late)


def _worked(subject: Minimiser, limits: Limits) -> tuple[Answer, int]:
    """The most exact answer, and how many chunks (or else iterations) it took."""
    seen: list[Chunk] = []
    answer = subject.solve(tol=1e-13, limits=limits, on_chunk=seen.append)
    return answer, len(seen) if subject.reports else answer.iterations


def interruption(subject: Minimiser) -> None:
    """Ctrl-C between two chunks ends it; nothing is left broken, and the next answer is the same as before."""
    if not subject.reports:
        return
    tol, threads, seen = min(subject.tolerances), _blas_threads(), list[Chunk]()
    before = subject.solve(tol=tol, limits=Limits(), on_chunk=seen.append)
    given = fingerprint(list(subject.given))
    require(seen, "never reports its progress")
    require(all(0.0 <= chunk.fraction <= 1.0 for chunk in seen), "reports a fraction of the work outside [0, 1]")
    for calls in {1, (len(seen) + 1) // 2}:
        try:
            subject.solve(tol=tol, limits=Limits(), on_chunk=_Interrupt(calls))
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("swallows Ctrl-C")
        require(_blas_threads() == threads, "interrupted, it leaves BLAS with another number of threads")
        require_unchanged(given, list(subject.given), "an interrupted run")
    again = subject.solve(tol=tol, limits=Limits())
    require(_same(before, again), "after an interrupted run, the answer differs")


def stop_event(subject: Minimiser) -> None:
    """Told to stop by another thread, it raises `Stopped`."""
    limits = Limits()
    limits.stop.set()
    try:
        subject.solve(tol=1e-3, limits=limits)
    except Stopped:
        return
    raise AssertionError("told to stop, it goes on")


def warm_start(subject: Minimiser) -> None:
    """Started from its own solution, it has nothing left to do, and it does not write to its starting point."""
    if not subject.warm_starts:
        return
    rough, fine = subject.tolerances
    cold = subject.solve(tol=fine, limits=Limits())
    kept = np.array(cold.point)
    again = subject.solve(tol=10 * fine, limits=Limits(), start=cold.point)
    require(np.array_equal(cold.point, kept), "writes to the point that it started from")
    require(again.iterations <= 2, f"needs {again.iterations} iterations from its own solution")
    halfway = subject.solve(tol=rough, limits=Limits(max_iter=3)).point
    warm = subject.solve(tol=fine, limits=Limits(), start=halfway)
    require(warm.converged, f"started half way, not converged: {warm.status.name}")
    off = abs(subject.objective(warm.point) - subject.objective(cold.point))
    require(off <= subject.allowed(fine) + _ROUNDING, f"started half way, its optimum differs by {off:g}")


def reproducibility(subject: Minimiser) -> None:
    """The same problem gives the same bits, whatever the number of threads."""
    tol = max(subject.tolerances)
    first, second = (subject.solve(tol=tol, limits=Limits()) for _ in range(2))
    require(_same(first, second), "two runs give different answers")
    found = []
    for threads in ("1", "3"):
        with mock.patch.dict(os.environ, MERCER_NUM_THREADS=threads):
            found.append((subject.large or subject.solve)(tol=tol, limits=Limits()))
    require(_same(*found), "three threads give another answer than one")


def weights(subject: Minimiser) -> None:
    """Giving an object twice, with half the weight each time, changes nothing."""
    if subject.doubled is None:
        return
    tol = min(subject.tolerances)
    found = [(one, one.solve(tol=tol, limits=Limits())) for one in (subject, subject.doubled)]
    first, second = (one.objective(answer.point) for one, answer in found)
    allowed = 2 * subject.allowed(tol) + _ROUNDING * max(1.0, abs(first))
    require(
        abs(first - second) <= allowed, f"an objective of {first:.9g}, but {second:.9g} with every object given twice"
    )


_checks = named(
    "solver", feasibility, optimality, certificate, iteration_limit, time_limit, interruption, stop_event, warm_start,
    reproducibility, weights,
)  # fmt: skip


@final
class _Interrupt:
    """Ctrl-C after a given number of chunks."""

    def __init__(self, calls: int) -> None:
        self._left = calls

    def __call__(self, chunk: Chunk) -> None:
        del chunk
        self._left -= 1
        if self._left <= 0:
            raise KeyboardInterrupt


def _converged(subject: Minimiser) -> list[Answer]:
    return [subject.solve(tol=tol, limits=Limits()) for tol in subject.tolerances]


def _stopped(subject: Minimiser) -> list[Answer]:
    if not subject.iterative:
        return []
    return [subject.solve(tol=1e-12, limits=Limits(max_iter=most)) for most in (0, 1, 3)]


def _require_usable(subject: Minimiser, answer: Answer) -> None:
    """Stopping early still gives a point with its objective, no worse than the start, and no false claims."""
    value = subject.objective(answer.point)
    require(np.isfinite(value), f"stopped early, its objective is {value}")
    worse = f"stopped early, it is worse than the start: {value:.9g}, which was {subject.at_start:.9g}"
    require(value <= subject.at_start + _ROUNDING * max(1.0, abs(value)), worse)
    if answer.converged and subject.least is not None:
        over = value - subject.least
        boast = f"claims convergence {over:g} above the least objective"
        require(over <= _ROUNDING * max(1.0, abs(subject.least)), boast)
    if answer.converged and subject.violation is not None:
        violation = subject.violation(answer.point)
        require(violation <= 1e-9, f"claims convergence to a point that violates optimality by {violation:g}")


def _same(first: Answer, second: Answer) -> bool:
    return fingerprint(first.point) == fingerprint(second.point) and first.iterations == second.iterations


def _blas_threads() -> list[Any]:
    return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]

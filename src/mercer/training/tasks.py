"""Several machines on one Gram matrix, as one expansion: training and verification."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._progress import reporting
from mercer._types import Float64, Indices
from mercer.gram.condensing import machine_over
from mercer.gram.contract import Gram
from mercer.gram.expansion import Expansion
from mercer.gram.packed import packed_if_it_fits
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Status
from mercer.solvers.weights.problem import unit_dual
from mercer.training.certificate import Certificate, Prove, certify
from mercer.training.full_kernel import Claim
from mercer.training.matrix import Guarded, Recomputed, Repair, in_passes
from mercer.training.on_a_part import Growing, Part, affordable
from mercer.training.train import Machine, train, worth_storing
from mercer.training.warm_start import WarmStart

Solve = Callable[[Gram, LossProblem, OnChunk], Machine]


@final
@dataclass(frozen=True, eq=False)
class Trained:
    """Machines as one expansion over the training objects at `support`, and the proof of their optimality."""

    machines: list[Machine]
    expansion: Expansion
    support: Indices
    repair: Repair | None
    prove: Prove


def with_train(tol: float, limits: Limits, warm_start: WarmStart | None) -> Solve:
    """Solve each problem by `train`."""

    def solve(gram: Gram, problem: LossProblem, on_chunk: OnChunk) -> Machine:
        return train(gram, problem, tol=tol, limits=limits, on_chunk=on_chunk, warm_start=warm_start)

    return solve


def train_problems(
    problems: Sequence[LossProblem],
    fitted: FittedKernel,
    objects: Objects,
    guarded: Guarded,
    solve: Solve,
    limits: Limits,
    began: float,
    *,
    in_parts: bool = True,
) -> Trained:
    """Train a machine for each problem; all have the same penalties. `solve` trains one.

    If time is short, it may be a machine of a part of the objects, unless `solve` handles that itself.
    """
    penalties = problems[0].C
    if in_parts and all(map(_uses_all, problems)):
        machines = _machines_in_time(problems, guarded.gram, solve, limits)
    else:
        machines = _machines(problems, guarded.gram, solve, limits)
    columns = [np.reshape(one.coefficients, (len(one.coefficients), -1)) for one in machines]
    dual = np.zeros((len(objects), sum(block.shape[1] for block in columns)))
    dual[penalties > 0] = np.hstack(columns)
    full = guarded.expanded(dual)
    support = np.flatnonzero(np.any(full != 0, axis=1))
    intercept = np.concatenate([np.atleast_1d(machine.intercept) for machine in machines])
    entries, seconds = guarded.original.entries_computed, time.monotonic() - began
    repair = guarded.repair(dual[support])
    expansion, places = machine_over(fitted, objects, support, full[support], intercept)
    return Trained(
        machines,
        expansion,
        places,
        repair,
        lambda: Certificate.together(tuple(machine.certificate for machine in machines), entries, seconds),
    )


def _machines_in_time(problems: Sequence[LossProblem], gram: Gram, solve: Solve, limits: Limits) -> list[Machine]:
    """The machines of all objects with nonzero weight, or of as many of these as there is time for."""
    used = np.flatnonzero(problems[0].C > 0)
    parts = _affordable(problems, gram, used, limits)
    if parts is None:
        return _machines(problems, gram, solve, limits)

    def train(part: Part) -> _Several:
        ids = used[part.ids]
        some = [dataclasses.replace(problem, y=problem.y[ids], C=part.weights) for problem in problems]
        return _Several(_machines(some, gram.view(ids), solve, limits))

    part, made = parts.largest(train)
    return [
        part.machine(machine, gram, _restricted(problem, used))
        for machine, problem in zip(made.machines, problems, strict=True)
    ]


def _machines(problems: Sequence[LossProblem], gram: Gram, solve: Solve, limits: Limits) -> list[Machine]:
    """Train the machines in parallel on the objects with nonzero weight."""
    used = np.flatnonzero(problems[0].C > 0)
    smooth = all(problem.loss.smooth for problem in problems)
    if worth_storing(gram, [problem.loss for problem in problems]):
        gram = gram.stored_if_it_fits()
    if not gram.in_memory and smooth:  # Newton's method needs products
        gram = packed_if_it_fits(gram)
    part = gram if len(used) == len(problems[0].C) else gram.view(used)
    machines: list[Machine | None] = [None] * len(problems)
    with reporting("Training") as report:

        def job(number: int) -> None:
            problem = _restricted(problems[number], used)
            machines[number] = solve(part, problem, lambda chunk: report(chunk.fraction, f"gap {chunk.gap:.2g}"))

        if len(problems) == 1 or in_passes(part):
            for number in range(len(problems)):
                job(number)
        else:
            gram.executor.each(job, range(len(problems)), limits.stop)
    return [machine for machine in machines if machine is not None]


def _uses_all(problem: LossProblem) -> bool:
    """Whether nearly every object gets a coefficient: by smooth losses, and by those without a tube or a margin."""
    if problem.loss.smooth:
        return True
    dual = unit_dual(problem.loss)
    return not problem.loss.classifies and dual is not None and not dual.has_kink


def _affordable(problems: Sequence[LossProblem], gram: Gram, used: Indices, limits: Limits) -> Growing | None:
    """Parts of the objects, if time is too short for products with the whole matrix."""
    classes = None
    if problems[0].loss.classifies:
        kinds = np.column_stack([problem.y[used] for problem in problems])
        classes = np.unique(kinds, axis=0, return_inverse=True)[1].astype(np.float64)
    return affordable(gram.view(used) if len(used) < gram.shape[0] else gram, problems[0].C[used], 1.0, limits, classes)


@final
@dataclass(frozen=True, eq=False)
class _Several:
    """Machines that were trained together."""

    machines: list[Machine]

    @property
    def status(self) -> Status:
        return next((machine.status for machine in self.machines if not machine.converged), Status.CONVERGED)


def claims_of(problems: Sequence[LossProblem]) -> list[Claim]:
    """The machines of these problems: each has one column of coefficients, a joint machine has all columns."""
    every = np.arange(len(problems[0].C))
    return [
        Claim(problem, every, number if problem.outputs == 1 else slice(None))
        for number, problem in enumerate(problems)
    ]


def verify_problems(
    problems: Sequence[LossProblem], found: Recomputed, intercept: Float64, iterations: Sequence[int], began: float
) -> Certificate:
    """The certificate of machines from their values recomputed in float64."""
    used = np.flatnonzero(problems[0].C > 0)
    parts = []
    for number, problem in enumerate(problems):
        pick: Any = number if problem.outputs == 1 else slice(None)
        coefficients, outputs = found.coefficients[used][:, pick], found.outputs[used][:, pick]
        part = _restricted(problem, used)
        steps, diagonal = int(iterations[number]), None if found.diagonal is None else found.diagonal[used]
        proof = certify(
            part, coefficients, outputs, intercept[pick], iterations=steps, dtype="float64", diagonal=diagonal
        )
        parts.append(proof)
    return Certificate.together(tuple(parts), found.entries, time.monotonic() - began)


def _restricted(problem: LossProblem, used: Indices) -> LossProblem:
    """The problem restricted to the objects with nonzero weight."""
    if len(used) == len(problem.C):
        return problem
    return dataclasses.replace(problem, y=problem.y[used], C=problem.C[used])

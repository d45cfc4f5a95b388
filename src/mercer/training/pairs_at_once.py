"""Machines of pairs of classes, many in one compiled call: of few objects, or of many classes with few objects each."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram import cost
from mercer.gram.contract import Gram
from mercer.gram.group_blocks import GroupBlocks
from mercer.gram.tiled import symmetric_by_construction
from mercer.losses.base import Loss
from mercer.losses.dual import Dual
from mercer.solvers.box import small_pairs
from mercer.solvers.box.small_pairs import Blocks, SmallPairs
from mercer.solvers.drive import Limits
from mercer.solvers.problem import LossProblem
from mercer.training.certificate import Certificate, certify
from mercer.training.pair_machines import CForm, Members, PairMachines, Report, Solve
from mercer.training.train import Machine

_ENTRIES_AT_ONCE = 1 << 19
"""Matrix entries of small pairs per compiled call: a few milliseconds. Shorter calls gain nothing; longer ones delay
Ctrl-C and other threads."""
_ENTRIES_OF_A_PAIR = 300.0
"""The fixed cost of a pair, in matrix entries."""


def trained_at_once(gram: Gram) -> bool:
    """Whether there are so few objects that the matrix is taken as a whole."""
    exact = gram.dtype == np.float64 and gram.factor is None
    return exact and gram.shape[0] <= small_pairs.LARGEST and gram.fits()


def train_small(
    gram: Gram,
    members: Members,
    bounds: Float64,
    form: CForm,
    solve: Solve,
    limits: Limits,
    report: Report | None,
) -> PairMachines:
    """Train all machines in a few compiled calls."""
    found = SmallPairs.of(members.groups)
    gram = gram.stored()
    matrix, diagonal, sides = gram.exact(), gram.diagonal(), _sides(form.loss)
    parts = _parts(np.diff(found.starts))

    def job(part: slice) -> None:
        limits.raise_if_stopped()
        found.solve(matrix, diagonal, bounds, sides, form.tol, part)
        if report is not None:
            report(part.stop / len(found), "")

    if len(parts) == 1:
        job(parts[0])
    else:
        gram.executor.each(job, parts, limits.stop)
    return _completed(gram, found, bounds, form, solve, limits)


def trained_in_blocks(gram: Gram, members: Members, limits: Limits) -> bool:
    """Whether training the pairs one by one would cost more than computing entries in float64."""
    sizes = sorted(len(group) for group in members.groups)
    known = gram.factor is None and not gram.expensive and symmetric_by_construction(gram)
    if len(sizes) < 3 or not known or sum(sizes[-2:]) > small_pairs.LARGEST or math.isfinite(limits.time_limit):
        return False
    pays = cost.blocks_pay(len(sizes), sum(sizes), 0.0 if gram.in_memory else gram.setting.width)
    return pays and gram.setting.holds(GroupBlocks.bytes(members.groups))


def train_in_blocks(
    gram: Gram,
    members: Members,
    bounds: Float64,
    form: CForm,
    solve: Solve,
    limits: Limits,
    report: Report | None,
) -> PairMachines:
    """Train all machines, one compiled call for a group and some of those after it."""
    found, blocks = SmallPairs.of(members.groups), GroupBlocks(gram, members.groups)
    diagonal, sides = gram.diagonal(), _sides(form.loss)
    jobs = [(first, others) for first in range(len(members.groups)) for others in blocks.runs(first)]
    done = 0

    def job(pairs_of: tuple[int, range]) -> None:
        nonlocal done
        limits.raise_if_stopped()
        first, others = pairs_of
        part = Blocks(first, others, blocks.sizes, blocks.within, blocks.starts, blocks.across(first, others))
        found.solve_blocks(part, diagonal, bounds, sides, form.tol)
        done += len(others)
        if report is not None:
            report(done / len(found), "")

    gram.executor.each(job, jobs, limits.stop)
    return _completed(gram, found, bounds, form, solve, limits)


def _completed(
    gram: Gram, found: SmallPairs, bounds: Float64, form: CForm, solve: Solve, limits: Limits
) -> PairMachines:
    """All machines; those that compiled calls left unsolved are trained one by one."""
    diagonal = gram.diagonal()
    others: dict[int, Machine] = {}
    for number in np.flatnonzero(found.gaps > form.tol).tolist():
        own = found.part(number)
        ids = found.ids[own]
        others[number], _ = solve(gram.view(ids), found.signs[own], bounds[ids], limits, None)
        found.coefficients[own] = others[number].coefficients
        found.intercepts[number], found.iterations[number] = others[number].intercept, others[number].iterations

    def proofs() -> tuple[Certificate, ...]:
        return tuple(
            others[number].certificate if number in others else _proof(form, found, number, bounds, diagonal)
            for number in range(len(found))
        )

    unfinished = [machine for machine in others.values() if not machine.converged]
    sizes, scales = np.diff(found.starts), np.ones(len(found))
    return PairMachines(
        found.ids, sizes, found.coefficients, found.intercepts, found.iterations, scales, unfinished, proofs
    )


def _parts(sizes: Indices) -> list[slice]:
    """Groups of pairs, each small enough to check the clock and Ctrl-C between them."""
    run = np.cumsum(sizes.astype(np.float64) ** 2 + _ENTRIES_OF_A_PAIR) // _ENTRIES_AT_ONCE
    ends = [*(np.flatnonzero(np.diff(run)) + 1).tolist(), len(sizes)]
    return [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


@cache
def _sides(loss: Loss) -> Dual:
    """The dual of two objects, labelled +1 and -1, with a penalty of 1; bounds are proportional to penalties."""
    dual = loss.dual(np.array((1.0, -1.0)), np.ones(2))
    assert dual is not None, "a loss without a quadratic dual"
    return dual


def _proof(form: CForm, found: SmallPairs, number: int, bounds: Float64, diagonal: Float64) -> Certificate:
    own = found.part(number)
    problem = LossProblem(form.loss, found.signs[own], bounds[found.ids[own]])
    return certify(
        problem, found.coefficients[own], found.outputs[own], float(found.intercepts[number]),
        iterations=int(found.iterations[number]), dtype="float64", diagonal=diagonal[found.ids[own]],
    )  # fmt: skip

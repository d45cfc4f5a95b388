"""Multiclass classification with one machine per pair of classes on one Gram matrix: training, LIBSVM's layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram import cost
from mercer.gram.contract import Gram
from mercer.gram.pair_products import columns_of_groups
from mercer.gram.pairs import PairBlocks
from mercer.losses.base import Loss
from mercer.losses.dual import Dual
from mercer.solvers.box import small_pairs
from mercer.solvers.box.small_pairs import SmallPairs
from mercer.solvers.box.smo import worth_storing
from mercer.solvers.drive import Chunk, Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.training.certificate import Certificate, certify
from mercer.training.matrix import Guarded, Repair, in_passes
from mercer.training.pairs_at_once import solve_in_blocks, trained_in_blocks
from mercer.training.probabilities import (
    Calibration,
    evidence_of_classes,
    evidence_of_pairs,
)
from mercer.training.train import Machine
from mercer.training.voting import one_vs_rest_shape, pairs

_ENTRIES_AT_ONCE = 1 << 19
"""Matrix entries of small pairs per compiled call: a few milliseconds. Shorter calls gain nothing; longer ones delay
Ctrl-C and other threads."""
_ENTRIES_OF_A_PAIR = 300.0
"""The fixed cost of a pair in matrix entries, which matters for many tiny pairs. An estimate: it only decides after how
many pairs the clock is checked."""

Solved = tuple[Machine, float]
"""A machine, and the factor on the bounds of its coefficients."""
Solve = Callable[[Gram, Float64, Float64, Limits, OnChunk | None], Solved]
Report = Callable[[float, str], None]


@final
@dataclass(frozen=True)
class CForm:
    """Machines that minimise 1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i)) with an intercept, for y = +1 or -1."""

    loss: Loss
    """Its dual is a box problem without kinks."""
    tol: float


def dual_coefficients(coefficients: Float64, codes: Indices, n_classes: int) -> Float64:
    """Coefficients (support objects x pairs) in LIBSVM's layout: (classes - 1) x support objects.

    Row r of a support object of class c has its coefficient against class r if r < c, else against class r + 1.
    """
    return np.take_along_axis(coefficients, columns_of_groups(n_classes)[codes], axis=1).T.copy()


def from_dual_coefficients(layout: Float64, codes: Indices, n_classes: int) -> Float64:
    """The inverse of `dual_coefficients`."""
    coefficients = np.zeros((len(codes), n_classes * (n_classes - 1) // 2))
    np.put_along_axis(coefficients, columns_of_groups(n_classes)[codes], layout.T, axis=1)
    return coefficients


@final
class Members:
    """The objects with nonzero weight of each class and of each pair of classes."""

    def __init__(self, codes: Indices, weights: Float64, n_classes: int, *, in_order: bool = False) -> None:
        self._in_order = in_order or n_classes == 2  # keeps the order of the objects
        used = np.flatnonzero(weights > 0)
        own = codes[used]
        ends = np.bincount(own, minlength=n_classes).cumsum()
        self.groups = np.split(used[own.argsort(kind="stable")], ends[:-1])

    def of(self, pair: tuple[int, int]) -> tuple[Indices, Float64]:
        """The objects of a pair and their signs: +1 for the first class."""
        first, second = (self.groups[label] for label in pair)
        ids = np.concatenate((first, second))
        signs = np.repeat((1.0, -1.0), (len(first), len(second)))
        if not self._in_order:
            return ids, signs
        order = np.argsort(ids)
        return ids[order], signs[order]


@final
@dataclass(frozen=True, eq=False)
class PairMachines:
    """The machines of all pairs of classes, as arrays with one row per pair."""

    ids: Indices
    """The objects of all pairs, one pair after another ..."""
    sizes: Indices
    """... and the number of objects of each pair."""
    coefficients: Float64
    """The coefficients of these objects."""
    intercepts: Float64
    iterations: Indices
    scales: Float64
    """The factors on the bounds of coefficients."""
    unfinished: list[Machine]
    """The machines that did not converge."""
    proofs: Callable[[], tuple[Certificate, ...]]

    def columns(self, codes: Indices, n_classes: int) -> tuple[Indices, Any, Float64]:
        """Support objects grouped by class, their number per class, and their coefficients in every machine.

        Coefficients are written to their final place at once: with a hundred classes nearly all are zero, and moving
        them takes longer than training.
        """
        used = np.flatnonzero(self.coefficients)
        ids = self.ids[used]
        place = np.full(len(codes), -1)
        place[ids] = 0
        grouped, counts = grouped_by_class(np.flatnonzero(place == 0), codes, n_classes)
        place[grouped] = np.arange(len(grouped))
        coefficients = np.zeros((len(grouped), len(self.sizes)))
        column = np.arange(len(self.sizes)).repeat(self.sizes)[used]
        coefficients[place[ids], column] = self.coefficients[used]
        return grouped, counts, coefficients


def train_pairs(
    gram: Gram,
    codes: Indices,
    bounds: Float64,
    solve: Solve,
    limits: Limits,
    report: Report | None = None,
    form: CForm | None = None,
) -> PairMachines:
    """Train one machine per pair of classes in parallel; `bounds` limit the coefficients, up to a factor.

    `solve` trains one machine. Small machines of a `form` are trained many at a time.
    """
    members = Members(codes, bounds, int(codes.max()) + 1, in_order=in_passes(gram))
    if form is not None and _trained_at_once(gram):
        return _train_small(gram, members, bounds, form, solve, limits, report)
    if form is not None and trained_in_blocks(gram, members.groups, limits):
        found = SmallPairs.of(members.groups)
        solve_in_blocks(gram, found, bounds, _sides(form.loss), form.tol, limits, report)
        return _completed(gram, found, bounds, form, solve, limits)
    return _collected(members, _train_each(gram, members, bounds, solve, limits, report))


def _train_each(
    gram: Gram, members: Members, bounds: Float64, solve: Solve, limits: Limits, report: Report | None
) -> list[Solved]:
    """Train machines one by one, or several in parallel."""
    problems = pairs(len(members.groups))
    solved: list[Solved | None] = [None] * len(problems)
    shared = len(problems) > 1 and gram.factor is None
    if shared:
        if worth_storing([len(group) for group in members.groups]):
            gram = gram.stored_if_it_fits()
        blocks = PairBlocks(gram, members.groups, problems)
    done = 0
    side_by_side = len(problems) > 1 and _side_by_side(gram, members, problems)
    shares = _shares_of_time(members, problems, gram.executor.count if side_by_side else 1)

    def job(number: int) -> None:
        nonlocal done
        ids, signs = members.of(problems[number])
        if shared:
            part = blocks.of(problems[number])
        elif len(ids) == gram.shape[0]:
            part = gram
        else:
            part = gram.view(ids)

        def on_chunk(chunk: Chunk) -> None:
            if report is not None:
                report((done + chunk.fraction) / len(problems), f"gap {chunk.gap:.2g}")

        solved[number] = solve(part, signs, bounds[ids], limits.share(shares[number]), on_chunk)
        done += 1

    if not side_by_side:
        for number in range(len(problems)):
            limits.raise_if_stopped()
            job(number)
    else:
        gram.executor.each(job, range(len(problems)), limits.stop)
    return [one for one in solved if one is not None]


def _shares_of_time(members: Members, problems: list[tuple[int, int]], threads: int) -> Float64:
    """The fraction of the remaining time that each machine may take when its turn comes, so that all get some.

    Time grows with the square of the number of objects. Unused time goes to later machines.
    """
    work = np.array([sum(len(members.groups[label]) for label in pair) ** 2.0 for pair in problems])
    after = np.cumsum(work[::-1])[::-1]
    return np.asarray(np.minimum(1.0, threads * work / after))


def _side_by_side(gram: Gram, members: Members, problems: list[tuple[int, int]]) -> bool:
    """Whether machines gain from threads; passes over blocks already use all of them."""
    largest = max(sum(len(members.groups[label]) for label in pair) for pair in problems)
    return not in_passes(gram) and worth_threads(gram, largest)


def _collected(members: Members, solved: list[Solved]) -> PairMachines:
    machines = [machine for machine, _ in solved]
    return PairMachines(
        np.concatenate([members.of(pair)[0] for pair in pairs(len(members.groups))]),
        np.array([len(machine.coefficients) for machine in machines]),
        np.concatenate([machine.coefficients for machine in machines]),
        np.array([machine.intercept for machine in machines]),
        np.array([machine.iterations for machine in machines]),
        np.array([scale for _, scale in solved]),
        [machine for machine in machines if not machine.converged],
        lambda: tuple(machine.certificate for machine in machines),
    )


def _trained_at_once(gram: Gram) -> bool:
    exact = gram.dtype == np.float64 and gram.factor is None
    return exact and gram.shape[0] <= small_pairs.LARGEST and gram.fits()


def _train_small(
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


def worth_threads(gram: Gram, largest: int) -> bool:
    """Whether pairs of classes, the largest of `largest` objects, gain from being trained in parallel."""
    if gram.expensive and not gram.in_memory:
        return True
    return cost.of_pair(largest, 0.0 if gram.in_memory else gram.setting.width) > cost.MACHINE


def evidence(decisions: Float64, n_classes: int, calibration: Calibration | None = None) -> Float64:
    """The evidence of all pairs for each class; older files calibrate one more value per class."""
    found = evidence_of_pairs(decisions, pairs(n_classes), n_classes)
    if calibration is None or len(calibration.slopes) == found.shape[2]:
        return found
    values = evidence_of_classes(class_values(decisions, n_classes))
    return np.concatenate([found, values], axis=2)


def class_values(decisions: Float64, n_classes: int) -> Float64:
    """Decision values of classes from those of pairs: flat, positive for the second of two; else one column each."""
    return -decisions[:, 0] if n_classes == 2 else one_vs_rest_shape(decisions, n_classes)


def support_by_class(
    machines: PairMachines, codes: Indices, guarded: Guarded
) -> tuple[Indices, Any, Float64, Repair | None]:
    """Support objects grouped by class, their number per class, their coefficients, and the repair."""
    n_classes = int(codes.max()) + 1
    grouped, counts, dual = machines.columns(codes, n_classes)
    if not guarded.repaired:
        return grouped, counts, dual, None
    every = np.zeros((len(codes), len(machines.sizes)))
    every[grouped] = dual
    full = guarded.expanded(every)
    grouped, counts = grouped_by_class(np.flatnonzero(np.any(full != 0, axis=1)), codes, n_classes)
    return grouped, counts, full[grouped], guarded.repair(every[grouped])


def grouped_by_class(support: Indices, codes: Indices, n_classes: int) -> tuple[Indices, Any]:
    """Support objects grouped by class, and their number per class."""
    own = codes[support]
    counts = np.bincount(own, minlength=n_classes)
    return support[own.argsort(kind="stable")].astype(np.int32), counts.astype(np.int32)

"""Multiclass classification with one machine per pair of classes on one Gram matrix: training, LIBSVM's layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram import cost
from mercer.gram.contract import Gram
from mercer.gram.pair_products import columns_of_groups
from mercer.gram.pairs import PairBlocks
from mercer.solvers.box.smo import worth_storing
from mercer.solvers.drive import Chunk, Limits
from mercer.training.folds import folds_with_every_class, out_of_fold
from mercer.training.matrix import Guarded, Repair, in_passes
from mercer.training.pair_machines import CForm, Members, PairMachines, Report, Solve, Solved, grouped_by_class
from mercer.training.pairs_at_once import train_in_blocks, train_small, trained_at_once, trained_in_blocks
from mercer.training.probabilities import (
    Calibration,
    evidence_of_classes,
    evidence_of_pairs,
    fit_calibration,
)
from mercer.training.voting import one_vs_rest_shape, pairs


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
    if form is not None and trained_at_once(gram):
        return train_small(gram, members, bounds, form, solve, limits, report)
    if form is not None and trained_in_blocks(gram, members, limits):
        return train_in_blocks(gram, members, bounds, form, solve, limits, report)
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


def held_out_calibration(
    gram: Gram,
    codes: Indices,
    bounds: Float64,
    weights: Float64,
    random_state: Any,
    train: Callable[[Gram, Indices, Float64], PairMachines],
) -> Calibration:
    """Learn probabilities from decision values of held-out objects.

    All folds are parts of one Gram matrix. A kernel that depends on the data is fitted to all objects, without their
    labels.
    """
    n_classes = int(codes.max()) + 1
    gram = gram.stored_if_it_fits()

    def decisions(training: Indices, test: Indices) -> Float64:
        known, allowed = codes[training], bounds[training]
        machines = train(gram.view(training), known, allowed)
        grouped, _, coefficients = machines.columns(known, n_classes)  # summed in the same order as in a fitted machine
        products = gram.view(test, training[grouped]).matvec(coefficients)
        return np.asarray(products + machines.intercepts)

    seen, values = out_of_fold(folds_with_every_class(codes, bounds, random_state), decisions)
    values = np.reshape(values, (len(seen), n_classes * (n_classes - 1) // 2))
    return fit_calibration(evidence(values, n_classes), codes[seen], weights[seen])


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

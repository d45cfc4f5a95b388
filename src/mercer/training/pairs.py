"""Several classes by one machine per pair of classes, all on one Gram matrix: training, votes, and LIBSVM's layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Indices
from mercer.gram import cost
from mercer.gram.contract import Gram
from mercer.gram.pairs import PairBlocks
from mercer.solvers.box.smo import worth_storing
from mercer.solvers.drive import Chunk, Limits, OnChunk
from mercer.training.folds import folds_with_every_class, out_of_fold
from mercer.training.matrix import Guarded, Repair
from mercer.training.probabilities import (
    Calibration,
    evidence_of_classes,
    evidence_of_pairs,
    fit_calibration,
)
from mercer.training.train import Machine

Solved = tuple[Machine, float]
"""A machine, and the factor on the bounds of its coefficients."""
Solve = Callable[[Gram, Float64, Float64, Limits, OnChunk | None], Solved]
Report = Callable[[float, str], None]


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """Pairs of classes in scikit-learn's order; the machine of (a, b) is positive for a."""
    return list(combinations(range(n_classes), 2))


def votes(decisions: Float64, n_classes: int) -> npt.NDArray[np.intp]:
    """The class that wins most pairs; a tie goes to the first."""
    winners: npt.NDArray[np.intp] = _tally(decisions > 0, n_classes).argmax(axis=1)
    return winners


def one_vs_rest_shape(decisions: Float64, n_classes: int) -> Float64:
    """Votes, with ties broken by the sum of decision values squeezed into (-1/3, 1/3), one column per class."""
    confidence = decisions @ _signs(n_classes)
    shares: Float64 = _tally(decisions >= 0, n_classes) + confidence / (3 * (np.abs(confidence) + 1))
    return shares


def _signs(n_classes: int) -> Float64:
    """One row per pair (a, b): +1 for a, -1 for b."""
    signs = np.zeros((n_classes * (n_classes - 1) // 2, n_classes))
    for row, (a, b) in enumerate(pairs(n_classes)):
        signs[row, a], signs[row, b] = 1.0, -1.0
    return signs


def _tally(wins: npt.NDArray[np.bool_], n_classes: int) -> Float64:
    """How many pairs each class wins, where `wins` says that the first of a pair does."""
    signs = _signs(n_classes)
    tally: Float64 = wins @ signs + (signs < 0).sum(axis=0)
    return tally


def dual_coefficients(coefficients: Float64, codes: Indices, n_classes: int) -> Float64:
    """Coefficients (support objects x pairs) in LIBSVM's layout: (classes - 1) x support objects.

    Row r of a support object of class c is its coefficient against class r, or r + 1 from c on.
    """
    layout = np.zeros((n_classes - 1, len(codes)))
    members = [np.flatnonzero(codes == label) for label in range(n_classes)]
    for column, (a, b) in enumerate(pairs(n_classes)):
        of_a, of_b = members[a], members[b]
        layout[b - 1, of_a] = coefficients[of_a, column]
        layout[a, of_b] = coefficients[of_b, column]
    return layout


def from_dual_coefficients(layout: Float64, codes: Indices, n_classes: int) -> Float64:
    """The inverse of `dual_coefficients`."""
    coefficients = np.zeros((len(codes), n_classes * (n_classes - 1) // 2))
    members = [np.flatnonzero(codes == label) for label in range(n_classes)]
    for column, (a, b) in enumerate(pairs(n_classes)):
        of_a, of_b = members[a], members[b]
        coefficients[of_a, column] = layout[b - 1, of_a]
        coefficients[of_b, column] = layout[a, of_b]
    return coefficients


@final
class Members:
    """The objects of each class that weigh something, and those of each pair of classes."""

    def __init__(self, codes: Indices, weights: Float64, n_classes: int) -> None:
        used = weights > 0
        self.groups = [np.flatnonzero((codes == label) & used) for label in range(n_classes)]

    def of(self, pair: tuple[int, int]) -> tuple[Indices, Float64]:
        """The objects of a pair and their signs: +1 for the first class."""
        first, second = (self.groups[label] for label in pair)
        ids = np.concatenate((first, second))
        signs = np.repeat((1.0, -1.0), (len(first), len(second)))
        if len(self.groups) > 2:
            return ids, signs
        order = np.argsort(ids)  # of all objects there are, in their order
        return ids[order], signs[order]


def columns(machines: Sequence[Machine], members: Members) -> tuple[Indices, Float64]:
    """The objects that any machine uses, in order, and their coefficients in every machine."""
    used = [np.flatnonzero(machine.coefficients) for machine in machines]
    ids = [members.of(pair)[0][part] for pair, part in zip(pairs(len(members.groups)), used, strict=True)]
    support = np.unique(np.concatenate(ids))
    coefficients = np.zeros((len(support), len(machines)))
    for column, machine in enumerate(machines):
        coefficients[np.searchsorted(support, ids[column]), column] = machine.coefficients[used[column]]
    return support, coefficients


def train_pairs(
    gram: Gram, codes: Indices, bounds: Float64, solve: Solve, limits: Limits, report: Report | None = None
) -> list[Solved]:
    """One machine per pair of classes, side by side; `bounds` are the largest coefficients, up to a factor."""
    n_classes = int(codes.max()) + 1
    problems, members = pairs(n_classes), Members(codes, bounds, n_classes)
    solved: list[Solved | None] = [None] * len(problems)
    shared = len(problems) > 1 and gram.factor is None
    if shared:
        if worth_storing([len(group) for group in members.groups]):
            gram = gram.stored_if_it_fits()
        blocks = PairBlocks(gram, members.groups, problems)
    done = 0

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

        solved[number] = solve(part, signs, bounds[ids], limits, on_chunk)
        done += 1

    largest = max(sum(len(members.groups[label]) for label in pair) for pair in problems)
    if len(problems) == 1 or not worth_threads(gram, largest):
        for number in range(len(problems)):
            limits.raise_if_stopped()
            job(number)
    else:
        gram.executor.each(job, range(len(problems)), limits.stop)
    return [one for one in solved if one is not None]


def worth_threads(gram: Gram, largest: int) -> bool:
    """Whether pairs of classes, the largest of so many objects, gain from being trained side by side."""
    if gram.expensive and not gram.in_memory:
        return True
    return cost.of_pair(largest, 0.0 if gram.in_memory else gram.setting.width) > cost.MACHINE


def evidence(decisions: Float64, n_classes: int, calibration: Calibration | None = None) -> Float64:
    """What the machines of pairs say for each class; files of earlier versions calibrate one more value per class."""
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
    costs: Float64,
    random_state: Any,
    train: Callable[[Gram, Indices, Float64], list[Solved]],
) -> Calibration:
    """What makes probabilities of decisions, and labels with these costs of classes.

    It is learnt from decision values of objects that their machines have not seen.

    All folds are parts of one Gram matrix: a kernel that depends on the data is that of all objects, which it sees
    without their labels.
    """
    n_classes = int(codes.max()) + 1
    gram = gram.stored_if_it_fits()

    def decisions(training: Indices, test: Indices) -> Float64:
        known, allowed = codes[training], bounds[training]
        machines = [machine for machine, _ in train(gram.view(training), known, allowed)]
        support, coefficients = columns(machines, Members(known, allowed, n_classes))
        grouped, _ = grouped_by_class(support, known, n_classes)  # added up in the order of a fitted machine
        products = gram.view(test, training[grouped]).matvec(coefficients[np.searchsorted(support, grouped)])
        return np.asarray(products + np.array([machine.intercept for machine in machines]))

    seen, values = out_of_fold(folds_with_every_class(codes, bounds, random_state), decisions)
    values = np.reshape(values, (len(seen), n_classes * (n_classes - 1) // 2))
    return fit_calibration(evidence(values, n_classes), codes[seen], weights[seen], costs)


def class_values(decisions: Float64, n_classes: int) -> Float64:
    """Decision values of classes from those of pairs: flat and positive for the second of two, else a column each."""
    return -decisions[:, 0] if n_classes == 2 else one_vs_rest_shape(decisions, n_classes)


def support_by_class(
    machines: Sequence[Machine], codes: Indices, bounds: Float64, guarded: Guarded
) -> tuple[Indices, Any, Float64, Repair | None]:
    """Support objects class after class, how many there are of each, their coefficients, and what was repaired."""
    n_classes = int(codes.max()) + 1
    support, dual = columns(machines, Members(codes, bounds, n_classes))
    full = dual
    if guarded.repaired:
        every, dual = dual, np.zeros((len(codes), len(machines)))
        dual[support] = every
        full = guarded.expanded(dual)
        support = np.flatnonzero(np.any(full != 0, axis=1))
        dual, full = dual[support], full[support]
    grouped, counts = grouped_by_class(support, codes, n_classes)
    order = np.searchsorted(support, grouped)
    return grouped, counts, full[order], guarded.repair(dual[order])


def grouped_by_class(support: Indices, codes: Indices, n_classes: int) -> tuple[Indices, Any]:
    """Support objects class after class, and how many there are of each."""
    ordered = np.concatenate([support[codes[support] == label] for label in range(n_classes)])
    counts = np.bincount(codes[support], minlength=n_classes)
    return ordered.astype(np.int32), counts.astype(np.int32)

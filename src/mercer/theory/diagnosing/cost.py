"""What training on all the objects will cost, by a rehearsal on few of them.

A machine is trained on random parts of growing size until that takes noticeable time, and the last times are
extrapolated. So the kernel, the labels and this machine all have their say; the penalty is that of an estimator's
default.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

import numpy as np

from mercer._types import Float64, Indices
from mercer.errors import MercerError
from mercer.gram import budget
from mercer.gram.make import DOUBLE_ENTRIES, gram_of
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel
from mercer.losses.hinge import Hinge
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO
from mercer.solvers.drive import Limits
from mercer.solvers.problem import LossProblem
from mercer.solvers.ridge import direct
from mercer.theory.diagnosing.targets import Target

_WARM, _FIRST, _LARGEST = 24, 48, 6000
"""Objects of the rehearsal that compiles, of the first that is timed, and of the largest. A larger last one foretells
better, and takes longer."""
_ENOUGH = 0.15
"""Seconds of one rehearsal after which no larger one is made."""
_LONGEST = 2.0  # seconds after which a rehearsal is broken off: the diagnosis must not take as long as training
_STEEPEST, _FLATTEST = 2.3, 1.7
"""Powers of the number of objects that times of support vector machines grow by."""
_SOLVED_DIRECTLY = 3.0  # the power for ridge machines, whose systems are solved by Cholesky factors


@final
@dataclass(frozen=True)
class Cost:
    """Estimates: seconds on this machine, as busy as it is now, and bytes for the whole Gram matrix."""

    entries_per_second: float
    gram_seconds: float
    """For the whole Gram matrix, features included."""
    gram_bytes: int
    training_seconds: float
    machine: str
    """What was rehearsed: "SVC", "KernelRidge", or nothing without labels: then the matrix alone counts."""
    rehearsed: int
    """The size of the largest rehearsal."""
    available_bytes: int
    advice: str

    @property
    def fits(self) -> bool:
        return self.gram_bytes <= self.available_bytes


def cost_of(fitted: FittedKernel, objects: Objects, target: Target | None, rng: np.random.Generator) -> Cost | None:
    """Rehearse, and extrapolate to all the objects; None where not even that is possible."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return _cost(fitted, objects, target, rng)
    except (MercerError, ArithmeticError, ValueError):  # values that no machine can be trained on
        return None


def _cost(fitted: FittedKernel, objects: Objects, target: Target | None, rng: np.random.Generator) -> Cost:
    n = len(objects)
    order = rng.permutation(n)
    task = _task(target)
    matrix_seconds, seen = _rehearse(lambda rows: _matrix(fitted, objects.take(rows)), order)
    entries = seen[-1] ** 2
    gram_seconds = matrix_seconds[-1] * (n / seen[-1]) ** 2
    training, largest = gram_seconds, seen[-1]
    if task == "SVC" and target is not None:
        training, largest = _machines(fitted, objects, target, order, gram_seconds)
    elif task == "KernelRidge" and target is not None:
        y = target.values
        took, sizes = _rehearse(lambda rows: _ridge(fitted, objects.take(rows), y[rows]), order)
        alone = max(took[-1] - gram_seconds * (sizes[-1] / n) ** 2, 0.0)
        training, largest = gram_seconds + alone * (n / sizes[-1]) ** _SOLVED_DIRECTLY, sizes[-1]
    gram_bytes = n * n * (8 if n * n <= DOUBLE_ENTRIES or task == "KernelRidge" else 4)
    available = budget.stored_bytes("auto")
    advice = _advice(gram_bytes, available, training, n, task)
    rate = entries / max(matrix_seconds[-1], 1e-9)
    return Cost(rate, gram_seconds, gram_bytes, training, task, largest, available, advice)


def _task(target: Target | None) -> str:
    if target is None or len(np.unique(target.codes)) < 2:
        return ""
    return "KernelRidge" if target.classes is None else "SVC"


def _machines(
    fitted: FittedKernel, objects: Objects, target: Target, order: Indices, gram_seconds: float
) -> tuple[float, int]:
    """Of the two largest classes, then of every pair of classes; with more than two, the matrix is shared."""
    counts = np.bincount(target.codes)
    first, second = np.argsort(-counts, kind="stable")[:2]
    members = order[np.isin(target.codes[order], (first, second))]
    signs = np.where(target.codes == first, 1.0, -1.0)
    both = len(members)
    members = np.concatenate([_one_of_each(members, signs), members])
    members = members[np.sort(np.unique(members, return_index=True)[1])]  # in this order, each once
    took, sizes = _rehearse(lambda rows: _machine(fitted, objects.take(rows), signs[rows]), members)
    last = sizes[-1]
    power = 2.0
    if len(took) > 1 and took[-2] > 0:
        power = math.log(took[-1] / took[-2]) / math.log(last / sizes[-2])
        power = float(np.clip(power, _FLATTEST, _STEEPEST))
    present = counts[counts > 0]
    if len(present) == 2:
        return took[-1] * (both / last) ** power, last
    alone = max(took[-1] - gram_seconds * (last / len(objects)) ** 2, 0.1 * took[-1])
    pairs = sum((float(a + b) / last) ** power for a, b in combinations(present, 2))
    return gram_seconds + alone * pairs, last


def _one_of_each(members: Indices, signs: Float64) -> Indices:
    return np.array([members[np.flatnonzero(signs[members] == side)[0]] for side in (1.0, -1.0)])


def _rehearse(act: Any, order: Indices) -> tuple[list[float], list[int]]:
    """Seconds of doing something with the first objects of an order, twice as many each time."""
    act(order[:_WARM])  # compiles
    took: list[float] = []
    sizes: list[int] = []
    most = min(len(order), _LARGEST, max(_FIRST, math.isqrt(budget.stored_bytes("auto") // 32)))
    size = min(_FIRST, most)
    while True:
        took.append(_seconds(act, order[:size]))
        if took[-1] > _ENOUGH:  # again: larger sizes may have compiled something, or the machine was busy
            took[-1] = min(took[-1], _seconds(act, order[:size]))
        sizes.append(size)
        if size == most or took[-1] > _ENOUGH:
            return took, sizes
        size = min(2 * size, most)


def _seconds(act: Any, rows: Indices) -> float:
    began = time.perf_counter()
    act(rows)
    return max(time.perf_counter() - began, 1e-7)


def _matrix(fitted: FittedKernel, objects: Objects) -> None:
    gram_of(fitted, objects).dense()


def _machine(fitted: FittedKernel, objects: Objects, signs: Float64) -> None:
    problem = BoxProblem.of(LossProblem(Hinge(), signs, np.ones(len(signs))))
    SMO().solve(gram_of(fitted, objects), problem, limits=Limits(time_limit=_LONGEST))


def _ridge(fitted: FittedKernel, objects: Objects, y: Float64) -> None:
    K = gram_of(fitted, objects, dtype=np.float64).exact()
    scale = np.full(1, float(np.diagonal(K).mean()) or 1.0)
    direct.solve(K, y[:, None], scale, np.ones(len(y)), intercept=True)


def _advice(size: int, available: int, seconds: float, n: int, task: str) -> str:
    if size > available:
        slower = (
            "which a ridge machine needs as a whole" if task == "KernelRidge"
            else "so that rows are computed as they are needed, which is slower"
        )  # fmt: skip
        return (
            f"The Gram matrix of {n:,} objects ({shown_bytes(size)}) does not fit into the {shown_bytes(available)} "
            f"that may be used, {slower}. Fewer objects, or an approximation of the kernel, are the way out; for a "
            "linear kernel use LinearSVC."
        )
    if seconds > 600:
        return "Training will take a while: try the kernel on a tenth of the objects first."
    return "Training on all objects is no problem."


def shown_bytes(size: int) -> str:
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size} bytes"


def shown_seconds(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"

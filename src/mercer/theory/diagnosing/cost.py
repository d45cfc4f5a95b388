"""The cost of training on all objects, estimated from trial runs on a few of them.

A machine is trained on random parts of growing size until that takes noticeable time, and the last times are
extrapolated. So the estimate accounts for the kernel, the labels and this computer; the penalty is the default.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
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
from mercer.kernels.precomputed import Precomputed
from mercer.losses.hinge import Hinge
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO
from mercer.solvers.drive import Limits
from mercer.solvers.problem import LossProblem
from mercer.solvers.ridge import direct
from mercer.theory.diagnosing.targets import Target

_WARM, _FIRST, _LARGEST = 24, 48, 6000
"""Objects in the trial run that compiles, in the first timed one, and in the largest. A larger last one predicts
better, but takes longer."""
_ENOUGH = 0.15
"""No larger trial run follows one that took this many seconds."""
_LONGEST = 2.0  # seconds after which a trial run is stopped: a diagnosis must not take as long as training
_STEEPEST, _FLATTEST = 2.3, 1.7
"""Plausible exponents of the number of objects in the training time of support vector machines."""
_SOLVED_DIRECTLY = 3.0  # the power for ridge machines, whose systems are solved by Cholesky factors


@final
@dataclass(frozen=True)
class Cost:
    """Estimates: seconds on this computer under its current load, and bytes for the whole Gram matrix."""

    entries_per_second: float
    gram_seconds: float
    """Memory for the whole Gram matrix, including features."""
    gram_bytes: int
    training_seconds: float
    machine: str
    """The estimator of the trial runs: "SVC", "KernelRidge", or "" without labels, when only the matrix counts."""
    rehearsed: int
    """The size of the largest trial run."""
    available_bytes: int
    advice: str

    @property
    def fits(self) -> bool:
        return self.gram_bytes <= self.available_bytes


@final
@dataclass(frozen=True, eq=False)
class Computed:
    """A previously computed matrix of some objects, for kernels that are too expensive to compute again."""

    K: Float64
    seconds: float
    """How long it took."""
    target: Target | None
    """The labels of its objects."""


def cost_of(
    fitted: FittedKernel,
    objects: Objects,
    target: Target | None,
    rng: np.random.Generator,
    computed: Computed | None = None,
) -> Cost | None:
    """Extrapolate trial runs to all objects; None if not even these are possible."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if computed is None:
                return _cost(fitted, objects, target, rng)
            return _of_computed(computed, len(objects), rng)
    except (MercerError, ArithmeticError, ValueError):  # no machine can be trained on these values
        return None


def _of_computed(computed: Computed, n: int, rng: np.random.Generator) -> Cost:
    """Add the known time of the matrix and the time of training, extrapolated from trial runs on parts of it."""
    size = len(computed.K)
    known = Precomputed().fit(computed.K)
    alone = _cost(known, known.kernel.coerce(computed.K), computed.target, rng)
    grown = (n / size) ** 2
    gram_seconds = computed.seconds * grown
    solving = max(0.0, alone.training_seconds - alone.gram_seconds) * grown * n / size
    training = gram_seconds + (solving if alone.machine else 0.0)
    gram_bytes = n * n * (8 if n * n <= DOUBLE_ENTRIES or alone.machine == "KernelRidge" else 4)
    advice = _advice(gram_bytes, alone.available_bytes, training, n, alone.machine)
    rate = size**2 / max(computed.seconds, 1e-9)
    return Cost(rate, gram_seconds, gram_bytes, training, alone.machine, alone.rehearsed, alone.available_bytes, advice)


def _cost(fitted: FittedKernel, objects: Objects, target: Target | None, rng: np.random.Generator) -> Cost:
    n = len(objects)
    order = rng.permutation(n)
    size, seconds = _time_trials(lambda rows: gram_of(fitted, objects.take(rows)).dense(), order)[-1]
    rate, gram_seconds = size**2 / max(seconds, 1e-9), seconds * (n / size) ** 2
    machine, training = "", gram_seconds
    if target is not None and target.varies:
        machine = "KernelRidge" if target.classes is None else "SVC"
        seconds_of = _ridge_seconds if target.classes is None else _svm_seconds
        training, size = seconds_of(fitted, objects, target, order, gram_seconds)
    gram_bytes = n * n * (8 if n * n <= DOUBLE_ENTRIES or machine == "KernelRidge" else 4)
    available = budget.stored_bytes("auto")
    advice = _advice(gram_bytes, available, training, n, machine)
    return Cost(rate, gram_seconds, gram_bytes, training, machine, size, available, advice)


def _ridge_seconds(
    fitted: FittedKernel, objects: Objects, target: Target, order: Indices, gram_seconds: float
) -> tuple[float, int]:
    def train(rows: Indices) -> None:
        K = gram_of(fitted, objects.take(rows), dtype=np.float64).exact()
        scale = np.full(1, float(np.diagonal(K).mean()) or 1.0)
        direct.solve(K, target.values[rows, None], scale, np.ones(len(rows)), intercept=True)

    n = len(objects)
    size, seconds = _time_trials(train, order)[-1]
    alone = max(seconds - gram_seconds * (size / n) ** 2, 0.0)
    return gram_seconds + alone * (n / size) ** _SOLVED_DIRECTLY, size


def _svm_seconds(
    fitted: FittedKernel, objects: Objects, target: Target, order: Indices, gram_seconds: float
) -> tuple[float, int]:
    """Seconds for the two largest classes, extrapolated to all pairs of classes, which share the matrix."""
    counts = np.bincount(target.codes)
    first, second = np.argsort(-counts, kind="stable")[:2]
    signs = np.where(target.codes == first, 1.0, -1.0)

    def train(rows: Indices) -> None:
        problem = BoxProblem.of(LossProblem(Hinge(), signs[rows], np.ones(len(rows))))
        SMO().solve(gram_of(fitted, objects.take(rows)), problem, limits=Limits(time_limit=_LONGEST))

    members = order[np.isin(target.codes[order], (first, second))]
    one_of_each = [np.flatnonzero(signs[members] == side)[0] for side in (1.0, -1.0)]
    rehearsals = _time_trials(train, np.concatenate([members[one_of_each], np.delete(members, one_of_each)]))
    size, seconds = rehearsals[-1]
    power = 2.0
    if len(rehearsals) > 1:
        before, took = rehearsals[-2]
        power = float(np.clip(math.log(seconds / took) / math.log(size / before), _FLATTEST, _STEEPEST))
    present = counts[counts > 0]
    if len(present) == 2:
        return seconds * (len(members) / size) ** power, size
    # Both times are noisy: training itself never counts as less than a tenth of the measured time.
    alone = max(seconds - gram_seconds * (size / len(objects)) ** 2, 0.1 * seconds)
    pairs = sum((float(a + b) / size) ** power for a, b in combinations(present, 2))
    return gram_seconds + alone * pairs, size


def _time_trials(act: Callable[[Indices], Any], order: Indices) -> list[tuple[int, float]]:
    """Time a function on more and more objects, doubling their number; returns numbers of objects and seconds."""

    def seconds(size: int) -> float:
        began = time.perf_counter()
        act(order[:size])
        return max(time.perf_counter() - began, 1e-7)

    seconds(_WARM)  # compiles
    most = min(len(order), _LARGEST, max(_FIRST, math.isqrt(budget.stored_bytes("auto") // 32)))
    size = min(_FIRST, most)
    found: list[tuple[int, float]] = []
    while True:
        took = seconds(size)
        if took > _ENOUGH:  # repeat: larger sizes may have triggered compilation, or the computer was busy
            took = min(took, seconds(size))
        found.append((size, took))
        if size == most or took > _ENOUGH:
            return found
        size = min(2 * size, most)


def _advice(size: int, available: int, seconds: float, n: int, task: str) -> str:
    if size > available:
        slower = (
            "and a ridge machine needs all of it" if task == "KernelRidge"
            else "so rows are computed as they are needed, which is slower"
        )  # fmt: skip
        return (
            f"The Gram matrix of {n:,} objects ({shown_bytes(size)}) does not fit into the {shown_bytes(available)} "
            f"that may be used, {slower}. Use fewer objects or an approximation of the kernel; for a linear kernel use "
            "LinearSVC."
        )
    if seconds > 600:  # longer than most people watch a progress bar
        return "Training will take a while: try the kernel on a tenth of the objects first."
    return "Training on all objects is feasible."


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

"""The final machine on very many objects: exact, in cells or on landmarks, by what each costs and what each is worth.

Kernels and penalties are chosen on a sample. To train on all objects, exact machines take time with the square of their
number, the others in proportion to it. Where the exact one would take longer than people wait, all that can be
afforded are compared on growing parts of the objects (`growing`), and the best is trained on all of them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from mercer._deadline import shown_seconds
from mercer._types import Indices
from mercer.inputs.base import Objects
from mercer.jobs.checkpoint import Checkpoint
from mercer.jobs.growing import Ask, Growth, Scored, begin, grow
from mercer.jobs.load import Load
from mercer.jobs.problem import Problem
from mercer.jobs.sizing import take
from mercer.jobs.ways import CELLS, EXACT, LANDMARKS, Way, affordable
from mercer.jobs.whole import Whole
from mercer.kernels.base import Kernel
from mercer.selection.learner import evenly_spread
from mercer.selection.trials import Trial

PATIENCE = 120.0
"""Seconds up to which the exact machine is trained in any case, unless there is a time limit."""
NEVER = 1800.0
"""Seconds beyond which it is not trained, however much better it would be."""
COMPARED = 30.0
"""Seconds that the comparison may take by the cost model, unless there is a time limit: as long as the search."""
SHARE = 0.4
"""The share of a time limit that goes to the comparison; the rest is for training."""
_PROBED = 1000
"""Objects that tell whether a kernel has features to train on, however many objects there are."""


@final
@dataclass(frozen=True, eq=False)
class Scaled:
    """What is trained on all objects, and why."""

    way: Way
    kernel: Kernel
    """That which was found; landmarks are those of the way."""
    penalty: float
    why: str = ""
    """Empty where nothing is special."""
    growth: Growth | None = None

    def machine(self, problem: Problem, time_limit: float | None) -> Any:
        """The machine, not trained yet."""
        return self.way.machine(problem.learner, self.kernel, self.penalty, time_limit)


def scaled(
    problem: Problem,
    best: Trial,
    rows: Indices,
    ask: Ask,
    time_limit: float | None = None,
    whole: Whole | None = None,
    kept: Checkpoint | None = None,
) -> Scaled:
    """How to train on the objects at `rows` or, if these are a sample, on all of the file."""
    if whole is not None:
        return _in_blocks(problem, best, rows, ask, time_limit, whole, kept)
    exact = Scaled(Way(EXACT), best.kernel, best.penalty)
    if not isinstance(problem.objects, Objects) or best.kernel.is_precomputed:
        return exact
    n, load = len(rows), Load.of(problem.data, problem.objects, problem.learner, problem.y)
    patience = PATIENCE if time_limit is None else min(PATIENCE, time_limit)
    seconds = load.exact(n)
    ways = list(affordable(n, load, patience))
    if seconds <= patience or not ways or _has_features(problem, best.kernel, rows):
        return exact
    if seconds <= NEVER and (time_limit is None or seconds <= time_limit):
        ways.append(exact.way)
    budget = COMPARED if time_limit is None else min(COMPARED, SHARE * time_limit)
    deadline = None if time_limit is None else time.monotonic() + SHARE * time_limit
    settings = begin(problem, ways, best.kernel, best.penalty)
    growth = grow(problem, settings, rows, ask, load=load, seconds=budget, deadline=deadline, kept=kept)
    takes = f"An exact machine on {n:,} objects would take about {shown_seconds(seconds)}"
    if growth is None:
        way = min(ways, key=lambda way: way.seconds(n, load))
        why = f"{takes}, and no other could be compared with it: the model was trained {_trained(way)}."
        return Scaled(way, best.kernel, best.penalty, why)
    chosen = growth.chosen.setting
    why = f"{takes}. {_compared(problem, growth)}: the model was trained {_trained(chosen.way)}."
    return Scaled(chosen.way, chosen.kernel, chosen.penalty, why, growth)


def _in_blocks(
    problem: Problem,
    best: Trial,
    rows: Indices,
    ask: Ask,
    time_limit: float | None,
    whole: Whole,
    kept: Checkpoint | None,
) -> Scaled:
    """On landmarks: the only way that never has all objects in memory."""
    load = Load.of(problem.data, problem.objects, problem.learner, problem.y)
    patience, budget = (PATIENCE, COMPARED) if time_limit is None else (time_limit / 2, SHARE * time_limit)
    found = list(affordable(whole.objects, load, patience, (LANDMARKS,))) or [Way(LANDMARKS, whole.objects)]
    ways = [way for way in found if way.bytes() <= whole.room / 2] or found[:1]
    deadline = None if time_limit is None else time.monotonic() + budget
    settings = begin(problem, ways, best.kernel, best.penalty)
    seconds = min(COMPARED, budget)
    growth = grow(problem, settings, rows, ask, load=load, seconds=seconds, deadline=deadline, kept=kept)
    if growth is None:
        way = ways[0]
        return Scaled(way, best.kernel, best.penalty, f"{whole.why}, and the model was trained {_trained(way)}.")
    chosen = growth.chosen.setting
    compared = f"{_compared(problem, growth)}: the model was trained {_trained(chosen.way)} of the sample"
    why = f"{whole.why}. {compared}, and on all objects of the file, block by block."
    return Scaled(chosen.way, chosen.kernel, chosen.penalty, why, growth)


def _has_features(problem: Problem, kernel: Kernel, rows: Indices) -> bool:
    """Whether a machine trains on the features of a kernel themselves."""
    sample = take(problem.objects, rows[evenly_spread(len(rows), _PROBED)])
    return kernel.fit(kernel.coerce(sample)).feature_map() is not None


def _trained(way: Way) -> str:
    return {EXACT: "exactly all the same", CELLS: f"in {way}", LANDMARKS: f"on {way}"}[way.kind]


def _compared(problem: Problem, growth: Growth) -> str:
    """The best of each kind, in the last round that it took part in."""
    metric = problem.metric
    best: dict[str, Scored] = {}
    for found in growth.rounds:
        best |= _best_of_each(found)
    told = [
        f"{one.setting.way} had {metric.name} {metric.shown(one.score)}{metric.unit} on {one.objects:,}"
        for one in sorted(best.values(), key=lambda one: (-one.objects, -one.score))
    ]
    return f"Trained on parts, {', '.join(told)}" if len(told) > 1 else f"Trained on a part, {told[0]}"


def _best_of_each(found: Sequence[Scored]) -> dict[str, Scored]:
    best: dict[str, Scored] = {}
    for one in found:
        best.setdefault(one.setting.way.kind, one)
    return best

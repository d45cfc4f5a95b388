"""The search at scale: ways, widths and penalties compared on ever more objects, fewer of them each time.

What is best on thousands of objects need not be on a million: more objects call for narrower kernels, cells lose ever
less at their borders, and landmarks ever more. So the settings that a search on a sample has found only begin. All are
trained on a part of the objects and scored on others; the best third goes on to a part three times as large, joined by
neighbours of the leader, and so on (successive halving).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Indices
from mercer.errors import MercerError
from mercer.jobs.checkpoint import Checkpoint, Compared
from mercer.jobs.load import Load
from mercer.jobs.metric_formulas import Answers
from mercer.jobs.problem import Problem
from mercer.jobs.sizing import sample, take
from mercer.jobs.ways import EXACT, Way
from mercer.jobs.widths import narrower
from mercer.kernels.base import Kernel
from mercer.selection.learner import rounded

STEP = 3
"""How many times as many objects the next round has, and which share of the settings goes on to it."""
_WIDTHS = (1.0, 4.0, 0.25)
"""Factors of gamma to begin with; of the leader, a narrower one joins in each round."""
_PENALTIES = (1.0, 10.0)
"""Factors of the penalty, likewise."""
_FEWEST = 2000
"""Objects of the first round, at least: fewer would rank settings by chance."""
_VALIDATED = 5000
"""Objects that settings are scored on: these tell accuracies within 0.7 %."""
_DEVIATIONS, _DRAWS = 2.0, 200
"""How many standard deviations better than all others an exact machine must be, to be worth its time; and the resamples
that tell them."""


@final
@dataclass(frozen=True)
class Setting:
    """A way with a kernel and a penalty."""

    way: Way
    kernel: Kernel
    penalty: float


@final
@dataclass(frozen=True, eq=False)
class Scored:
    """What a setting was worth in a round."""

    setting: Setting
    objects: int
    """That it was trained on."""
    score: float
    """More is better."""
    answers: Answers
    seconds: float


@final
@dataclass(frozen=True, eq=False)
class Growth:
    """All rounds, and the setting chosen."""

    rounds: list[list[Scored]]
    """Best first."""
    chosen: Scored
    rows: Indices
    """Those that settings were scored on."""


Ask = Callable[[Any, Any, Indices], Answers]
"""What a trained machine says of objects, given with their rows."""


def begin(problem: Problem, ways: Iterable[Way], kernel: Kernel, penalty: float) -> list[Setting]:
    """The settings of the first round; what the user has decided stays as it is."""
    plan, found = problem.plan, dict[Setting, None]()
    widths = _WIDTHS if plan.kernel == "auto" else _WIDTHS[:1]
    for way in ways:
        penalties = _PENALTIES if plan.C is None and not way.solves_path(problem.learner) else _PENALTIES[:1]
        for width in widths:
            other = narrower(kernel, width)
            if other is not None:
                found |= {Setting(way, other, rounded(penalty * factor)): None for factor in penalties}
    return list(found)


def grow(
    problem: Problem,
    settings: Sequence[Setting],
    rows: Indices,
    ask: Ask,
    *,
    load: Load,
    seconds: float,
    deadline: float | None = None,
    kept: Checkpoint | None = None,
) -> Growth | None:
    """Compare settings on growing parts of the objects at `rows`; None if there is nothing to compare.

    `seconds` is about what all rounds may take, by the cost model; after the `deadline` none is begun. What is
    `kept` of a run that was killed is not trained again.
    """
    tested = _tested(problem, rows)
    others = np.setdiff1d(rows, tested)
    sizes = _sizes(settings, len(others), load, seconds)
    tried, rounds, left = set(settings), list[list[Scored]](), list(settings)
    for place, size in enumerate(sizes):
        if place and deadline is not None and time.monotonic() > deadline:
            break
        seen = (
            others if size >= len(others) else others[sample(problem.y[others], problem.task, size, problem.plan.seed)]
        )
        found = [one for setting in left if (one := _known(problem, setting, seen, tested, ask, kept)) is not None]
        if not found:
            break
        rounds.append(sorted(found, key=lambda one: -one.score))
        left = [one.setting for one in rounds[-1][: _going_on(len(found))]]
        joining = [one for one in _neighbours(problem, left[0]) if one not in tried]
        tried |= set(joining)
        left += joining
    if not rounds:
        return None
    return Growth(rounds, _worth_it(problem, rounds[-1]), tested)


def _tested(problem: Problem, rows: Indices) -> Indices:
    """Objects to score settings on: of whole groups, or the latest ones, where the data say so."""
    data, rng = problem.data, np.random.default_rng(problem.plan.seed + 2)
    most = min(_VALIDATED, len(rows) // 10)
    if data.times is not None:
        return np.sort(rows[np.argsort(data.times[rows], kind="stable")[-most:]])
    if data.groups is not None:
        groups = data.groups[rows]
        order = rng.permutation(np.unique(groups))
        counts = np.array([int((groups == group).sum()) for group in order])
        return np.sort(rows[np.isin(groups, order[: 1 + int(np.searchsorted(counts.cumsum(), most))])])
    return np.sort(rng.permutation(rows)[:most])


def _sizes(settings: Sequence[Setting], n: int, load: Load, seconds: float) -> list[int]:
    """How many objects each round has: the largest first round whose followers can be afforded as well."""
    first, most = min(_FEWEST, n), max(min(_FEWEST, n), n // STEP)
    while first < most and _cost(settings, _from(min(most, 2 * first), n), load)[-1] <= seconds:
        first = min(most, 2 * first)
    sizes = _from(first, n)
    spent = _cost(settings, sizes, load)
    return [size for place, size in enumerate(sizes) if place == 0 or spent[place] <= seconds]


def _from(first: int, n: int) -> list[int]:
    """The sizes of all rounds that begin so."""
    sizes = [first]
    while STEP * sizes[-1] <= n:
        sizes.append(STEP * sizes[-1])
    return sizes


def _cost(settings: Sequence[Setting], sizes: Sequence[int], load: Load) -> list[float]:
    """What rounds of these sizes take up to each of them; the dearest settings may be those that go on."""
    ways, total, spent = [setting.way for setting in settings], 0.0, []
    for size in sizes:
        total += sum(way.seconds(size, load) for way in ways)
        spent.append(total)
        ways = sorted(ways, key=lambda way: -way.seconds(size, load))[: _going_on(len(ways))]
    return spent


def _going_on(settings: int) -> int:
    """How many settings the next round has, without those that join: at least two, since parts may mislead."""
    return min(settings, max(2, math.ceil(settings / STEP)))


def _known(
    problem: Problem, setting: Setting, seen: Indices, tested: Indices, ask: Ask, kept: Checkpoint | None
) -> Scored | None:
    """What a setting is worth, from an earlier run if it is kept."""
    key = f"{setting} on {len(seen)}"
    before = None if kept is None else kept.recall_compared(key)
    if before is not None:
        return Scored(setting, len(seen), before.score, before.answers, before.seconds)
    found = _scored(problem, setting, seen, tested, ask)
    if found is not None and kept is not None:
        kept.keep_compared(key, Compared(found.score, found.answers, found.seconds))
    return found


def _scored(problem: Problem, setting: Setting, seen: Indices, tested: Indices, ask: Ask) -> Scored | None:
    """Train on some objects, and score on others; None for a setting that fails on these objects."""
    began = time.monotonic()
    weights = None if problem.data.weights is None else problem.data.weights[seen]
    try:
        machine = setting.way.machine(problem.learner, setting.kernel, setting.penalty)
        setting.way.fit(machine, take(problem.objects, seen), problem.learnt(seen), weights)
        answers = ask(machine, take(problem.objects, tested), tested)
    except MercerError:
        return None
    score = problem.metric.sign * problem.metric.score(answers)
    if not np.isfinite(score):
        return None
    return Scored(setting, len(seen), score, answers, time.monotonic() - began)


def _neighbours(problem: Problem, best: Setting) -> list[Setting]:
    """A narrower kernel and a larger penalty, unless the user has decided."""
    found = []
    if problem.plan.kernel == "auto" and (kernel := narrower(best.kernel, _WIDTHS[1])) is not None:
        found.append(Setting(best.way, kernel, best.penalty))
    if problem.plan.C is None and not best.way.solves_path(problem.learner):
        found.append(Setting(best.way, best.kernel, rounded(best.penalty * _PENALTIES[1])))
    return found


def _worth_it(problem: Problem, last: Sequence[Scored]) -> Scored:
    """The best of the last round; an exact machine only where it is better than all others by more than the noise.

    All others are trained within the patience of people. The noise is that of the difference, by resamples of the
    objects that both were scored on.
    """
    best, metric = last[0], problem.metric
    other = next((one for one in last if one.setting.way.kind != EXACT), best)
    if best.setting.way.kind != EXACT or other is best:
        return best
    many = len(best.answers.y)
    draws = np.random.default_rng(problem.plan.seed).multinomial(many, np.full(many, 1.0 / many), size=_DRAWS)
    apart = metric.gains(best.answers, draws.astype(np.float64)) - metric.gains(other.answers, draws.astype(np.float64))
    return best if best.score - other.score > _DEVIATIONS * float(apart.std()) else other

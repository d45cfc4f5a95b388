"""Machines of pairs of many classes with few objects each: one compiled call for a class and some of the following
classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from mercer._types import Float64, Indices
from mercer.gram import cost
from mercer.gram.contract import Gram
from mercer.gram.group_blocks import GroupBlocks
from mercer.gram.tiled import symmetric_by_construction
from mercer.losses.dual import Dual
from mercer.solvers.box import small_pairs
from mercer.solvers.box.small_pairs import Blocks, SmallPairs
from mercer.solvers.drive import Limits


def trained_in_blocks(gram: Gram, groups: list[Indices], limits: Limits) -> bool:
    """Whether training the pairs one by one would cost more than computing entries in float64."""
    sizes = sorted(len(group) for group in groups)
    known = gram.factor is None and not gram.expensive and symmetric_by_construction(gram)
    if len(sizes) < 3 or not known or sum(sizes[-2:]) > small_pairs.LARGEST or math.isfinite(limits.time_limit):
        return False
    pays = cost.blocks_pay(len(sizes), sum(sizes), 0.0 if gram.in_memory else gram.setting.width)
    return pays and gram.setting.holds(GroupBlocks.bytes(groups))


def solve_in_blocks(
    gram: Gram,
    found: SmallPairs,
    bounds: Float64,
    sides: Dual,
    tol: float,
    limits: Limits,
    report: Callable[[float, str], None] | None,
) -> None:
    """Solve all pairs; those that are not solved keep a gap above `tol`."""
    blocks, diagonal = GroupBlocks(gram, found.groups), gram.diagonal()
    jobs = [(first, others) for first in range(len(found.groups)) for others in blocks.runs(first)]
    done = 0

    def job(pairs_of: tuple[int, range]) -> None:
        nonlocal done
        limits.raise_if_stopped()
        first, others = pairs_of
        part = Blocks(first, others, blocks.sizes, blocks.within, blocks.starts, blocks.across(first, others))
        found.solve_blocks(part, diagonal, bounds, sides, tol)
        done += len(others)
        if report is not None:
            report(done / len(found), "")

    gram.executor.each(job, jobs, limits.stop)

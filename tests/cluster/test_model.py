"""The model of a pass on many workers, against what can be worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

model: Any = pytest.importorskip("benchmarks.cluster_model", reason="the benchmarks are not part of this copy")
FREE = model.Costs(block=1.0, add=0.0, task=0.0, move=0.0)


def test_one_worker_does_one_thing_after_another() -> None:
    costs = model.Costs(block=1.0, add=0.25, task=0.0, move=0.5)
    found = model.played(13, 1, costs)
    assert found.seconds == 13 * 1.0 + 12 * 0.25 + 0.5
    assert (found.tasks, found.moves) == (6 + 5, 1)  # of 4, 4, 2, 1, 1 and 1 blocks


@pytest.mark.parametrize(("blocks", "workers"), [(64, 64), (64, 16), (153, 64), (5, 8)])
def test_without_costs_but_blocks_workers_share_them(blocks: int, workers: int) -> None:
    found = model.played(blocks, workers, FREE)
    assert found.seconds == found.blocks_done == -(-blocks // workers)


@pytest.mark.parametrize("levels", [1, 3, 6])
def test_a_reduction_goes_up_the_tree_once(levels: int) -> None:
    costs = model.Costs(block=1.0, add=0.25, task=0.0, move=0.5)
    found = model.played(2**levels, 2**levels, costs)
    assert found.blocks_done == 1.0
    assert found.reduction == pytest.approx(levels * (0.25 + 0.5) + 0.5)
    assert found.moves == 2**levels  # all sums but one, and the last to the client


def test_the_scheduler_serves_one_task_at_a_time() -> None:
    costs = model.Costs(block=1.0, add=0.0, task=0.5, move=0.0)
    assert model.played(2, 2, costs).seconds == 2 * 0.5 + 1.0 + 0.5


def test_blocks_are_put_together_as_on_a_cluster() -> None:
    assert model.tasks_of(48, 1) == [4] * 8 + [8, 4, 2, 1, 1]
    assert model.tasks_of(153, 64) == [1] * 153
    assert [max(model.tasks_of(153, workers)) for workers in (1, 2, 8)] == [8, 4, 8]
    assert model.played(48, 1, FREE).tasks == 13 + 12


def test_where_the_reduction_is_the_limit() -> None:
    """With 2^k workers blocks take 1024 / 2^k, and the reduction k moves and one more."""
    costs = model.Costs(block=0.0, add=0.0, task=0.0, move=1.0)
    assert model.where_the_reduction_is_the_limit(1024.0, costs) == 256  # 4 s against 9; with 128: 8 s against 8


def test_where_the_scheduler_is_the_limit() -> None:
    costs = model.Costs(block=0.0, add=0.0, task=0.25, move=1.0)
    assert model.where_the_scheduler_is_the_limit(1024.0, costs) == 64  # 16 s against 16; with 32: 8 s against 32
    assert model.where_the_reduction_is_the_limit(1024.0, costs) == 256  # as without a scheduler

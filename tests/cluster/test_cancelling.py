"""Work that is given up: all of it is gone from the cluster, and what else the user has there is as it was."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer.cluster import stuck, use
from mercer.cluster.executor import Workers
from mercer.cluster.lazy import in_memory
from mercer.cluster.under_way import UnderWay
from tests.cluster.gates import Cubes, Gate, soon

da = pytest.importorskip("dask.array", reason="dask is not installed")
delayed = pytest.importorskip("dask.delayed").delayed


@pytest.fixture
def gate(tmp_path: Path) -> Any:
    made = Gate.in_folder(tmp_path / "gate", most=1)
    yield made
    made.open()


def part_of(session: Any, gate: Gate) -> Any:
    """The future of a sum that is held up, made of futures that were sent before it, with tasks in between."""
    executor, items = Workers(session), range(61)
    cubes = Cubes(gate)
    total = executor._sum(cubes, (session.hold(cubes), session.hold(operator.add)), items, last=True)
    assert len(session.lineage.own(total)) > 2
    return total


def sums(dask_scheduler: Any) -> list[str]:
    """The tasks of sums that a scheduler knows."""
    return [str(key) for key in dask_scheduler.tasks if str(key).startswith(("stretch-", "combined-"))]


def nothing_left(client: Any) -> bool:
    return soon(lambda: not client.run_on_scheduler(sums))


def same_connection(client: Any, before: Any) -> bool:
    """Whether a client has kept what it had: where Dask has to connect again, it gives up all futures."""
    return client.submit(abs, -2, pure=False).result() == 2 and before.status == "finished"


def test_a_sum_is_given_up_with_all_its_parts(client: Any, gate: Gate) -> None:
    mine = client.submit(abs, -1, pure=False)
    assert mine.result() == 1
    with use(client) as session:
        total = part_of(session, gate)
        parts = session.lineage.own(total)
        session.cancel([total])
        assert {future.status for future in (total, *parts)} == {"cancelled"}
        assert nothing_left(client)  # though somebody, such as a traceback, still has the futures
        gate.open()
        assert same_connection(client, mine)


@pytest.mark.parametrize("which", range(3))
def test_stuck_parts_of_a_sum_cost_nobody_the_connection(
    client: Any, gate: Gate, monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    mine = client.submit(abs, -1, pure=False)
    assert mine.result() == 1
    with use(client) as session:
        total = part_of(session, gate)
        part = session.lineage.own(total)[which]
        monkeypatch.setattr(stuck.members, "answers", lambda *_: {"a worker": {part.key: "TypeError"}})
        assert stuck.stuck_among([total], session, looks=1) == {total: "TypeError"}
        assert nothing_left(client)
        gate.open()
        assert same_connection(client, mine)


def test_a_user_s_own_values_are_not_given_up_with_ours(
    client: Any, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(block: Any) -> Any:
        gate.enter("block")
        return block

    y = client.persist(da.ones(8, chunks=2).map_blocks(slowly, dtype=float, meta=np.ones(0)))

    def interrupted(_: Any) -> None:
        raise KeyboardInterrupt

    with use(client), monkeypatch.context() as patched:
        patched.setattr(UnderWay, "next", interrupted)
        with pytest.raises(KeyboardInterrupt):
            in_memory(y)
    gate.open()
    assert y.sum().compute(scheduler=client) == 8

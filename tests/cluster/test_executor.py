"""Sums and tiles by workers in other processes: the same bits as by threads."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mercer import kernels
from mercer.cluster import use
from mercer.cluster.bundles import Bundles
from mercer.cluster.executor import Workers
from mercer.cluster.lazy import partitions_of
from mercer.cluster.partitions import LazyBlocks
from mercer.cluster.session import Session
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of
from mercer.inputs.streamed import Streamed
from mercer.inputs.vectors import Vectors

da = pytest.importorskip("dask.array", reason="dask is not installed")


@dataclass(frozen=True)
class Squares:
    """A task whose sums round in every order differently."""

    seed: int

    def __call__(self, number: int) -> Any:
        return np.random.default_rng([self.seed, number]).normal(size=(40, 40)) ** 3


@pytest.mark.parametrize("items", [1, 2, 3, 13, 61])
def test_sums_are_those_of_threads_to_the_last_bit(client: Any, items: int) -> None:
    with use(client) as session:
        found = Workers(session).reduce(Squares(items), range(items), operator.add)
    expected = Threads(2).reduce(Squares(items), range(items), operator.add)
    assert found.tobytes() == expected.tobytes()


def in_place(first: Any, second: Any) -> Any:
    first += second
    return first


def test_combining_in_place_leaves_results_of_other_tasks_alone(client: Any) -> None:
    with use(client) as session:
        found = [Workers(session).reduce(Squares(3), range(29), in_place) for _ in range(2)]
    assert found[0].tobytes() == found[1].tobytes() == Threads(1).reduce(Squares(3), range(29), in_place).tobytes()


def test_tiles_are_those_of_threads(client: Any) -> None:
    words = ["".join(np.random.default_rng(i).choice(list("acgt"), size=30)) for i in range(60)]
    fitted = kernels.LocalAlignment().fit(words)
    expected = gram_of(fitted, words).dense()
    with use(client) as session:
        found = gram_of(fitted, words, executor=Workers(session)).dense()
        assert session.count_moved().fetched >= 60 * 59 / 2 * 8
        assert session.traffic.moved > 0
    assert found.tobytes() == expected.tobytes()


def test_products_add_up_in_the_order_of_a_strip(client: Any) -> None:
    rng = np.random.default_rng(0)
    X, v = rng.normal(size=(3000, 5)), rng.normal(size=3000)
    fitted = kernels.RBF(gamma=0.3).fit(X)
    expected = gram_of(fitted, X, executor=Threads(2)).matvec(v)
    with use(client) as session:
        found = gram_of(fitted, X, executor=Workers(session)).matvec(v)
    assert found.tobytes() == expected.tobytes()


class Many:
    """As much of a client as counting takes: 64 workers of one thread."""

    def nthreads(self) -> dict[str, int]:
        return {f"worker {number}": 1 for number in range(64)}

    def submit(self, *given: Any, key: str, **options: Any) -> Any:
        return SimpleNamespace(key=key, status="pending")


class Sent:
    """As much of a future as is needed to remember it."""


@dataclass(frozen=True, eq=False)
class Lengths:
    objects: Streamed

    def __call__(self, number: int) -> int:
        return len(self.objects.block(number))


def ten_million(name: str, rows: int = 10**7) -> Streamed:
    """As many lazy blocks as ten million rows have."""
    array = da.zeros((rows, 28), chunks=(-(-rows // 153), 28))
    return Streamed(LazyBlocks(name, partitions_of(array), array.chunks[0]), Vectors)


def test_a_pass_over_ten_million_rows_has_some_hundred_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    objects = ten_million("a pass")
    assert objects.blocks.sizes[0] == 65_360
    workers = Workers(Session(Many()))
    sent: list[Any] = []
    monkeypatch.setattr(workers.session, "compute_all", lambda values: sent.extend(values) or [Sent() for _ in values])
    workers._sum(Lengths(objects), (None, None), range(153), last=True)
    assert workers.session.traffic.tasks == 153 + 152
    (lazy,) = sent
    assert len(lazy.__dask_graph__()) <= 153 + 152 + 2 * 153  # and those of the partitions


def test_cells_of_ten_million_rows_have_some_thousand_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    objects = ten_million("cells", 10**5)  # a hundredth of the objects, in as many blocks and cells
    groups = np.split(np.random.default_rng(0).permutation(10**5), 2000)
    session = Session(Many())
    monkeypatch.setattr(session, "compute_all", lambda values: [SimpleNamespace(status="pending") for _ in values])
    Bundles(session, objects, groups, range(2000))
    assert session.traffic.tasks + 2000 < 6200

"""A worker killed in the middle of a task costs its own tasks, and no bit, whatever the cluster is asked for."""

from __future__ import annotations

import operator
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from mercer import KernelRidge, kernels
from mercer.cluster import use
from mercer.cluster.executor import Workers
from mercer.gram.executors import Threads
from mercer.gram.tiles import Tile
from mercer.inputs.blocks import ArrayBlocks, Block, Blocks
from tests.cluster.conftest import Processes
from tests.cluster.gates import Cubes, Gate, soon

da = pytest.importorskip("dask.array", reason="dask is not installed")

ITEMS, HELD = 12, 3
"""Tasks, and at which of its own each worker is held: half of all have begun by then."""
RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
Y = X[:, 0] * X[:, 1]
GROUPS = np.array_split(RNG.permutation(len(X)), ITEMS)
LEARNER = KernelRidge(kernel=kernels.Nystrom(kernels.RBF(gamma=0.5), m=20), alpha=0.1)


def sums(executor: Any, gate: Gate) -> Any:
    return executor.reduce(Cubes(gate), range(ITEMS), operator.add)


def expected_sums(gate: Gate) -> Any:
    return Threads(1).reduce(Cubes(gate), range(ITEMS), operator.add)


def results(executor: Any, gate: Gate) -> Any:
    return executor.gather(Cubes(gate), range(ITEMS))


def expected_results(gate: Gate) -> Any:
    return [Cubes(gate)(number) for number in range(ITEMS)]


@dataclass(frozen=True)
class Moments:
    """Of the objects of a group, by its number."""

    gate: Gate

    def __call__(self, objects: Any, number: int) -> Any:
        self.gate.enter(number)
        return objects.values.T @ objects.values


def lazy_groups(executor: Any, gate: Gate) -> Any:
    """Objects that lie on workers, and go from one to the other."""
    objects = kernels.RBF(gamma=1.0).coerce(da.from_array(X, chunks=(50, 3)))
    return executor.over_groups(Moments(gate), objects, GROUPS, range(ITEMS))


def sent_groups(executor: Any, gate: Gate) -> Any:
    """Objects that are here."""
    objects = kernels.RBF(gamma=1.0).coerce(X)
    return executor.over_groups(Moments(gate), objects, GROUPS, range(ITEMS))


def expected_groups(gate: Gate) -> Any:
    objects = kernels.RBF(gamma=1.0).coerce(X)
    return [Moments(gate)(objects.take(group), number) for number, group in enumerate(GROUPS)]


@dataclass(frozen=True)
class Values:
    gate: Gate

    def __call__(self, tile: Tile, out: Any) -> None:
        self.gate.enter(tile.top)
        out[...] = X[tile.rows] @ X[tile.columns].T


class Matrix:
    """Where tiles go."""

    def __init__(self) -> None:
        self.values = np.full((len(X), len(X)), np.nan)

    def buffer(self, tile: Tile) -> Any:
        return np.empty(tile.shape)

    def accept(self, tile: Tile, block: Any) -> None:
        self.values[tile.rows, tile.columns] = block


def tiles(executor: Any, gate: Gate) -> Any:
    height, sink = len(X) // ITEMS, Matrix()
    executor.map(Values(gate), [(Tile(top, top + height, 0, len(X)),) for top in range(0, len(X), height)], sink)
    return sink.values


def expected_tiles(gate: Gate) -> Any:
    return tiles(Threads(1), gate)


@dataclass(frozen=True)
class Folds:
    """Work of which some items share what is prepared once."""

    gate: Gate

    def prepared(self, item: int) -> Any:
        return np.random.default_rng(item % 2).normal(size=(40, 40))

    def __call__(self, item: int, prepared: Any, stop: threading.Event) -> Any:
        self.gate.enter(item)
        return prepared @ prepared + item


def folds(executor: Any, gate: Gate) -> Any:
    names = [item % 2 for item in range(ITEMS)]
    found = dict(executor.results(Folds(gate), range(ITEMS), names, watch=lambda: None))
    return [found[item] for item in range(ITEMS)]


def expected_folds(gate: Gate) -> Any:
    work = Folds(gate)
    return [work(item, work.prepared(item), threading.Event()) for item in range(ITEMS)]


@pytest.fixture(scope="module")
def survivor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Processes, Any]]:
    """A scheduler with the one worker that lives through all tests, and a client."""
    made = Processes(tmp_path_factory.mktemp("killed"))
    made.add()
    with made.client(1) as client:
        yield made, client
    made.close()


@pytest.fixture
def doomed(survivor: tuple[Processes, Any]) -> Iterator[Any]:
    """The worker that will be killed."""
    made, client = survivor
    process = made.add()
    client.wait_for_workers(2, timeout=120)
    yield process
    if process.poll() is None:
        made.kill(process)
    assert soon(lambda: len(client.nthreads()) == 1)


def killed_in_the_middle(
    survivor: tuple[Processes, Any], doomed: Any, gate: Gate, work: Callable[[Any], Any]
) -> tuple[Any, Counter[str], Counter[str]]:
    """What the work gives, what the doomed worker had begun, and what the other had."""
    made, client = survivor
    held: list[bool] = []

    def kill() -> None:
        held.append(gate.holds(doomed.pid, made.workers[0].pid))
        made.kill(doomed)
        begun.append(Counter(gate.begun(doomed.pid)))
        begun.append(Counter(gate.begun(made.workers[0].pid)))
        gate.open()

    begun: list[Counter[str]] = []
    killer = threading.Thread(target=kill)
    with use(client) as session:
        killer.start()
        found = work(Workers(session))
    killer.join()
    assert held == [True], "both workers had work when one was killed"
    return found, *begun


@pytest.mark.parametrize(
    ("work", "obvious"),
    [
        (sums, expected_sums),
        (results, expected_results),
        (lazy_groups, expected_groups),
        (sent_groups, expected_groups),
        (tiles, expected_tiles),
        (folds, expected_folds),
    ],
    ids=lambda function: function.__name__,
)
def test_its_own_tasks_again_and_no_bit(
    survivor: tuple[Processes, Any], doomed: Any, work: Any, obvious: Any, tmp_path: Path
) -> None:
    gate, other = Gate.in_folder(tmp_path / "gate", HELD), Gate.in_folder(tmp_path / "other")
    other.open()
    found, lost, kept = killed_in_the_middle(survivor, doomed, gate, lambda executor: work(executor, gate))
    assert np.asarray(found).tobytes() == np.asarray(obvious(other)).tobytes()
    times = Counter(gate.begun())
    assert len(times) == ITEMS
    again = {name for name, count in times.items() if count > 1}
    assert max(times.values()) == 2
    assert again  # at least the one in the middle of which it was killed
    if work is sums:  # the lost worker may have had a sum in which results of the other were
        assert again < lost.keys() | kept.keys()
    else:
        assert again <= lost.keys()


class Gated(Blocks):
    """Blocks of rows that workers are held at."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    @property
    def sizes(self) -> tuple[int, ...]:
        return (10,) * (len(X) // 10)

    @property
    def digest(self) -> str:
        return "gated"

    def read(self, number: int) -> Block:
        if "worker" in sys.argv:
            self._gate.enter(number)
        part = slice(10 * number, 10 * number + 10)
        return Block(X[part], Y[part])


def test_a_fit_gives_the_same_machine(survivor: tuple[Processes, Any], doomed: Any, tmp_path: Path) -> None:
    expected = clone(LEARNER).fit(ArrayBlocks(X, rows=10), Y).expansion_.coefficients
    gate = Gate.in_folder(tmp_path / "gate", HELD)
    model, _, _ = killed_in_the_middle(survivor, doomed, gate, lambda _: clone(LEARNER).fit(Gated(gate), Y))
    assert model.expansion_.coefficients.tobytes() == expected.tobytes()

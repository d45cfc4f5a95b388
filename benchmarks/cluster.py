"""A Dask cluster against the threads of one machine, and what more workers would give.

    python benchmarks/cluster.py covtype        two workers against two threads, m = 1,000 (needs the data sets)
    python benchmarks/cluster.py simulation     strong and weak scaling to 64 workers, from measured tasks and bytes

The simulation measures here, in one thread, how long a block takes, how long two sums take to be combined, and how many
bytes a sum has. It then plays the tree of sums through on W workers: each has one thread, works off the blocks that
come next in order, and receives one sum at a time over a link of its own; every task costs the scheduler a
millisecond, which it spends on one task after another. A sum moves to the worker that has its neighbour. What the
simulation leaves out: reading of blocks from storage, stragglers, and links that are shared.
"""

from __future__ import annotations

import argparse
import heapq
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from timing import DATA, loader

# isort: split
from mercer import KernelRidge, blocks, cluster, kernels
from mercer.gram.executors import Threads, in_this_thread

ROWS = 65_536
LINK = 1.25e9 / 8
"""Bytes per second that a worker receives: a link of 1.25 gigabits, as small machines of clouds have."""
FAST = 1.25e9
"""... and one of 10 gigabits."""
SCHEDULER = 1e-3
"""Seconds of the scheduler for a task."""
WORKERS = (1, 2, 4, 8, 16, 32, 64)


def covtype(folder: Path) -> tuple[Path, Path]:
    """464,809 rows of 54 columns, and a sign for each, as files of numpy."""
    X, y = loader(DATA)("vectors/covtype")["all"]
    X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float64)
    X = (X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1e-9)
    order = np.random.default_rng(0).permutation(len(X))[:464_809]
    np.save(folder / "X.npy", X[order])
    np.save(folder / "y.npy", np.where(y == 2, 1.0, -1.0)[order])
    return folder / "X.npy", folder / "y.npy"


def learner(m: int) -> KernelRidge:
    return KernelRidge(kernel=kernels.Nystrom(kernels.RBF(gamma=8.0), m=m), alpha=1e-3)


def compare(m: int) -> None:
    """Two workers and two threads in turns, on the same blocks."""
    with tempfile.TemporaryDirectory() as folder:
        X, y = covtype(Path(folder))

        def fitted() -> tuple[float, bytes]:
            began = time.perf_counter()
            model = learner(m).fit(blocks.of(X, y, rows=ROWS // 4))
            return time.perf_counter() - began, model.expansion_.coefficients.tobytes()

        with cluster.use("local:2") as session:
            fitted()  # compiles and loads what is timed below
            there, one = fitted()
            told = str(session.count_moved())
        fitted()
        here, other = fitted()
    print(f"covtype, m = {m}: two threads {here:.1f} s, two workers {there:.1f} s ({there / here:.2f} x)")
    print(f"the same bits: {one == other}; twice: {told}")


@dataclass
class Recorder:
    """An executor of one thread that notes what everything costs."""

    blocks: list[float] = field(default_factory=list)
    sums: list[float] = field(default_factory=list)
    bytes: int = 0
    count: int = 1

    def reduce(self, task: Callable[[Any], Any], items: Sequence[Any], combine: Callable[[Any, Any], Any]) -> Any:
        from distributed.protocol.serialize import serialize

        def timed(into: list[float], work: Callable[..., Any]) -> Callable[..., Any]:
            def run(*given: Any) -> Any:
                began = time.perf_counter()
                found = work(*given)
                into.append(time.perf_counter() - began)
                return found

            return run

        with in_this_thread():
            found = Threads(1).reduce(timed(self.blocks, task), items, timed(self.sums, combine))
        frames = serialize(found, serializers=["pickle"])[1]
        self.bytes = max(self.bytes, sum(memoryview(frame).nbytes for frame in frames))
        return found


def played(count: int, workers: int, block: float, add: float, moving: float) -> tuple[float, float]:
    """Seconds for a tree of so many blocks, and the share of them in which workers compute blocks."""
    free = [0.0] * workers  # when the thread of each worker is free, and when its link is
    link = [0.0] * workers
    scheduler, place = 0.0, 0
    ready: list[tuple[float, int, int, int]] = []  # sums: when, level, place in the level, worker
    waiting: dict[tuple[int, int], tuple[float, int]] = {}
    idle = [(0.0, worker) for worker in range(workers)]
    last = count - 1
    end = 0.0
    while place < count or ready:
        if place < count and (not ready or idle[0][0] <= ready[0][0]):
            _, worker = heapq.heappop(idle)
            scheduler = max(scheduler + SCHEDULER, free[worker])
            free[worker] = scheduler + block
            heapq.heappush(ready, (free[worker], 0, place, worker))
            heapq.heappush(idle, (free[worker], worker))
            place += 1
            continue
        when, level, own, worker = heapq.heappop(ready)
        while last >> level and own ^ 1 > last >> level:  # without a neighbour
            own, level = own >> 1, level + 1
        if not last >> level:
            end = when
            continue
        other = waiting.pop((level, own ^ 1), None)
        if other is None:
            waiting[level, own] = (when, worker)
            continue
        arrived = max(when, other[0])
        if other[1] != worker:
            link[worker] = max(link[worker], arrived) + moving
            arrived = link[worker]
        scheduler = max(scheduler + SCHEDULER, 0.0)
        free[worker] = max(free[worker], arrived, scheduler) + add
        heapq.heappush(ready, (free[worker], level + 1, own >> 1, worker))
    return end, count * block / (workers * end)


def simulate(m: int) -> None:
    """Measure on a few blocks of covtype, or of noise without the data sets, and play larger clusters through."""
    rng = np.random.default_rng(0)
    source = blocks.of(rng.normal(size=(4 * ROWS, 28)), rng.normal(size=4 * ROWS), rows=ROWS)
    recorder = Recorder()
    source.executor = recorder
    KernelRidge(kernel=kernels.Nystrom(kernels.RBF(gamma=0.02), m=m), alpha=1e-3).fit(source)
    block, add, size = float(np.median(recorder.blocks)), float(np.median(recorder.sums)), recorder.bytes
    print(f"m = {m}: a block of {ROWS:,} rows {block:.2f} s, adding two sums {1e3 * add:.1f} ms, a sum {size:,} bytes")
    print("workers   strong: 10^7 rows, s  (busy)      10 Gbit/s  (busy)   weak: 16 blocks each, s  (busy)")
    for workers in WORKERS:
        count = -(-(10**7) // ROWS)
        slow, busy = played(count, workers, block, add, size / LINK)
        fast, busier = played(count, workers, block, add, size / FAST)
        weak, busiest = played(16 * workers, workers, block, add, size / LINK)
        print(f"{workers:7d} {slow:16.1f}  ({busy:6.1%}) {fast:18.1f}  ({busier:6.1%}) {weak:19.1f}  ({busiest:6.1%})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["covtype", "simulation"])
    parser.add_argument("-m", type=int, default=1000, help="landmarks")
    chosen = parser.parse_args()
    (compare if chosen.what == "covtype" else simulate)(chosen.m)


if __name__ == "__main__":
    main()

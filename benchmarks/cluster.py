"""A Dask cluster against the threads of one machine, and what more workers would give.

    python benchmarks/cluster.py covtype        two workers against two threads, m = 1,000 (needs the data sets)
    python benchmarks/cluster.py simulation     strong and weak scaling to 64 workers, from measured tasks and bytes

The simulation fits a machine on blocks with one worker and with two, and lets Dask tell how long each task and each
transfer took. It plays passes of larger clusters through with these times (`cluster_model.py`), and says how far the
model is off for the two clusters that it can measure, each with the times of its own tasks. Between machines, a sum
takes as long as between two processes here, and its bytes over the link in addition.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from cluster_model import Costs, played, where_the_reduction_is_the_limit, where_the_scheduler_is_the_limit
from timing import DATA, loader

# isort: split
from mercer import KernelRidge, blocks, cluster, kernels
from mercer.cluster.executor import Workers

ROWS = 65_536
TIMES = 3
MEASURED = 8
"""Blocks of the fits that are measured."""
LINKS = {"1.25 Gbit/s": 1.25e9 / 8, "10 Gbit/s": 1.25e9}
"""Bytes per second that a worker receives: small machines of clouds, and better ones."""
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


def learner(m: int, gamma: float = 8.0) -> KernelRidge:
    return KernelRidge(kernel=kernels.Nystrom(kernels.RBF(gamma=gamma), m=m), alpha=1e-3)


def compare(m: int) -> None:
    """Two workers and two threads on the same blocks, by turns.

    Threads have the machine to themselves: while a cluster is open, its scheduler and its workers take their share.
    """

    def fitted(X: Path, y: Path, m: int = m) -> tuple[float, bytes]:
        began = time.perf_counter()
        model = learner(m).fit(blocks.of(X, y, rows=ROWS // 4))
        return time.perf_counter() - began, model.expansion_.coefficients.tobytes()

    here, there, traffic = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        data = covtype(Path(folder))
        fitted(*data, m=20)  # loads and compiles what is timed below
        for _ in range(TIMES):
            here.append(fitted(*data))
            with cluster.use("local:2") as session:
                fitted(*data, m=20)
                before = copy.copy(session.count_moved())
                there.append(fitted(*data))
                after = session.count_moved()
                traffic.append((after.tasks - before.tasks, after.moved - before.moved))
    same = len({bits for _, bits in (*here, *there)}) == 1
    print(f"covtype, m = {m}, {TIMES} fits of each by turns; the same bits: {same}")
    threads, workers = ([seconds for seconds, _ in found] for found in (here, there))
    for name, of in (("best", min), ("median", statistics.median)):
        ratio = of(workers) / of(threads)
        print(f"{name}: two threads {of(threads):.2f} s, two workers {of(workers):.2f} s, {ratio:.2f} x")
    tasks, moved = (max(found) for found in zip(*traffic, strict=True))
    print(f"{tasks} tasks and {moved / 1e6:.0f} MB sent by workers for each fit, at most")


@dataclass(frozen=True)
class Measured:
    """What a fit on a real cluster took."""

    fit: float
    passing: float
    """Seconds of it in passes over blocks."""
    blocks: int
    """Blocks in all passes."""
    costs: Costs
    size: int
    """Bytes of a sum."""


@contextlib.contextmanager
def passes() -> Iterator[list[tuple[float, int]]]:
    """The seconds and the blocks of every pass inside."""
    found: list[tuple[float, int]] = []
    plain = Workers.stretches

    def timed(self: Workers, task: Any, parts: Any, combine: Any) -> Iterator[Any]:
        began = time.perf_counter()
        yield from plain(self, task, parts, combine)
        found.append((time.perf_counter() - began, sum(map(len, parts))))

    Workers.stretches = timed
    try:
        yield found
    finally:
        Workers.stretches = plain


def measured(workers: int, m: int, X: Path, y: Path) -> Measured:
    """A fit on so many workers of this machine, task by task."""
    from distributed import get_task_stream

    with cluster.use(f"local:{workers}") as session:
        client = session.client
        learner(20, gamma=0.02).fit(blocks.of(X, y, rows=ROWS // 4))  # loads and compiles what is timed below
        with get_task_stream(client) as stream, passes() as found:
            began = time.perf_counter()
            learner(m, gamma=0.02).fit(blocks.of(X, y, rows=ROWS))
            fit = time.perf_counter() - began
        client.gather(client.map(int, range(workers), pure=False))
        began = time.perf_counter()
        client.gather(client.map(int, range(2000), pure=False))
        task = (time.perf_counter() - began) / 2000
    computing, moving = _spent(stream.data, "compute"), _spent(stream.data, "transfer")
    done = sum(count for _, count in found)
    add = float(np.mean(computing["combined"]))
    inside = done - len(computing["stretch"])  # additions within tasks of several blocks
    costs = Costs(
        block=(sum(computing["stretch"]) - inside * add) / done,
        add=add,
        task=task,
        move=float(np.median(moving.get("combined", [0.0]))),
    )
    size = max(one["nbytes"] for one in stream.data if one["key"].startswith("combined-"))
    return Measured(fit, sum(seconds for seconds, _ in found), done, costs, size)


def _spent(stream: Any, action: str) -> dict[str, list[float]]:
    """The seconds of every task, or transfer for a task, by the name of the task."""
    found: dict[str, list[float]] = {}
    for task in stream:
        for part in task["startstops"]:
            if part["action"] == action:
                found.setdefault(task["key"].rsplit("-", 5)[0], []).append(part["stop"] - part["start"])
    return found


def simulate(m: int) -> None:
    """Measure fits with one worker and two, check the model on them, and play larger clusters through."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        X, y = Path(folder, "X.npy"), Path(folder, "y.npy")
        np.save(X, rng.normal(size=(MEASURED * ROWS, 28)))
        np.save(y, rng.normal(size=MEASURED * ROWS))
        one, two = (measured(workers, m, X, y) for workers in (1, 2))
    here = replace(one.costs, move=two.costs.move, task=two.costs.task)
    print(
        f"m = {m}: a block of {ROWS:,} rows {here.block:.2f} s, an addition {1e3 * here.add:.1f} ms, a sum "
        f"{one.size / 1e6:.2f} MB, {1e3 * here.move:.0f} ms between processes; a task {1e3 * here.task:.2f} ms"
    )
    for workers, real in ((1, one), (2, two)):
        told = played(real.blocks, workers, replace(real.costs, move=here.move)).seconds
        print(
            f"{workers} worker(s), {real.blocks} blocks: measured {real.passing:.2f} s, by the model {told:.2f} s "
            f"({told / real.passing - 1:+.0%}); the rest of the fit {real.fit - real.passing:.2f} s; a block "
            f"{real.costs.block:.2f} s"
        )
    strong = -(-(10**7) // ROWS)
    print(f"           10^7 rows in {strong} blocks              16 blocks for each worker")
    print("workers " + "".join(f"{name:>13}  busy   " for name in LINKS) * 2)
    for workers in WORKERS:
        line = f"{workers:7d} "
        for count in (strong, 16 * workers):
            for link in LINKS.values():
                found = played(count, workers, _over(here, one.size, link))
                line += f"{found.seconds:11.1f} s {count * here.block / (workers * found.seconds):6.1%}  "
        print(line)
    seconds = strong * here.block
    limit = where_the_scheduler_is_the_limit(seconds, here)
    print("10^7 rows, one block for each worker, powers of two:")
    print(f"it takes longer to hand out blocks than to compute them from {limit} on")
    for name, link in LINKS.items():
        limit = where_the_reduction_is_the_limit(seconds, _over(here, one.size, link))
        print(f"{name}: the reduction takes longer than the blocks from {limit} on")


def _over(costs: Costs, size: int, link: float) -> Costs:
    """The costs where a sum has to go over a link."""
    return replace(costs, move=costs.move + size / link)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["covtype", "simulation"])
    parser.add_argument("-m", type=int, default=1000, help="landmarks")
    chosen = parser.parse_args()
    (compare if chosen.what == "covtype" else simulate)(chosen.m)


if __name__ == "__main__":
    main()

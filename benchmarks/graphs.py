"""Kernels on graphs beside GraKeL, in one process, each from its own parsed graphs; parsing is timed apart.

    python benchmarks/graphs.py [folder of data sets] [section ...]

Sections are wl, assignment (GraKeL takes minutes there), paths, walks, graphlets, growth and large; all by default.
Every line is the best of several runs, taken in turns. GraKeL fails on graphs with isolated nodes in its shortest path
kernel, so on such data sets only our own time is given.
"""

from __future__ import annotations

import functools
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from timing import DATA, loader, seconds

# isort: split
from mercer import kernels
from mercer.gram.make import gram_of
from mercer.inputs.graphs import Graphs
from mercer.kernels.base import Kernel

warnings.filterwarnings("ignore")
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
COPIES = (1, 2, 4, 8)


def loaded(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = loader(FOLDER)(f"graphs/{name}")["all"][0]
    return found


def ours(items: list[dict[str, Any]]) -> Graphs:
    return Graphs.coerce(
        [
            {"nodes": item["n"], "edges": item["edges"].reshape(-1, 2), "labels": item["node_labels"][:, 0]}
            for item in items
        ]
    )


def as_lists(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Graphs of Python's own lists, as many a program has them."""
    return [
        {"nodes": item["n"], "edges": item["edges"].tolist(), "labels": item["node_labels"][:, 0].tolist()}
        for item in items
    ]


def theirs(items: list[dict[str, Any]]) -> list[Any]:
    from grakel import Graph

    graphs = []
    for item in items:
        edges = {v: {} for v in range(item["n"])}
        for u, v in item["edges"].tolist():
            edges[u][v] = 1.0
        graphs.append(Graph(edges, node_labels=dict(enumerate(item["node_labels"][:, 0].tolist()))))
    return graphs


def matrix(kernel: Kernel, graphs: Graphs, dtype: Any = None) -> Callable[[], Any]:
    return lambda: gram_of(kernel.fit(graphs), graphs, dtype=dtype).dense()


def peer(make: Callable[[], Any], graphs: list[Any]) -> Callable[[], Any]:
    return lambda: make().fit_transform(graphs)


def compared(title: str, mine: Callable[[], Any], other: Callable[[], Any] | None = None, runs: int = 3) -> None:
    mine()  # compiles, and touches memory at full size
    own, peers = [], []
    for run in range(runs):
        own.append(seconds(mine))
        if other is not None and (run == 0 or peers[0] < 30):
            peers.append(seconds(other))
    line = f"{title:44} {min(own):9.3f} s"
    if peers:
        line += f"   GraKeL {min(peers):9.3f} s   ratio {min(peers) / min(own):8.1f}"
    print(line, flush=True)


@functools.cache
def parsed(name: str) -> tuple[Graphs, list[Any]]:
    items = loaded(name)
    own, other = seconds(lambda: ours(items)), seconds(lambda: theirs(items))
    print(f"{'parsing ' + name:44} {own:9.3f} s   GraKeL {other:9.3f} s", flush=True)
    return ours(items), theirs(items)


def wl() -> None:
    from grakel.kernels import VertexHistogram, WeisfeilerLehman

    for name in ("MUTAG", "NCI1"):
        mine, other = parsed(name)
        subtrees = peer(lambda: WeisfeilerLehman(n_iter=5, base_graph_kernel=VertexHistogram), other)
        own = kernels.WeisfeilerLehman(5)
        compared(f"WL h=5, {name}", matrix(own, mine), subtrees)
        compared(f"WL h=5, {name}, both in float64", matrix(own, mine, np.float64), subtrees)
        items, lists = loaded(name), as_lists(loaded(name))
        compared(
            f"WL h=5, {name}, with parsing, in float64",
            lambda lists=lists, own=own: matrix(own, Graphs.coerce(lists), np.float64)(),
            lambda items=items: WeisfeilerLehman(n_iter=5, base_graph_kernel=VertexHistogram).fit_transform(
                theirs(items)
            ),
        )


def assignment() -> None:
    from grakel.kernels import WeisfeilerLehmanOptimalAssignment as OptimalAssignment

    mine, other = parsed("PROTEINS")
    best = kernels.WeisfeilerLehmanOptimalAssignment(5)
    compared("WL-OA h=5, PROTEINS", matrix(best, mine), peer(lambda: OptimalAssignment(n_iter=5), other), 2)


def paths() -> None:
    from grakel.kernels import ShortestPath

    mine, other = parsed("MUTAG")
    compared("shortest path, MUTAG", matrix(kernels.ShortestPath(), mine), peer(ShortestPath, other))
    for name in ("PROTEINS", "NCI1"):
        compared(f"shortest path, {name}", matrix(kernels.ShortestPath(), ours(loaded(name))))


def walks() -> None:
    from grakel.kernels import RandomWalk

    mine, other = parsed("MUTAG")
    plain = kernels.RandomWalk(0.05, node_labels=False)
    compared("random walk without labels, MUTAG", matrix(plain, mine), peer(lambda: RandomWalk(lamda=0.05), other), 1)
    compared("random walk with labels, MUTAG", matrix(kernels.RandomWalk(0.05), mine))


def graphlets() -> None:
    graphs = ours(loaded("PROTEINS"))
    compared("graphlets of size 4, PROTEINS", matrix(kernels.Graphlet(4), graphs))
    compared("graphlets of size 5, PROTEINS", matrix(kernels.Graphlet(5), graphs), runs=1)


def growth() -> None:
    """Time of features against the total number of edges: the slope in logarithms; sizes are taken in turns."""
    items, kernel = loaded("NCI1"), kernels.WeisfeilerLehman(5)
    batches = [ours(items * copies) for copies in COPIES]
    fitted = kernel.fit(batches[0])
    times = np.full(len(COPIES), np.inf)
    for _ in range(6):  # the first compiles
        times = np.minimum(times, [seconds(lambda g=graphs: fitted.features(g)) for graphs in batches])
    slope = np.polyfit(np.log([len(graphs.neighbours) for graphs in batches]), np.log(times), 1)[0]
    print(f"{'features of WL h=5, NCI1 x ' + str(COPIES):44} " + ", ".join(f"{one:.3f} s" for one in times))
    print(f"{'features of WL h=5: exponent in edges':44} {slope:9.2f}", flush=True)


def large() -> None:
    for name in ("DD", "REDDIT-BINARY"):
        graphs = ours(loaded(name))
        compared(f"WL h=5, {name}", matrix(kernels.WeisfeilerLehman(5), graphs), runs=1)
        print(f"{'peak memory so far':44} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:9.2f} GiB")


SECTIONS = {one.__name__: one for one in (wl, assignment, paths, walks, graphlets, growth, large)}

if __name__ == "__main__":
    for section in sys.argv[2:] or SECTIONS:
        SECTIONS[section]()

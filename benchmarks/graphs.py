"""Kernels on graphs beside GraKeL, in one process, each from its own parsed graphs; parsing is timed apart.

    python benchmarks/graphs.py [folder of data sets]

Every line is the best of several runs, taken in turns. GraKeL fails on graphs with isolated nodes in its shortest path
kernel, so on such data sets only our own time is given.
"""

from __future__ import annotations

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
from mercer.gram.matrix import Gram
from mercer.inputs.graphs import Graphs
from mercer.kernels.base import Kernel

warnings.filterwarnings("ignore")
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA


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


def theirs(items: list[dict[str, Any]]) -> list[Any]:
    from grakel import Graph

    graphs = []
    for item in items:
        edges = {v: {} for v in range(item["n"])}
        for u, v in item["edges"].tolist():
            edges[u][v] = 1.0
        graphs.append(Graph(edges, node_labels=dict(enumerate(item["node_labels"][:, 0].tolist()))))
    return graphs


def matrix(kernel: Kernel, graphs: Graphs) -> Callable[[], Any]:
    return lambda: Gram.of(kernel.fit(graphs), graphs).dense()


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


def growth() -> None:
    """Time of features against the total number of edges: the slope in logarithms."""
    items = loaded("NCI1")
    kernel = kernels.WeisfeilerLehman(5)
    edges, times = [], []
    for copies in (1, 2, 4, 8):
        graphs = ours(items * copies)
        fitted = kernel.fit(graphs)
        fitted.features(graphs)
        times.append(min(seconds(lambda f=fitted, g=graphs: f.features(g)) for _ in range(3)))
        edges.append(len(graphs.neighbours))
    slope = np.polyfit(np.log(edges), np.log(times), 1)[0]
    print(f"{'features of WL h=5: exponent in edges':44} {slope:9.2f}", flush=True)


def main() -> None:
    from grakel.kernels import RandomWalk, ShortestPath, VertexHistogram, WeisfeilerLehman
    from grakel.kernels import WeisfeilerLehmanOptimalAssignment as OptimalAssignment

    parsed = {}
    for name in ("MUTAG", "NCI1", "PROTEINS"):
        items = loaded(name)
        own, other = seconds(lambda i=items: ours(i)), seconds(lambda i=items: theirs(i))
        parsed[name] = (ours(items), theirs(items))
        print(f"{'parsing ' + name:44} {own:9.3f} s   GraKeL {other:9.3f} s", flush=True)

    def subtree() -> Any:
        return WeisfeilerLehman(n_iter=5, base_graph_kernel=VertexHistogram)

    for name in ("MUTAG", "NCI1"):
        mine, other = parsed[name]
        compared(f"WL h=5, {name}", matrix(kernels.WeisfeilerLehman(5), mine), peer(subtree, other))
    mine, other = parsed["PROTEINS"]
    assignment = kernels.WeisfeilerLehmanOptimalAssignment(5)
    compared("WL-OA h=5, PROTEINS", matrix(assignment, mine), peer(lambda: OptimalAssignment(n_iter=5), other), 2)
    mine, other = parsed["MUTAG"]
    compared("shortest path, MUTAG", matrix(kernels.ShortestPath(), mine), peer(ShortestPath, other))
    walks = peer(lambda: RandomWalk(lamda=0.05), other)
    plain = kernels.RandomWalk(0.05, node_labels=False)
    compared("random walk without labels, MUTAG", matrix(plain, mine), walks, 1)
    compared("random walk with labels, MUTAG", matrix(kernels.RandomWalk(0.05), mine))
    for name in ("PROTEINS", "NCI1"):
        compared(f"shortest path, {name}", matrix(kernels.ShortestPath(), parsed[name][0]))
    compared("graphlets of size 4, PROTEINS", matrix(kernels.Graphlet(4), parsed["PROTEINS"][0]))
    compared("graphlets of size 5, PROTEINS", matrix(kernels.Graphlet(5), parsed["PROTEINS"][0]), runs=1)
    growth()
    for name in ("DD", "REDDIT-BINARY"):
        graphs = ours(loaded(name))
        compared(f"WL h=5, {name}", matrix(kernels.WeisfeilerLehman(5), graphs), runs=1)
        print(f"{'peak memory so far':44} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:9.2f} GiB")


if __name__ == "__main__":
    main()

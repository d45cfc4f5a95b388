"""The shortest path kernel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import dijkstra

from mercer._jit import Array, jit
from mercer._record import real
from mercer._types import DType, Float64, Indices, Int64, UInt64
from mercer.inputs.graphs import Graphs
from mercer.kernels.base import State
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.occurrences import Occurrences
from mercer.kernels.features.postings import added_up
from mercer.kernels.graphs.base import (
    CountingGraphs,
    alike,
    joined,
    label_of,
    nodes_of,
    refuse_weights,
    sparse_adjacency,
)
from mercer.kernels.graphs.histograms import node_names
from mercer.kernels.loops.mixing import mix, mixed

_STEPS = 2**26
"""The most arcs followed in one compiled call (unless a single source needs more): about a second."""
_LENGTHS = 2**22
"""Path lengths computed at a time: 32 MiB, so the overhead of calls is negligible."""


@final
@dataclass(frozen=True)
class ShortestPath(CountingGraphs):
    """The shortest path kernel: the inner product of the counts of triples ({label_u, label_v}, distance of u and v).

    Each pair of different connected nodes counts once (in directed graphs once for each direction, with the labels in
    order). Weights are lengths and must be positive; lengths count as equal if they round to the same multiple of
    `resolution`.

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> kernels.ShortestPath().fit([nx.path_graph(4)])([nx.path_graph(4)], [nx.path_graph(4), nx.star_graph(3)])
    array([[14., 15.]])
    """

    resolution: float = real(1e-6, low=0, low_open=True, high_open=True)

    variants = (
        {},
        {"resolution": 0.5},
    )

    def counts(self, objects: Graphs, state: State, dtype: DType) -> CountFeatures:
        graphs = alike(objects, state)
        refuse_weights(graphs, "ShortestPath", positive=True)
        rows, names, counts = _weighted(graphs, self) if graphs.weights is not None else _unweighted(graphs, self)
        return added_up(rows, names, counts, len(graphs), dtype)

    def occurrences(self, one: Graphs, state: State) -> Occurrences:
        """The two ends of a path share its weight."""
        graphs = alike(one, state)
        starts, ends, lengths = (np.concatenate(parts) for parts in zip(*_paths(graphs, 0), strict=True))
        near, labels = self.length_names(lengths), node_names(graphs)
        names = _triples(labels[starts], labels[ends], near, graphs.directed)

        def spell(k: int) -> str:
            first, second = label_of(one, int(starts[k])), label_of(one, int(ends[k]))
            length = f"{near[k] * self.resolution:.6g}"
            return joined(first, length, second, directed=graphs.directed)

        places = np.column_stack([starts, ends])
        sizes = np.full(len(names), 2)
        return Occurrences(nodes_of(one), names, np.ones(len(names)), places, sizes, spell)

    def length_names(self, lengths: npt.NDArray[Any]) -> Int64:
        """Lengths as multiples of the resolution."""
        return np.rint(lengths / self.resolution).astype(np.int64)


def _unweighted(graphs: Graphs, kernel: ShortestPath) -> tuple[Any, Any, Any]:
    """Breadth-first search from every node, in calls of bounded length."""
    distances = kernel.length_names(np.arange(int(graphs.sizes.max(initial=0)) + 1))
    labels = node_names(graphs)
    work = np.cumsum(np.repeat(np.diff(graphs.arc_offsets) + graphs.sizes, graphs.sizes))
    cuts = np.unique(np.searchsorted(work, np.arange(_STEPS, work[-1] if len(work) else 0, _STEPS)))
    found = []
    graph_of = np.repeat(np.arange(len(graphs)), graphs.sizes)
    for first, last in zip([0, *cuts.tolist()], [*cuts.tolist(), len(work)], strict=True):
        arrays = (graphs.offsets, graphs.bounds, graphs.neighbours, labels, graph_of, distances)
        found.append(_search(*arrays, graphs.directed, first, last))
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]


def _weighted(graphs: Graphs, kernel: ShortestPath) -> tuple[Any, Any, Any]:
    labels = node_names(graphs)
    found = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64), np.zeros(0))]
    for number, (start, end) in enumerate(itertools.pairwise(graphs.offsets)):
        for starts, ends, lengths in _paths(graphs, number):
            own = labels[start:end]
            names = _triples(own[starts], own[ends], kernel.length_names(lengths), graphs.directed)
            names, times = np.unique(names, return_counts=True)
            found.append((np.full(len(names), number), names, times.astype(np.float64)))
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]


def _paths(graphs: Graphs, number: int) -> Iterator[tuple[Indices, Indices, Float64]]:
    """Both ends and the lengths of all shortest paths of one graph, in blocks of starts."""
    matrix = sparse_adjacency(graphs, number)
    size = matrix.shape[0]
    block = max(1, _LENGTHS // max(size, 1))
    for first in range(0, max(1, size), block):
        sources = np.arange(first, min(first + block, size))
        lengths = dijkstra(matrix, directed=True, indices=sources)
        gaps = np.arange(size) - sources[:, None]
        found = np.nonzero(np.isfinite(lengths) & (gaps != 0 if graphs.directed else gaps > 0))
        yield sources[found[0]], found[1], lengths[found]


def _triples(starts: UInt64, ends: UInt64, lengths: Int64, directed: bool) -> UInt64:
    """The names of paths: a sum does not depend on the order of the ends."""
    return mixed(starts + (np.uint64(3) * mixed(ends) if directed else ends) + np.uint64(5) * mixed(lengths))


@jit
def _triple(start: Array, end: Array, length: Array, directed: bool) -> Any:
    """The name of a path: a sum does not depend on the order of the ends."""
    return mix(start + (np.uint64(3) * mix(end) if directed else end) + np.uint64(5) * mix(np.uint64(length)))


@jit
def _search(
    offsets: Array,
    bounds: Array,
    neighbours: Array,
    labels: Array,
    graph_of: Array,
    distances: Array,
    directed: bool,
    first: int,
    last: int,
) -> Any:
    """Breadth-first search from the nodes `first` to `last`; the paths of a graph are counted in a hash table."""
    room = 1024
    rows = np.empty(room, dtype=np.int64)
    names = np.empty(room, dtype=np.uint64)
    counts = np.empty(room, dtype=np.float64)
    used = 0
    size = 64
    table = np.full(size, -1, dtype=np.int64)
    begin = 0  # of the entries of the current graph
    graph = -1
    largest = distances.shape[0]
    queue = np.empty(largest, dtype=np.int64)
    depth = np.full(largest, -1, dtype=np.int64)
    for source in range(first, last):
        if graph_of[source] != graph:
            graph = graph_of[source]
            begin = used
            table[:] = -1
        base = offsets[graph]
        queue[0] = source
        depth[source - base] = 0
        head, tail = 0, 1
        while head < tail:
            u = queue[head]
            head += 1
            for a in range(bounds[u], bounds[u + 1]):
                v = neighbours[a]
                if depth[v] < 0:
                    depth[v] = depth[u - base] + 1
                    queue[tail] = base + v
                    tail += 1
        for q in range(tail):
            v = queue[q]
            length = depth[v - base]
            depth[v - base] = -1
            if v == source or (v < source and not directed):
                continue
            name = _triple(labels[source], labels[v], distances[length], directed)
            slot = np.int64(name & np.uint64(size - 1))
            while table[slot] >= 0 and names[table[slot]] != name:
                slot = (slot + 1) & (size - 1)
            if table[slot] >= 0:
                counts[table[slot]] += 1.0
                continue
            if used == room:
                room *= 2
                rows = np.concatenate((rows, np.empty(used, dtype=np.int64)))
                names = np.concatenate((names, np.empty(used, dtype=np.uint64)))
                counts = np.concatenate((counts, np.empty(used, dtype=np.float64)))
            table[slot] = used
            rows[used] = graph
            names[used] = name
            counts[used] = 1.0
            used += 1
            if 2 * (used - begin) > size:
                size *= 4
                table = np.full(size, -1, dtype=np.int64)
                for k in range(begin, used):
                    slot = np.int64(names[k] & np.uint64(size - 1))
                    while table[slot] >= 0:
                        slot = (slot + 1) & (size - 1)
                    table[slot] = k
    return rows[:used].copy(), names[:used].copy(), counts[:used].copy()

"""The graphlet kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._jit import Array, jit
from mercer._record import choice, integer
from mercer._types import DType, Float64
from mercer.errors import InputError
from mercer.inputs.graphs import Graphs
from mercer.inputs.ragged import offsets_of
from mercer.kernels.base import State
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.occurrences import Shares, Spelling, Weigh
from mercer.kernels.graphs import census
from mercer.kernels.graphs.base import CountingGraphs, alike, nodes_of

_MOST_GRAPHLETS = 200_000_000
"""The most graphlets for explanations, which examine each one: more would take too long."""
_NAMES = {
    3: ("no edge", "one edge", "path", "triangle"),
    4: (
        "no edge", "one edge", "two edges that meet", "two edges apart", "star", "triangle and a node", "path",
        "triangle with a tail", "cycle", "cycle with a chord", "complete",
    ),
}  # fmt: skip


@final
@dataclass(frozen=True)
class Graphlet(CountingGraphs):
    """The graphlet kernel: compare how often each small graph of `size` nodes occurs as an induced subgraph.

    All classes count, connected or not: 4 of size 3, 11 of size 4, 34 of size 5. They are ordered by their number of
    edges, then by their degrees (largest first), then by their smallest adjacency code; for size 4: no edge, one edge,
    two that meet, two apart, star, triangle and a node, path, triangle with a tail, cycle, cycle with a chord,
    complete. Labels, weights and loops are ignored.

    With ``scaling="cosine"``, k is the cosine of the angle between the two histograms; with ``"frequency"`` the inner
    product of relative frequencies; with ``"count"`` that of the counts. Graphs with fewer than `size` nodes have the
    value 0 with any graph.

    Sizes 3 and 4 are counted exactly, by closed formulas. Size 5 is enumerated in graphs of up to 60 nodes; in larger
    ones `samples` sets of nodes are drawn uniformly. The estimated frequencies are unbiased and, with probability 1 -
    delta, their absolute errors sum to at most sqrt(2 (34 ln 2 + ln(1 / delta)) / samples): 0.023 for 95 % by default.
    The draws depend only on `random_state` and the graph.

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> kernels.Graphlet(size=3).fit([nx.path_graph(4)])([nx.path_graph(4)], [nx.star_graph(3)]).round(6)
    array([[0.67082]])
    """

    size: int = integer(4, low=3, high=5)
    scaling: str = choice("cosine", "frequency", "count")
    samples: int = integer(100_000, low=1, high=10**8)
    random_state: int = integer(0, low=0, high=2**63 - 1)

    variants = ({}, {"size": 3, "scaling": "frequency"}, {"size": 5})

    def histograms(self, graphs: Any) -> Float64:
        """How often each class occurs in each graph: one row per graph, one column per class.

        `feature_matrix` only has columns for classes that occur in some graph.

        >>> import networkx as nx
        >>> from mercer import kernels
        >>> kernels.Graphlet(size=3).histograms([nx.path_graph(4), nx.complete_graph(4)])
        array([[0., 2., 2., 0.],
               [0., 0., 0., 4.]])
        """
        graphs = self.coerce(graphs)
        if graphs.directed:
            raise InputError("Graphlet needs undirected graphs. Turn them into undirected ones first.")
        if self.size == 3:
            return census.of_size_3(graphs)
        if self.size == 4:
            return census.of_size_4(graphs)
        return census.of_size_5(graphs, self.samples, self.random_state)

    def counts(self, objects: Graphs, state: State, dtype: DType) -> CountFeatures:
        counts = scaled(self.histograms(alike(objects, state)), self.scaling)
        rows, columns = np.nonzero(counts)
        offsets = offsets_of(np.bincount(rows, minlength=len(counts)))
        names = columns.astype(np.uint64)
        return CountFeatures(names, counts[rows, columns], offsets, (counts**2).sum(axis=1), dtype)

    def spelling(self, objects: Graphs, state: State) -> Iterator[Spelling]:
        """Classes of three and four nodes have names; those of five are shown by their edges."""
        table = census.classes_of_codes(self.size)
        codes = np.unique(table, return_index=True)[1]
        yield (
            np.arange(len(codes), dtype=np.uint64),
            lambda k: _NAMES[self.size][k] if self.size in _NAMES else _edges(int(codes[k]), self.size),
        )

    def shares(self, one: Graphs, state: State, weigh: Weigh) -> Shares:
        """The nodes of a graphlet share its weight equally. Graphlets are not stored, because they are many."""
        size = int(one.sizes[0])
        if math.comb(size, self.size) > _MOST_GRAPHLETS:
            raise InputError(f"A graph has {size} nodes, too many to enumerate its graphlets of size {self.size}.")
        table = census.classes_of_codes(self.size)
        weights = weigh(np.arange(int(table.max()) + 1, dtype=np.uint64))
        near = (alike(one, state).adjacency(0) != 0).astype(np.int64)
        found = np.zeros((size, weights.shape[1]))
        for output, column in enumerate(weights.T):
            histogram, shares = np.zeros(len(weights)), np.zeros(size)
            _share_graphlets(near, table, self.size, np.ascontiguousarray(column), histogram, shares)
            found[:, output] = shares / _totals(histogram[None], self.scaling)[0]
        return Shares(nodes_of(one), found)


def scaled(histograms: Float64, scaling: str) -> Float64:
    """Scaled histograms; those that are all zero stay zero.

    >>> slide = np.array([[15, 17, 1, 85, 9, 4, 3, 5, 7, 2, 99.0]])
    >>> scaled(slide, "frequency").round(2).tolist()
    [[0.06, 0.07, 0.0, 0.34, 0.04, 0.02, 0.01, 0.02, 0.03, 0.01, 0.4]]
    """
    return histograms / _totals(histograms, scaling)


def _totals(histograms: Float64, scaling: str) -> Float64:
    """The divisor of each histogram."""
    if scaling == "count":
        return np.ones((len(histograms), 1))
    totals = histograms.sum(axis=1, keepdims=True)
    if scaling == "cosine":
        totals = np.sqrt((histograms**2).sum(axis=1, keepdims=True))
    return np.where(totals > 0, totals, 1.0)


def samples_for(error: float, delta: float = 0.05, classes: int = 34) -> int:
    """The `samples` for a sum of absolute errors of at most `error`, with probability 1 - delta.

    >>> samples_for(0.05)
    21251
    """
    return math.ceil(2.0 * (classes * math.log(2.0) + math.log(1.0 / delta)) / error**2)


def _edges(code: int, size: int) -> str:
    """The edges of a graphlet between nodes numbered from 0: "0-1 1-2"."""
    pairs = [(i, j) for j in range(size) for i in range(j)]
    return " ".join(f"{i}-{j}" for bit, (i, j) in enumerate(pairs) if code >> bit & 1) or "no edge"


@jit
def _share_graphlets(near: Array, table: Array, k: int, weights: Array, histogram: Array, shares: Array) -> None:
    """Enumerate every set of k nodes, and share the weight of its class equally among the nodes."""
    n = near.shape[0]
    chosen = np.arange(k)
    while n >= k:
        code = 0
        bit = 0
        for j in range(1, k):
            for i in range(j):
                code |= near[chosen[i], chosen[j]] << bit
                bit += 1
        histogram[table[code]] += 1.0
        for i in range(k):
            shares[chosen[i]] += weights[table[code]] / k
        i = k - 1
        while i >= 0 and chosen[i] == n - k + i:
            i -= 1
        if i < 0:
            break
        chosen[i] += 1
        for j in range(i + 1, k):
            chosen[j] = chosen[j - 1] + 1

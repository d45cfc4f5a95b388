"""Which nodes of a graph speak for a decision.

For a kernel that counts features, f(G) = sum_i c_i k(G_i, G) is a sum over the features of G, each with one weight; and
each occurrence of a feature lies on some nodes, which share it equally: a Weisfeiler-Lehman colour on one node, a
shortest path on its two ends, a graphlet on all of its nodes. So the contributions of the nodes add up to f(G).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Float64
from mercer.errors import InputError, KernelError
from mercer.inputs.graphs import Graphs
from mercer.kernels.algebra.normalised import Normalised
from mercer.kernels.algebra.sums import Scaled, Sum
from mercer.kernels.base import FittedKernel, Kernel, State
from mercer.kernels.features.feature_map import WeightTable
from mercer.kernels.graphs.census import classes_of_codes
from mercer.kernels.graphs.graphlet import Graphlet
from mercer.kernels.graphs.histograms import VertexHistogram, node_names
from mercer.kernels.graphs.refinement import refined
from mercer.kernels.graphs.shortest_path import ShortestPath, paths_of
from mercer.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman
from mercer.kernels.loops.mixing import mixed

_SUBSETS = 2e8
Names = npt.NDArray[np.uint64]
Weigh = Callable[[Names], Float64]
"""Weights of the features of these names, one column per output."""


def can_explain(kernel: Kernel) -> bool:
    """Whether `node_contributions` understands this kernel."""
    if isinstance(kernel, Sum):
        return all(can_explain(term) for term in kernel.terms)
    if isinstance(kernel, Scaled | Normalised):
        return can_explain(kernel.kernel)
    return isinstance(kernel, WeisfeilerLehman | VertexHistogram | ShortestPath | Graphlet)


def node_contributions(fitted: FittedKernel, support: Any, coefficients: Any, graphs: Any) -> list[Float64]:
    """What each node of each graph adds to sum_i c_i k(G_i, G); the intercept comes on top.

    Understands `WeisfeilerLehman`, `VertexHistogram`, `ShortestPath` and `Graphlet`, and their sums, positive multiples
    and normalised forms. `coefficients` is one number per support graph.

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> from mercer.kernels.graphs.explanation import node_contributions
    >>> fitted = kernels.WeisfeilerLehman(1).fit([nx.path_graph(3)])
    >>> node_contributions(fitted, [nx.path_graph(3)], [1.0], [nx.path_graph(4)])
    [array([5., 4., 4., 5.])]
    """
    known, new = fitted.kernel.coerce(support), fitted.coerce(graphs)
    assert isinstance(new, Graphs)
    weights = np.asarray(coefficients, dtype=np.float64)
    if weights.shape != (len(known),):
        raise InputError(f"There must be one coefficient per support graph: {len(known)}, got shape {weights.shape}.")
    _refuse_unknown(fitted.kernel)
    return [own[:, 0] for own in weighed_nodes(WeightTable.of(fitted, known, weights), new)]


def weighed_nodes(table: WeightTable, graphs: Graphs) -> list[Float64]:
    """What each node of each graph adds to the outputs of a model of weights: one row per node."""
    _refuse_unknown(table.fitted.kernel)
    total = _explained(table.fitted.kernel, table.fitted.state, table.of_names, graphs)
    return np.split(total, graphs.offsets[1:-1])


def _explained(kernel: Kernel, state: State, weigh: Weigh, graphs: Graphs) -> Float64:
    """The contributions of all nodes of all graphs, one after another, by the weights of features of these names."""
    if isinstance(kernel, Sum):
        parts = enumerate(zip(kernel.terms, state.parts, strict=True))
        return _added([_explained(term, own, _of_term(weigh, number), graphs) for number, (term, own) in parts])
    if isinstance(kernel, Scaled):
        return float(np.sqrt(kernel.factor)) * _explained(kernel.kernel, state.parts[0], weigh, graphs)
    if isinstance(kernel, Normalised):
        norms = _inverse_norms(kernel.kernel, state.parts[0], graphs)
        return _explained(kernel.kernel, state.parts[0], weigh, graphs) * np.repeat(norms, graphs.sizes)[:, None]
    if isinstance(kernel, ShortestPath):
        return _path_shares(kernel, weigh, graphs)
    if isinstance(kernel, Graphlet):
        return _graphlet_shares(kernel, weigh, graphs)
    if isinstance(kernel, VertexHistogram):
        return weigh(node_names(graphs))
    assert isinstance(kernel, WeisfeilerLehman)
    rounds = refined(graphs, kernel.h, edge_labels=kernel.edge_labels)
    return _added([weigh(mixed(colours + np.uint64(number))) for number, colours in enumerate(rounds)])


def _refuse_unknown(kernel: Kernel) -> None:
    if not can_explain(kernel):
        raise KernelError(
            f"{kernel} does not say what single nodes contribute. WeisfeilerLehman, VertexHistogram, ShortestPath and "
            "Graphlet do, and their sums, multiples and normalised forms."
        )


def _of_term(weigh: Weigh, number: int) -> Weigh:
    """Weights by the names that features have within one term of a sum."""

    def renamed(names: Names) -> Float64:
        with np.errstate(over="ignore"):
            return weigh(names * np.uint64(2 * number + 1) + np.uint64(number))

    return renamed


def _added(parts: list[Float64]) -> Float64:
    return np.asarray(np.sum(parts, axis=0))


def _inverse_norms(kernel: Kernel, state: State, graphs: Graphs) -> Float64:
    own = kernel.diagonal(kernel.features(graphs, state, np.float64), state)
    return np.where(own > 0, 1.0 / np.sqrt(np.where(own > 0, own, 1.0)), 0.0)


def _path_shares(kernel: ShortestPath, weigh: Weigh, graphs: Graphs) -> Float64:
    total = np.zeros((int(graphs.offsets[-1]), weigh(np.zeros(0, dtype=np.uint64)).shape[1]))
    for number in range(len(graphs)):
        starts, ends, own = paths_of(graphs.take(slice(number, number + 1)), kernel)
        halves = 0.5 * weigh(own)
        first = graphs.offsets[number]
        np.add.at(total, first + starts, halves)
        np.add.at(total, first + ends, halves)
    return total


def _graphlet_shares(kernel: Graphlet, weigh: Weigh, graphs: Graphs) -> Float64:
    table = classes_of_codes(kernel.size)
    weights = weigh(np.arange(int(table.max()) + 1, dtype=np.uint64))
    total = np.zeros((int(graphs.offsets[-1]), weights.shape[1]))
    for number, size in enumerate(graphs.sizes.tolist()):
        subsets = float(np.prod(np.arange(size, size - kernel.size, -1.0))) if size >= kernel.size else 0.0
        if subsets / [1, 1, 2, 6, 24, 120][kernel.size] > _SUBSETS:
            raise InputError(
                f"Graph {number} has {size} nodes, too many to look at each graphlet of size {kernel.size}."
            )
        near = (graphs.adjacency(number) != 0).astype(np.int64)
        for output, column in enumerate(weights.T):
            histogram = np.zeros(len(weights))
            shares = np.zeros(size)
            _share_graphlets(near, table, kernel.size, np.ascontiguousarray(column), histogram, shares)
            norm = {"cosine": np.sqrt((histogram**2).sum()), "frequency": histogram.sum(), "count": 1.0}[kernel.scaling]
            own = slice(int(graphs.offsets[number]), int(graphs.offsets[number + 1]))
            total[own, output] = shares / (norm if norm > 0 else 1.0)
    return total


@jit
def _share_graphlets(near: Array, table: Array, k: int, weights: Array, histogram: Array, shares: Array) -> None:
    """Every set of k nodes, by counting up: its class, and an equal share of its weight for each node."""
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

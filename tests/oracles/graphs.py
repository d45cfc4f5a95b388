"""Slow and obvious twins of the kernels on graphs, on plain adjacency matrices and lists of labels."""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

Graph = tuple[np.ndarray[Any, Any], Sequence[Any]]
"""An adjacency matrix and the labels of its nodes."""


def product(a: Counter[Any], b: Counter[Any]) -> float:
    return float(sum(count * b[key] for key, count in a.items()))


def colours(graph: Graph, rounds: int) -> list[list[Any]]:
    """Colours spelt out as nested tuples; equal for equal neighbourhoods, whatever the graph."""
    matrix, labels = graph
    found: list[list[Any]] = [list(labels)]
    for _ in range(rounds):
        old = found[-1]
        found.append(
            [(old[v], tuple(sorted((old[u] for u in np.flatnonzero(matrix[v])), key=repr))) for v in range(len(old))]
        )
    return found


def weisfeiler_lehman(a: Graph, b: Graph, h: int) -> float:
    rounds = zip(colours(a, h), colours(b, h), strict=True)
    return sum(product(Counter(x), Counter(y)) for x, y in rounds)


def optimal_assignment(a: Graph, b: Graph, h: int) -> float:
    """The maximum over all injections of the smaller graph's nodes, tried one by one."""
    if len(a[1]) > len(b[1]):
        a, b = b, a
    left, right = colours(a, h), colours(b, h)
    value = [
        [sum(x[u] == y[v] for x, y in zip(left, right, strict=True)) for v in range(len(b[1]))]
        for u in range(len(a[1]))
    ]
    orders = itertools.permutations(range(len(b[1])), len(a[1]))
    return float(max(sum(value[u][v] for u, v in enumerate(order)) for order in orders))


def distances(matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Floyd and Warshall."""
    lengths = np.where(matrix > 0, matrix.astype(float), np.inf)
    np.fill_diagonal(lengths, 0.0)
    for k in range(len(matrix)):
        lengths = np.minimum(lengths, lengths[:, [k]] + lengths[[k]])
    return lengths


def shortest_paths(graph: Graph, directed: bool = False) -> Counter[Any]:
    matrix, labels = graph
    lengths = distances(matrix)
    pairs = itertools.permutations(range(len(matrix)), 2) if directed else itertools.combinations(range(len(matrix)), 2)
    return Counter(
        (
            (labels[u], labels[v]) if directed else tuple(sorted((labels[u], labels[v]), key=repr)),
            round(lengths[u, v], 6),
        )
        for u, v in pairs
        if np.isfinite(lengths[u, v])
    )


def graphlets(matrix: np.ndarray[Any, Any], size: int) -> Counter[Any]:
    """Induced subgraphs by their smallest adjacency matrix over all orders of the nodes."""
    found: Counter[Any] = Counter()
    for nodes in itertools.combinations(range(len(matrix)), size):
        part = (matrix[np.ix_(nodes, nodes)] > 0).astype(int)
        np.fill_diagonal(part, 0)
        found[min(tuple(part[np.ix_(p, p)].ravel()) for p in itertools.permutations(range(size)))] += 1
    return found


def matching_walks(a: Graph, b: Graph, steps: int, ties: tuple[Any, Any] | None = None) -> list[float]:
    """How many pairs of walks match, for 0..steps, on the product graph written out in full."""
    pairs = [(u, v) for u in range(len(a[1])) for v in range(len(b[1])) if a[1][u] == b[1][v]]
    matrix = np.array(
        [
            [a[0][u, x] * b[0][v, y] * (ties is None or ties[0][u, x] == ties[1][v, y]) for x, y in pairs]
            for u, v in pairs
        ]
    ).reshape(len(pairs), len(pairs))
    vector = np.ones(len(pairs))
    found = []
    for _ in range(steps + 1):
        found.append(float(vector.sum()))
        vector = matrix @ vector
    return found

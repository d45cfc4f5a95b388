"""Graphs that the tests share: those of the specification, and random ones."""

from typing import Any

import networkx as nx
import numpy as np
from hypothesis import strategies as st

PAW = nx.Graph([(0, 1), (1, 2), (0, 2), (2, 3)])
P3, P4, P5 = nx.path_graph(3), nx.path_graph(4), nx.path_graph(5)
C3, C4, C5 = nx.cycle_graph(3), nx.cycle_graph(4), nx.cycle_graph(5)
S4 = nx.star_graph(3)


def labelled(graph: Any, labels: str) -> Any:
    copy = graph.copy()
    nx.set_node_attributes(copy, dict(enumerate(labels)), "label")
    return copy


P4L, S4L = labelled(P4, "aabb"), labelled(S4, "aabb")


@st.composite
def plain(draw: Any, low: int = 1, high: int = 6, letters: str = "ab", loops: bool = False) -> Any:
    """An adjacency matrix and labels."""
    size = draw(st.integers(low, high))
    matrix = np.zeros((size, size), dtype=np.int64)
    for u in range(size):
        for v in range(u + (0 if loops else 1), size):
            matrix[u, v] = matrix[v, u] = draw(st.integers(0, 1))
    return matrix, draw(st.lists(st.sampled_from(letters), min_size=size, max_size=size))


def as_dict(graph: Any, **more: Any) -> dict[str, Any]:
    """The same graph for `Graphs`."""
    matrix, labels = graph
    edges = np.argwhere(np.triu(matrix)).tolist()
    return {"nodes": len(matrix), "edges": edges, "labels": list(labels), **more}


def shuffled(graph: Any, random: np.random.Generator) -> Any:
    matrix, labels = graph
    order = random.permutation(len(matrix))
    return matrix[np.ix_(order, order)], [labels[v] for v in order]

"""The Weisfeiler-Lehman subtree kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer import _check
from mercer._types import DType
from mercer.inputs.graphs import Graphs
from mercer.kernels.base import State
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.graphs.base import CountingGraphs, alike
from mercer.kernels.graphs.refinement import colour_counts


@final
@dataclass(frozen=True)
class WeisfeilerLehman(CountingGraphs):
    """The Weisfeiler-Lehman subtree kernel: k(G, G') = sum over rounds i = 0..h of <colours_i(G), colours_i(G')>.

    Colours of round 0 are the labels of the nodes; the colour of round i + 1 names a node's colour of round i and
    the multiset of its neighbours'. `colours_i` counts how many nodes have each colour. With `edge_labels`, neighbours
    are told apart by the labels of the edges to them as well. Weights play no role.

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> path, star = nx.path_graph(4), nx.star_graph(3)
    >>> kernels.WeisfeilerLehman(h=2).fit([path])([path], [path, star])
    array([[32., 22.]])
    """

    h: int = 3
    edge_labels: bool = False

    def __post_init__(self) -> None:
        _check.integer("WeisfeilerLehman", "h", self.h, low=0)
        _check.boolean("WeisfeilerLehman", "edge_labels", self.edge_labels)

    def feature_map(self, objects: Graphs, state: State, dtype: DType) -> CountFeatures:
        return colour_counts(alike(objects, state, edge_labels=self.edge_labels), self.h, self.edge_labels, dtype)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(h=0)
        yield cls(h=2, edge_labels=True)

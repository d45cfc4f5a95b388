"""Random walk kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._record import boolean, choice, integer, real
from mercer._types import DType, Float64, Floating
from mercer.errors import InputError
from mercer.inputs.graphs import Graphs
from mercer.kernels.base import State
from mercer.kernels.graphs import walks
from mercer.kernels.graphs.base import GraphKernel, alike, kind_of, refuse_weights


@final
@dataclass(frozen=True)
class RandomWalk(GraphKernel):
    """Random walk kernels: k(G, G') = sum over j of c_j times the number of pairs of walks of j steps that match.

    Two walks match if they pass nodes with the same labels over edges with the same labels (if the graphs have labels,
    and `node_labels` and `edge_labels` are true); walks of 0 steps are nodes. The number of pairs is 1'A^j 1, where A
    is the adjacency matrix of the direct product graph. c_j is ``decay^j`` for the "geometric" `series` and ``decay^j /
    j!`` for the "exponential" one, for all j, or for j up to `steps`. Weights multiply along a walk. With `uniform`, k
    is divided by (n n')^2: walks start and end at random.

    The infinite geometric series needs ``decay < 1 / r^2``, where r is the largest spectral radius of all graphs (at
    most their largest degree); it is checked for the training graphs and for each new one.

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> kernels.RandomWalk(decay=0.1).fit([nx.path_graph(3)])([nx.path_graph(3)], [nx.cycle_graph(3)]).round(6)
    array([[12.391304]])
    """

    decay: float = real(0.1, low=0, low_open=True, high_open=True)
    series: str = choice("geometric", "exponential")
    steps: int | None = integer(None, low=0, high=10_000)
    uniform: bool = boolean()
    node_labels: bool = boolean(True)
    edge_labels: bool = boolean(True)

    variants = (
        {"decay": 0.01},
        {"decay": 0.1, "series": "exponential"},
        {"decay": 0.2, "steps": 4, "uniform": True},
        {"decay": 0.01, "node_labels": False, "edge_labels": False},
    )

    @property
    def _bounded(self) -> bool:
        return self.series == "geometric" and self.steps is None

    def _spectral(self, graphs: Graphs) -> bool:
        """Whether every pair of walks of equal length matches, so the eigenvalues of each graph are sufficient."""
        labelled = (self.node_labels and graphs.labels is not None) or (
            self.edge_labels and graphs.edge_labels is not None
        )
        return not labelled and not graphs.directed

    def resolve(self, objects: Graphs) -> State:
        refuse_weights(objects, "RandomWalk", positive=False)
        values = {"kind": kind_of(objects)}
        if self._bounded:
            radii = walks.spectral_radii(objects)
            self._check_bound(radii, 0.0)
            values["radius"] = np.asarray(radii.max(initial=0.0))
        return State(values)

    def _check_bound(self, radii: Float64, other: float) -> None:
        """decay r r' < 1 for each graph with itself and with the training graph of largest radius."""
        if not len(radii):
            return
        worst = int(radii.argmax())
        product = float(radii[worst] * max(radii[worst], other))
        if self.decay * product >= 1.0:
            raise InputError(
                f"The walks of RandomWalk(decay={self.decay:g}) do not add up: graph {worst} has spectral radius "
                f"{radii[worst]:.6g}, so decay must be below {1.0 / product:.6g}. Lower decay, limit `steps`, or use "
                "series='exponential'."
            )

    def features(self, objects: Graphs, state: State, dtype: DType) -> walks.Walks:
        graphs = alike(objects, state, edge_labels=self.edge_labels)
        refuse_weights(graphs, "RandomWalk", positive=False)
        if self._bounded:
            self._check_bound(walks.spectral_radii(graphs), state.number("radius"))
        if self._spectral(graphs):
            return walks.Spectra.of(graphs, uniform=self.uniform)
        if not self.node_labels:
            graphs = graphs.relabelled(None)
        return walks.WalkGraphs.of(graphs, edge_labels=self.edge_labels, uniform=self.uniform)

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        left.sums(right, self._series(), out)

    def tile_entries(self, left: Any, right: Any, state: State) -> int:
        return max(1, int(left.pairs_per_tile / (max(1.0, left.mean_size) * max(1.0, right.mean_size))))

    def diagonal(self, features: walks.Walks, state: State) -> Float64:
        return features.own_sums(self._series())

    def _series(self) -> tuple[float, bool, int]:
        return self.decay, self.series == "exponential", -1 if self.steps is None else self.steps

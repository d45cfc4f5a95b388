"""Colour refinement (Weisfeiler-Lehman): each round, the colour of a node becomes a name of its neighbourhood."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer.inputs.graphs import Graphs
from mercer.kernels.mixing import mix, mixed

Colours = npt.NDArray[np.uint64]


def refined(graphs: Graphs, rounds: int, *, edge_labels: bool = False) -> list[Colours]:
    """The colours of all nodes after 0, 1, ..., `rounds` rounds.

    Round 0 is the label (one colour for all where there are none). A new colour is a 64-bit hash of the old one and of
    the multiset of the neighbours' colours, joined with the labels of the edges between if `edge_labels`; in
    directed graphs, of the multisets of successors and of predecessors. Equal neighbourhoods have equal colours
    in any batch.
    """
    nodes = int(graphs.offsets[-1])
    ties = graphs.edge_labels if edge_labels else None
    ties = np.zeros(0, dtype=np.uint64) if ties is None else ties.view(np.uint64)
    found = [mixed(np.zeros(nodes, dtype=np.int64) if graphs.labels is None else graphs.labels)]
    for _ in range(rounds):
        arrays = (graphs.offsets, graphs.bounds, graphs.neighbours, np.ascontiguousarray(ties))
        found.append(_refine(found[-1], *arrays, graphs.directed))
    return found


@jit
def _refine(colours: Array, offsets: Array, bounds: Array, neighbours: Array, ties: Array, directed: bool) -> Any:
    # A sum of mixed colours names a multiset whatever the order of its members, so nothing is sorted.
    nodes = colours.shape[0]
    spread = np.empty(nodes, dtype=np.uint64)
    for v in range(nodes):
        spread[v] = mix(colours[v] ^ np.uint64(0x6A09E667F3BCC909))
    out = np.zeros(nodes, dtype=np.uint64)
    back = np.zeros(nodes if directed else 0, dtype=np.uint64)
    tied = ties.shape[0] > 0
    for g in range(offsets.shape[0] - 1):
        base = offsets[g]
        for v in range(base, offsets[g + 1]):
            total = np.uint64(0)
            for a in range(bounds[v], bounds[v + 1]):
                u = base + neighbours[a]
                if tied:
                    total += mix(spread[u] + np.uint64(3) * mix(ties[a]))
                else:
                    total += spread[u]
                if directed:
                    back[u] += mix(spread[v] + np.uint64(3) * mix(ties[a])) if tied else spread[v]
            out[v] = total
    for v in range(nodes):
        name = mix(colours[v] + np.uint64(5) * mix(out[v]))
        if directed:
            name = mix(name + np.uint64(7) * mix(back[v]))
        out[v] = name
    return out

"""Colour refinement (Weisfeiler-Lehman): each round, the colour of a node becomes a name of its neighbourhood."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._jit import Array, jit
from mercer._types import DType, UInt64
from mercer.inputs.graphs import Graphs
from mercer.inputs.hashing import text_of_label
from mercer.kernels.features.counts import CountFeatures, count_into
from mercer.kernels.graphs.base import label_of
from mercer.kernels.graphs.histograms import node_names
from mercer.kernels.loops.mixing import mix
from mercer.kernels.loops.pairs import longest_part

LONGEST_TEXT = 60
"""The most characters shown of a neighbourhood, whose text multiplies by the number of neighbours in every round."""


def refined(graphs: Graphs, rounds: int, *, edge_labels: bool = False) -> list[UInt64]:
    """The colours of all nodes after 0, 1, ..., `rounds` rounds.

    Round 0 is the label (the same colour for all nodes if there are none). A new colour is a 64-bit hash of the old one
    and of the multiset of the neighbours' colours, joined with the labels of the edges between if `edge_labels`; in
    directed graphs, of the multisets of successors and of predecessors. Equal neighbourhoods have equal colours in any
    batch.
    """
    found, arrays = [node_names(graphs)], _arrays(graphs, edge_labels)
    for _ in range(rounds):
        found.append(_refine(found[-1], *arrays))
    return found


def colour_counts(graphs: Graphs, rounds: int, edge_labels: bool, dtype: DType) -> CountFeatures:
    """How many nodes of each graph have each colour, in every round: graph by graph, which keeps memory local."""
    ids, counts, offsets = _counted(rounds, node_names(graphs), *_arrays(graphs, edge_labels))
    return CountFeatures.of_counted(ids, counts, offsets, dtype)


def spelt_colours(graphs: Graphs, rounds: int, *, edge_labels: bool = False) -> list[str]:
    """The colours of all nodes after 0, 1, ..., `rounds` rounds as text: a label, then the neighbourhood in brackets.

    In directed graphs, ``<-`` marks a predecessor. Texts longer than 60 characters are cut short.
    """
    found = [[label_of(graphs, node) for node in range(int(graphs.offsets[-1]))]]
    first = np.repeat(graphs.offsets[:-1], graphs.sizes)
    ties = graphs.edge_labels if edge_labels else None
    for _ in range(rounds):
        near: list[list[str]] = [[] for _ in found[-1]]
        for node in range(len(near)):
            for arc in range(graphs.bounds[node], graphs.bounds[node + 1]):
                other = int(first[node] + graphs.neighbours[arc])
                tie = "" if ties is None else f"{text_of_label(int(ties[arc]))}:"
                near[node].append(f"{tie}{found[-1][other]}")
                if graphs.directed:
                    near[other].append(f"<-{tie}{found[-1][node]}")
        found.append([_cut(f"{label}({', '.join(sorted(own))})") for label, own in zip(found[0], near, strict=True)])
    return [text for texts in found for text in texts]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}..."


def _arrays(graphs: Graphs, edge_labels: bool) -> tuple[Any, ...]:
    ties = graphs.edge_labels if edge_labels else None
    ties = np.zeros(0, dtype=np.uint64) if ties is None else ties.view(np.uint64)
    return graphs.offsets, graphs.bounds, graphs.neighbours, np.ascontiguousarray(ties), graphs.directed


@jit
def _refine(colours: Array, offsets: Array, bounds: Array, neighbours: Array, ties: Array, directed: bool) -> Any:
    out = np.empty(colours.shape[0], dtype=np.uint64)
    scratch = np.empty((2, longest_part(offsets)), dtype=np.uint64)
    for g in range(offsets.shape[0] - 1):
        first, last = offsets[g], offsets[g + 1]
        _step(colours[first:last], bounds[first : last + 1], neighbours, ties, directed, scratch, out[first:last])
    return out


@jit
def _counted(
    rounds: int, colours: Array, offsets: Array, bounds: Array, neighbours: Array, ties: Array, directed: bool
) -> Any:
    """Names of the colours of each graph, joined with their round, sorted; how many nodes have them; and bounds."""
    graphs, most = offsets.shape[0] - 1, (rounds + 1) * colours.shape[0]
    ids = np.empty(most, dtype=np.uint64)
    counts = np.empty(most, dtype=np.float64)
    ends = np.zeros(graphs + 1, dtype=np.int64)
    largest = longest_part(offsets)
    scratch = np.empty((2, largest), dtype=np.uint64)
    known = np.empty((rounds + 1, largest), dtype=np.uint64)
    names = np.empty((rounds + 1) * largest, dtype=np.uint64)
    used = 0
    for g in range(graphs):
        first, last = offsets[g], offsets[g + 1]
        n = last - first
        known[0, :n] = colours[first:last]
        for r in range(rounds + 1):
            for v in range(n):
                names[r * n + v] = mix(known[r, v] + np.uint64(r))
            if r < rounds:
                arcs = bounds[first : last + 1]
                _step(known[r, :n], arcs, neighbours, ties, directed, scratch, known[r + 1, :n])
        used = count_into(names[: (rounds + 1) * n], ids, counts, used)
        ends[g + 1] = used
    return ids[:used].copy(), counts[:used].copy(), ends


@jit
def _step(
    colours: Array, bounds: Array, neighbours: Array, ties: Array, directed: bool, scratch: Array, out: Array
) -> None:
    """One round of one graph. A sum of mixed colours identifies a multiset in any order, so nothing is sorted."""
    n = colours.shape[0]
    tied = ties.shape[0] > 0
    spread, back = scratch
    for v in range(n):
        spread[v] = mix(colours[v] ^ np.uint64(0x6A09E667F3BCC909))
        back[v] = np.uint64(0)
    for v in range(n):
        total = np.uint64(0)
        for a in range(bounds[v], bounds[v + 1]):
            u = neighbours[a]
            if tied:
                total += mix(spread[u] + np.uint64(3) * mix(ties[a]))
            else:
                total += spread[u]
            if directed:
                back[u] += mix(spread[v] + np.uint64(3) * mix(ties[a])) if tied else spread[v]
        out[v] = total
    for v in range(n):
        name = mix(colours[v] + np.uint64(5) * mix(out[v]))
        if directed:
            name = mix(name + np.uint64(7) * mix(back[v]))
        out[v] = name

"""Any kernel on labelled graphs, summed over rounds of Weisfeiler-Lehman relabelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64, Floating
from mercer.inputs.graphs import Graphs
from mercer.kernels.algebra.of_kernel import OfKernel
from mercer.kernels.algebra.several import PartFeatures
from mercer.kernels.base import Kernel, State
from mercer.kernels.graphs.refinement import refined


@final
@dataclass(frozen=True)
class WeisfeilerLehmanOver(OfKernel):
    """k(G, G') = sum over rounds i = 0..h of k0(G_i, G'_i), where G_i has the Weisfeiler-Lehman colours of round i.

    Over `VertexHistogram` this is the subtree kernel, over `EdgeHistogram(ends=True)` the Weisfeiler-Lehman edge
    kernel, over `ShortestPath` the Weisfeiler-Lehman shortest path kernel (Shervashidze and others 2011).

    >>> import networkx as nx
    >>> from mercer import kernels
    >>> path, star = nx.path_graph(4), nx.star_graph(3)
    >>> kernels.WeisfeilerLehmanOver(kernels.VertexHistogram(), h=2).fit([path])([path], [path, star])
    array([[32., 22.]])
    """

    kernel: Kernel
    h: int = 3
    edge_labels: bool = False

    domain = Graphs
    reason = "it is a sum of kernels between relabelled graphs"

    def __post_init__(self) -> None:
        name = "WeisfeilerLehmanOver"
        _check.instance(name, "kernel", self.kernel, Kernel, "a kernel on graphs")
        if self.kernel.domain is not Graphs:
            raise _check.fail(name, "kernel", "a kernel on graphs", self.kernel)
        _check.integer(name, "h", self.h, low=0)
        _check.boolean(name, "edge_labels", self.edge_labels)

    def _rounds(self, graphs: Graphs) -> Iterator[Graphs]:
        yield graphs
        for colours in refined(graphs, self.h, edge_labels=self.edge_labels)[1:]:
            yield graphs.relabelled(colours.view(np.int64))

    def resolve(self, objects: Graphs) -> State:
        return State(parts=tuple(self.kernel.resolve(graphs) for graphs in self._rounds(objects)))

    def features(self, objects: Graphs, state: State, dtype: DType) -> PartFeatures:
        rounds = zip(self._rounds(objects), state.parts, strict=True)
        return PartFeatures(tuple(self.kernel.features(graphs, own, dtype) for graphs, own in rounds))

    def align(self, left: PartFeatures, right: PartFeatures, state: State) -> tuple[PartFeatures, PartFeatures]:
        pairs = [self.kernel.align(*parts) for parts in zip(left.parts, right.parts, state.parts, strict=True)]
        return PartFeatures(tuple(pair[0] for pair in pairs)), PartFeatures(tuple(pair[1] for pair in pairs))

    def tile(self, left: PartFeatures, right: PartFeatures, state: State, out: Floating) -> None:
        block = np.empty_like(out)
        out[...] = 0
        for row, column, own in zip(left.parts, right.parts, state.parts, strict=True):
            self.kernel.tile(row, column, own, block)
            out += block

    def tile_entries(self, left: PartFeatures, right: PartFeatures, state: State) -> int:
        parts = zip(left.parts, right.parts, state.parts, strict=True)
        return max(1, min(self.kernel.tile_entries(*part) for part in parts) // (self.h + 1))

    def diagonal(self, features: PartFeatures, state: State) -> Float64:
        total = np.zeros(len(features))
        for part, own in zip(features.parts, state.parts, strict=True):
            total += self.kernel.diagonal(part, own)
        return total

    def single_precision(self, features: PartFeatures, state: State) -> bool:
        rounds = zip(features.parts, state.parts, strict=True)
        return all(self.kernel.single_precision(part, own) for part, own in rounds)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        from mercer.kernels.graphs.histograms import EdgeHistogram
        from mercer.kernels.graphs.shortest_path import ShortestPath

        yield cls(ShortestPath(), h=1)
        yield cls(EdgeHistogram(ends=True), h=2)

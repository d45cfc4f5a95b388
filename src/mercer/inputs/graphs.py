"""Graphs: all nodes and edges of a data set in one block of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from mercer._types import Float64, Index, Int32, Int64
from mercer.errors import InputError, InputTypeError
from mercer.inputs.base import Arrays, end_to_end, misfit, stored
from mercer.inputs.graph_block import assembled
from mercer.inputs.graph_drafts import drafts_of, networkx_draft
from mercer.inputs.ragged import RaggedObjects, fit_together, joined_offsets, offsets_of, take_rows

_PER_NODE = ("labels", "attributes")
_PER_ARC = ("edge_labels", "weights", "edge_attributes")


@dataclass(eq=False, repr=False)
class Graphs(RaggedObjects):
    """A batch of graphs, with the neighbours of every node of every graph one after another (a block CSR matrix).

    An item of the list may be a networkx graph, whose nodes and edges have a ``label``, a ``weight`` or ``attributes``
    (for other names use `from_networkx`); a graph of PyTorch Geometric, GraKeL or RDKit; an adjacency matrix (a square
    NumPy array or SciPy sparse matrix); a list of edges ``(u, v)`` or ``(u, v, weight)``; or a dict with ``edges`` and
    any of ``nodes`` (their number or names), ``labels``, ``edge_labels``, ``weights``, ``attributes``,
    ``edge_attributes``, ``directed``. Labels are whole numbers, strings, or tuples of them; equal labels are equal in
    any batch.

    The rules for special cases:

    - A graph may be empty, and nodes may be isolated (name them in ``nodes`` or ``labels``: a list of edges knows only
      the nodes that it mentions).
    - A self-loop makes a node its own neighbour, once.
    - An edge listed twice (or in both directions, in an undirected graph) is one edge; if its labels or weights differ,
      it is an error, and so are parallel edges of a networkx multigraph.
    - A batch is directed or undirected; mixing the two is an error. A symmetric matrix may be either.
    - Weights that all equal 1 are dropped. Labels and attributes are on every node (edge) of the batch, or on none.

    >>> from mercer.inputs.graphs import Graphs
    >>> graphs = Graphs.coerce([[("a", "b"), ("b", "c")], {"edges": [(0, 1)], "labels": ["C", "O"]}][:1])
    >>> len(graphs), graphs.sizes, graphs.neighbours
    (1, array([3]), array([1, 0, 2, 1], dtype=int32))
    """

    kind: ClassVar[str] = "graphs"

    offsets: Int64
    """The nodes of graph i are ``offsets[i]:offsets[i + 1]``."""
    bounds: Int64
    """The arcs out of node v are ``bounds[v]:bounds[v + 1]``; an undirected edge is two arcs, a loop one."""
    neighbours: Int32
    """Where each arc ends, counted from the first node of its own graph, in increasing order for each node."""
    directed: bool = False
    labels: Int64 | None = None
    """One code per node: whole numbers are themselves, anything else is a hash of its content."""
    attributes: Float64 | None = None
    """One row of real numbers per node."""
    edge_labels: Int64 | None = None
    weights: Float64 | None = None
    """One number per arc; None means 1 for all."""
    edge_attributes: Float64 | None = None

    @classmethod
    def parse(cls, raw: Any) -> Self:
        return cls(**assembled(drafts_of(raw)))

    @classmethod
    def from_networkx(
        cls,
        graphs: Any,
        *,
        label: str = "label",
        edge_label: str = "label",
        weight: str = "weight",
        attributes: str = "attributes",
    ) -> Self:
        """Networkx graphs whose labels, weights and attributes have other names than the usual ones."""
        names = {"label": label, "edge_label": edge_label, "weight": weight, "attributes": attributes}
        items = list(graphs) if not hasattr(graphs, "is_directed") else [graphs]
        _refuse_unknown_names(items, names)
        for number, item in enumerate(items):
            if not hasattr(item, "is_directed"):
                raise InputTypeError(f"Expected networkx graphs, but item {number} is a {type(item).__name__}.")
        return cls(**assembled([networkx_draft(item, number, **names) for number, item in enumerate(items)]))

    sizes = RaggedObjects.lengths

    @property
    def degrees(self) -> Int64:
        """The number of arcs out of each node."""
        return np.diff(self.bounds)

    @property
    def arc_offsets(self) -> Int64:
        """The arcs of graph i are ``arc_offsets[i]:arc_offsets[i + 1]``."""
        return self.bounds[self.offsets]

    @property
    def sources(self) -> Int64:
        """Where each arc starts, counted from the first node of its own graph."""
        local = np.arange(self.offsets[-1]) - np.repeat(self.offsets[:-1], self.sizes)
        return np.repeat(local, self.degrees)

    def relabelled(self, labels: Int64 | None) -> Self:
        """The same graphs with other node labels; everything else is shared."""
        return replace(self, labels=labels)

    def adjacency(self, number: int) -> Float64:
        """The (weighted) adjacency matrix of one graph."""
        start, end = self.arc_offsets[number : number + 2]
        size = int(self.sizes[number])
        matrix = np.zeros((size, size))
        values = 1.0 if self.weights is None else self.weights[start:end]
        matrix[self.sources[start:end], self.neighbours[start:end]] = values
        return matrix

    def take(self, index: Index) -> Self:
        nodes = self._optional(_PER_NODE)
        arcs = self._optional(_PER_ARC)
        *node_arrays, degrees, offsets = take_rows(index, self.offsets, *nodes.values(), self.degrees)
        *arc_arrays, neighbours, _ = take_rows(index, self.arc_offsets, *arcs.values(), self.neighbours)
        parts = dict(zip([*nodes, *arcs], [*node_arrays, *arc_arrays], strict=True))
        return type(self)(offsets, offsets_of(degrees), neighbours, directed=self.directed, **parts)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        extras = {
            name: [getattr(part, name) for part in parts]
            for name in _PER_NODE + _PER_ARC
            if any(getattr(part, name) is not None for part in parts)
        }
        for name, found in extras.items():
            if any(array is None for array in found):
                raise InputError(
                    f"Some of these batches of graphs have {name.replace('_', ' ')}, and others have none."
                )
        if len({part.directed for part in parts}) > 1:
            raise InputError("Directed and undirected graphs cannot be joined.")
        return cls(
            joined_offsets(parts),
            offsets_of(np.concatenate([part.degrees for part in parts])),
            np.concatenate([part.neighbours for part in parts]),
            directed=parts[0].directed,
            **{name: end_to_end(found, cls.kind) for name, found in extras.items()},
        )

    def _optional(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def to_arrays(self) -> Arrays:
        return {
            "offsets": self.offsets,
            "bounds": self.bounds,
            "neighbours": self.neighbours,
            "directed": np.asarray([int(self.directed)], dtype=np.int64),
            **self._optional(_PER_NODE + _PER_ARC),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        offsets, bounds, neighbours, directed = stored(arrays, cls.kind, "offsets", "bounds", "neighbours", "directed")
        extra: dict[str, Any] = {name: arrays[name] for name in _PER_NODE + _PER_ARC if name in arrays}
        if not (_sound_structure(offsets, bounds, neighbours, directed) and _sound_extras(extra, bounds)):
            raise misfit(cls.kind, "offsets, neighbours and labels disagree")
        for name, array in extra.items():
            extra[name] = array.astype(np.int64 if "labels" in name else np.float64)
        own = (offsets.astype(np.int64), bounds.astype(np.int64), neighbours.astype(np.int32))
        graphs = cls(*own, directed=bool(directed[0]), **extra)
        if not graphs.directed and not graphs._symmetric():
            raise misfit(cls.kind, "an undirected edge goes only one way")
        return graphs

    def _symmetric(self) -> bool:
        """Whether every arc has its twin, with the same label, weight and attributes."""
        start = np.repeat(np.repeat(self.offsets[:-1], self.sizes), self.degrees)
        order = np.lexsort((self.sources, start + self.neighbours))  # the arcs by where they end, then start
        there = np.array_equal(self.neighbours[order], self.sources) and np.array_equal(
            self.sources[order], self.neighbours
        )
        return there and all(np.array_equal(array[order], array) for array in self._optional(_PER_ARC).values())


def _sound_structure(offsets: Any, bounds: Any, neighbours: Any, directed: Any) -> bool:
    if not (fit_together(bounds, neighbours) and neighbours.dtype.kind == "i" and fit_together(offsets)):
        return False
    if offsets[-1] != len(bounds) - 1 or directed.shape != (1,) or directed[0] not in (0, 1):
        return False
    degrees = np.diff(bounds)
    sizes = np.repeat(np.repeat(np.diff(offsets), np.diff(offsets)), degrees)
    increasing = np.diff(neighbours.astype(np.int64)) > 0
    first = np.zeros(len(neighbours) + 1, dtype=bool)
    first[bounds] = True
    inside = bool(((neighbours >= 0) & (neighbours < sizes)).all())
    return inside and bool((increasing | first[1:-1]).all()) if len(neighbours) else True


def _sound_extras(extra: dict[str, Any], bounds: Any) -> bool:
    for name, array in extra.items():
        rows = len(bounds) - 1 if name in _PER_NODE else int(bounds[-1])
        dimensions = 2 if name.endswith("attributes") else 1
        kind = "i" if "labels" in name else "f"
        if array.ndim != dimensions or len(array) != rows or array.dtype.kind != kind:
            return False
        if kind == "f" and not np.isfinite(array).all():
            return False
    return True


def _refuse_unknown_names(graphs: list[Any], names: dict[str, str]) -> None:
    """Refuse requested names that no graph has."""
    known = [graph for graph in graphs if hasattr(graph, "is_directed")]
    nodes = {str(key) for graph in known for _, data in graph.nodes(data=True) for key in data}
    ties = {str(key) for graph in known for _, _, data in graph.edges(data=True) for key in data}
    places = {"label": nodes, "edge_label": ties, "weight": ties, "attributes": nodes | ties}
    for parameter, name in names.items():
        found = places[parameter]
        if name not in ("label", "weight", "attributes") and name not in found:
            where = "edge" if found is ties else "node"
            raise InputError(f"No {where} has {name!r} ({parameter}). Found: {', '.join(sorted(found)) or 'nothing'}.")

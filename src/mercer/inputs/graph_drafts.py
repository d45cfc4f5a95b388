"""Single graphs from what users have: networkx graphs, matrices, lists of edges."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mercer._types import Int64
from mercer.errors import DataWarning, InputError, InputTypeError
from mercer.inputs.base import bad_item, listed, not_a_list, refuse_masked, shown
from mercer.inputs.graph_draft import Draft
from mercer.inputs.graph_sources import foreign_draft
from mercer.inputs.vectors import is_sparse

_OF_NODES, _OF_EDGES = ("label", "attributes"), ("label", "weight", "attributes")
"""The attributes that are read from the nodes and edges of networkx graphs."""
_DICT_KEYS = ("edges", "nodes", "labels", "edge_labels", "weights", "attributes", "edge_attributes", "directed")
_ACCEPTED = (
    "a networkx graph, an adjacency matrix (square NumPy array or SciPy sparse matrix), a list of edges (u, v), "
    "a dict with 'edges' and 'labels', or a graph of PyTorch Geometric, GraKeL or RDKit"
)


def drafts_of(raw: Any) -> list[Draft]:
    """A draft of every item of a list, in any form."""
    items = _items(raw)
    _tell_unused([item for item in items if hasattr(item, "is_directed") and hasattr(item, "adj")])
    return [_draft(item, number) for number, item in enumerate(items)]


def _tell_unused(graphs: list[Any]) -> None:
    """Warn of attributes of networkx graphs that are ignored because of their names."""
    nodes = {name for graph in graphs for _, data in graph.nodes(data=True) for name in data}
    ties = {name for graph in graphs for _, _, data in graph.edges(data=True) for name in data}
    said = []
    for what, found, used in (("nodes", nodes, _OF_NODES), ("edges", ties, _OF_EDGES)):
        unused = ", ".join(repr(str(name)) for name in sorted(found - set(used), key=str))
        taken = ", ".join(repr(name) for name in used if name in found)
        if unused:
            said.append(f"{what} have {unused}; used {'is ' + taken if taken else 'are none'}")
    if said:
        warnings.warn(
            f"These networkx graphs have attributes that are ignored: {'; '.join(said)}. Name those that count: "
            "Graphs.from_networkx(graphs, label=..., edge_label=..., weight=..., attributes=...) of "
            "mercer.inputs.graphs, or call them 'label'.",
            DataWarning,
            stacklevel=2,
        )


def _items(raw: Any) -> list[Any]:
    single = hasattr(raw, "is_directed") or isinstance(raw, Mapping) or is_sparse(raw)
    if single or (isinstance(raw, np.ndarray) and raw.ndim == 2 and raw.dtype != object):
        raise not_a_list("graphs", raw)
    return listed(raw, "graphs")


def _draft(item: Any, number: int) -> Draft:
    if hasattr(item, "is_directed") and hasattr(item, "adj"):
        return networkx_draft(item, number)
    if is_sparse(item) or (isinstance(item, np.ndarray) and item.dtype != object):
        return _matrix_draft(item, number)
    if isinstance(item, Mapping):
        return _dict_draft(item, number)
    foreign = foreign_draft(item, number)
    if foreign is not None:
        return _dict_draft(foreign, number) if isinstance(foreign, dict) else foreign
    if isinstance(item, Sequence) and not isinstance(item, str | bytes) and all(_is_edge(edge) for edge in item):
        return _edges_draft(item)
    raise bad_item("graphs", number, item, f"A graph is {_ACCEPTED}. {_hint(item)}".rstrip())


def _hint(item: Any) -> str:
    """A hint about what was probably meant by something that is not a graph."""
    if isinstance(item, str):
        return 'To read SMILES, use kernels.on(column, kernel, as_="smiles") or mercer.inputs.molecules.'
    if isinstance(item, tuple) and len(item) in (2, 3):
        return "It looks like an edge: pass a list of graphs, each of them a list of edges."
    return ""


def _is_edge(edge: Any) -> bool:
    return isinstance(edge, tuple | list) and len(edge) in (2, 3)


def networkx_draft(
    graph: Any,
    number: int,
    label: str = "label",
    edge_label: str = "label",
    weight: str = "weight",
    attributes: str = "attributes",
) -> Draft:
    """A networkx graph (nothing of networkx is imported: its graphs describe themselves)."""
    names = list(graph.nodes)
    place = {name: position for position, name in enumerate(names)}
    arcs = list(graph.edges(data=True))
    different = {(u, v) if graph.is_directed() else frozenset((u, v)) for u, v, _ in arcs}
    if graph.is_multigraph() and len(different) < len(arcs):
        raise InputError(
            f"Graph {number} has parallel edges. Make them one edge with a label or weight, for example by "
            "networkx.Graph(graph), before comparing graphs."
        )
    edges = np.asarray([(place[u], place[v]) for u, v, _ in arcs], dtype=np.int64).reshape(-1, 2)
    nodes = [data for _, data in graph.nodes(data=True)]
    ties = [data for _, _, data in arcs]
    return Draft(
        names,
        edges,
        bool(graph.is_directed()),
        labels=_gathered(nodes, label),
        attributes=_gathered(nodes, attributes),
        edge_labels=_gathered(ties, edge_label),
        weights=_gathered(ties, weight, missing=1.0),
        edge_attributes=_gathered(ties, attributes),
    )


def _gathered(items: list[dict[str, Any]], name: str, missing: Any = None) -> list[Any] | None:
    found = [item.get(name, missing) for item in items]
    return found if any(name in item for item in items) else None


def _matrix_draft(matrix: Any, number: int) -> Draft:
    refuse_masked(matrix, f"Graph {number}")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"Graph {number}: an adjacency matrix is square, got shape {matrix.shape}. "
            "Pass edges as a list of pairs, or as {'edges': array}."
        )
    if matrix.dtype.kind not in "fiub":
        raise InputTypeError(f"Graph {number}: an adjacency matrix holds numbers, got dtype {matrix.dtype}.")
    import scipy.sparse as sp

    # SciPy supports neither half precision nor foreign byte orders.
    native: Any = matrix if is_sparse(matrix) else np.asarray(matrix, dtype=np.float64)
    entries = sp.coo_array(native, copy=True)  # do not modify the caller's matrix
    entries.sum_duplicates()
    values = entries.data.astype(np.float64)
    kept = values != 0
    edges = np.stack([entries.coords[0][kept], entries.coords[1][kept]], axis=1).astype(np.int64)
    values = values[kept]
    back = np.lexsort((edges[:, 0], edges[:, 1]))
    forth = np.lexsort((edges[:, 1], edges[:, 0]))
    symmetric = np.array_equal(edges[back][:, ::-1], edges[forth]) and np.array_equal(
        values[back], values[forth], equal_nan=True
    )
    return Draft(range(matrix.shape[0]), edges, None if symmetric else True, weights=values)


def _edges_draft(item: Sequence[Any]) -> Draft:
    place: dict[Any, int] = {}
    edges = [(place.setdefault(edge[0], len(place)), place.setdefault(edge[1], len(place))) for edge in item]
    weights = [edge[2] if len(edge) == 3 else 1.0 for edge in item]
    return Draft(list(place), np.asarray(edges, dtype=np.int64).reshape(-1, 2), weights=weights)


def _dict_draft(item: Mapping[str, Any], number: int) -> Draft:
    unknown = [key for key in item if key not in _DICT_KEYS]
    if unknown or "edges" not in item:
        problem = f"has the unknown key {unknown[0]!r}" if unknown else "has no 'edges'"
        raise InputError(f"Graph {number} is a dict that {problem}. Keys: {', '.join(_DICT_KEYS)}.")
    names = _names_of(item, number)
    raw = item["edges"]
    edges, triple_weights = _edges_of(raw if isinstance(raw, np.ndarray) else list(raw), names, number)
    labels = item.get("labels")
    if isinstance(labels, Mapping):
        labels = [labels.get(name) for name in names]
    ties = item.get("edge_labels")
    if isinstance(ties, Mapping):
        listed = [(names[u], names[v]) for u, v in edges]
        ties = [ties.get((u, v), ties.get((v, u))) for u, v in listed]
    per_item = {name: item.get(name) for name in ("attributes", "edge_attributes")}
    directed, weights = bool(item.get("directed", False)), item.get("weights", triple_weights)
    return Draft(names, edges, directed, labels=labels, edge_labels=ties, weights=weights, **per_item)


def _names_of(item: Mapping[str, Any], number: int) -> Sequence[Any]:
    """The nodes: as given, else the keys of a dict of labels, else as many as there are labels, else from the edges."""
    nodes, labels, attributes = item.get("nodes"), item.get("labels"), item.get("attributes")
    if nodes is not None:
        names: Sequence[Any] = range(int(nodes)) if isinstance(nodes, int | np.integer) else list(nodes)
        if len(set(names)) < len(names):
            raise InputError(f"Graph {number} names a node twice in 'nodes'.")
        return names
    if isinstance(labels, Mapping):
        return list(labels)
    for per_node in (labels, attributes):
        if per_node is not None:
            return range(len(per_node))
    edges = item["edges"]
    if isinstance(edges, np.ndarray):
        return range(int(edges.max(initial=-1)) + 1)
    ends = [end for edge in edges for end in edge[:2]]
    if all(isinstance(end, int | np.integer) for end in ends):
        return range(max((int(end) for end in ends), default=-1) + 1)
    return list(dict.fromkeys(ends))


def _edges_of(raw: Any, names: Sequence[Any], number: int) -> tuple[Int64, list[Any] | None]:
    """Edges as pairs of node numbers, and their weights where some are triples (u, v, weight)."""
    if isinstance(raw, np.ndarray) and isinstance(names, range):
        return _pairs_of_numbers(raw, number), None
    place = {name: position for position, name in enumerate(names)}
    if {*map(type, raw)} <= {tuple, list} and {*map(len, raw)} <= {2}:
        with contextlib.suppress(KeyError, TypeError):  # the error for the offending edge is raised below
            ends = map(place.__getitem__, itertools.chain.from_iterable(raw))
            return np.fromiter(ends, dtype=np.int64, count=2 * len(raw)).reshape(-1, 2), None
    edges = np.empty((len(raw), 2), dtype=np.int64)
    weights = []
    for position, edge in enumerate(raw):
        if not (_is_edge(edge) or (isinstance(edge, np.ndarray) and edge.shape in ((2,), (3,)))):
            raise InputError(f"Graph {number}: edge {position} is {shown(edge)}, not a pair (u, v).")
        edges[position] = [_number(place, end, number, position) for end in edge[:2]]
        weights.append(edge[2] if len(edge) == 3 else 1.0)
    return edges, weights if any(len(edge) == 3 for edge in raw) else None


def _pairs_of_numbers(raw: Any, number: int) -> Int64:
    edges = raw.reshape(-1, 2) if raw.size == 0 else raw
    if edges.ndim != 2 or edges.shape[1] != 2 or (edges.dtype.kind not in "iu" and edges.size):
        raise InputError(f"Graph {number}: 'edges' as an array has two columns of node numbers, got {raw.shape}.")
    return np.asarray(edges, dtype=np.int64)


def _number(place: dict[Any, int], end: Any, number: int, position: int) -> int:
    if end not in place:
        raise InputError(
            f"Graph {number}: edge {position} ends at {shown(end)}, which is not one of its {len(place)} nodes."
        )
    return place[end]

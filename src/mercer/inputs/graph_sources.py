"""Graphs of other libraries, recognised by their attributes: these libraries are not imported.

- PyTorch Geometric: `edge_index` has arcs in two rows, an undirected edge in both directions. Rows of `x` with a single
  1 among zeros are labels, others attributes; so are those of `edge_attr`. `edge_weight` are weights.
- GraKeL: its `Graph`, and its tuples (edges or matrix, labels of nodes, labels of edges).
- RDKit: atoms labelled by atomic number, bonds by their type, as `mercer.inputs.molecules.molecular_graphs` does.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mercer._types import Int64
from mercer.errors import DataWarning, InputError
from mercer.inputs.graph_draft import Draft


def foreign_draft(item: Any, number: int) -> Draft | dict[str, Any] | None:
    """A draft, or a dict that `Graphs` accepts, of a graph of another library; None for anything else."""
    if hasattr(item, "edge_index") and hasattr(item, "num_nodes"):
        return _geometric(item, number)
    if hasattr(item, "GetAtoms") and hasattr(item, "GetBonds"):
        return molecule_draft(item)
    if hasattr(item, "get_edges") and hasattr(item, "get_vertices") and hasattr(item, "get_labels"):
        return _grakel(item)
    if isinstance(item, tuple | list) and 1 < len(item) <= 3 and _is_grakel_tuple(item):
        return _grakel_tuple(tuple(item), number)
    return None


def molecule_draft(molecule: Any) -> Draft:
    """The heavy atoms of an RDKit molecule, labelled by atomic number, and its bonds, labelled as RDKit does."""
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx(), int(b.GetBondType())) for b in molecule.GetBonds()]
    table = np.asarray(bonds, dtype=np.int64).reshape(-1, 3)
    atoms = np.asarray([atom.GetAtomicNum() for atom in molecule.GetAtoms()], dtype=np.int64)
    return Draft(range(len(atoms)), table[:, :2], labels=atoms, edge_labels=table[:, 2])


def _geometric(data: Any, number: int) -> Draft:
    index = _array(data.edge_index)
    if index.ndim != 2 or index.shape[0] != 2:
        raise InputError(f"Graph {number}: edge_index must have two rows, got shape {index.shape}.")
    arcs = np.ascontiguousarray(index.T.astype(np.int64))
    count = int(data.num_nodes)
    known = {(int(u), int(v)) for u, v in arcs}
    directed = any((v, u) not in known for u, v in known)
    labels, attributes = _labels_or_attributes(getattr(data, "x", None), count, number, "x")
    ties, tie_attributes = _labels_or_attributes(getattr(data, "edge_attr", None), len(arcs), number, "edge_attr")
    weights = getattr(data, "edge_weight", None)
    return Draft(
        range(count),
        arcs,
        directed,
        labels=labels,
        attributes=attributes,
        edge_labels=ties,
        weights=None if weights is None else _array(weights).astype(np.float64),
        edge_attributes=tie_attributes,
    )


def _labels_or_attributes(values: Any, count: int, number: int, name: str) -> tuple[Int64 | None, Any]:
    """Rows with a single 1 among zeros are labels, and so is a column of whole numbers; others are attributes."""
    if values is None:
        return None, None
    rows = _array(values)
    rows = rows.reshape(len(rows), -1)
    if len(rows) != count:
        raise InputError(f"Graph {number}: {name} has {len(rows)} rows, where {count} are needed.")
    if rows.shape[1] > 1 and ((rows == 0) | (rows == 1)).all() and (rows.sum(axis=1) == 1).all():
        return rows.argmax(axis=1).astype(np.int64), None
    if rows.shape[1] == 1 and rows.dtype.kind in "iub":
        return rows[:, 0].astype(np.int64), None
    if number == 0:  # once for all graphs, which all have them
        warnings.warn(
            f"The real numbers in {name!r} of these graphs of PyTorch Geometric are kept as attributes, which no "
            "kernel of Mercer's compares: graphs that differ in them alone look the same. For labels give one-hot rows "
            "or a column of whole numbers.",
            DataWarning,
            stacklevel=2,
        )
    return None, rows.astype(np.float64)


def _array(values: Any) -> Any:
    """Convert a tensor, on any device, or an array."""
    for step in ("detach", "cpu", "numpy"):
        values = getattr(values, step)() if callable(getattr(values, step, None)) else values
    return np.asarray(values)


def _grakel(graph: Any) -> dict[str, Any]:
    nodes = sorted(graph.get_vertices(purpose="any"), key=str)
    ties = graph.get_edges(purpose="any")
    found: dict[str, Any] = {"nodes": nodes, "edges": [tuple(edge[:2]) for edge in ties]}
    for key, kind in (("labels", "vertex"), ("edge_labels", "edge")):
        labels = graph.get_labels(purpose="any", label_type=kind, return_none=True)
        if labels:
            found[key] = dict(labels)
    return _with_direction(found)


def _is_grakel_tuple(item: tuple[Any, ...] | list[Any]) -> bool:
    """Whether this is a tuple of edges and dicts of labels; a list of the same form, as in GraKeL's data sets, could
    also be a list of edges.
    """
    first, *rest = item
    if isinstance(item, list) and not isinstance(rest[0], Mapping):
        return False
    graph = isinstance(first, Mapping | set | frozenset | list) or hasattr(first, "shape")
    return graph and all(part is None or isinstance(part, Mapping) for part in rest)


def _grakel_tuple(item: tuple[Any, ...], number: int) -> dict[str, Any]:
    first, labels, ties = (*item, None, None)[:3]
    edges, weights, nodes = _edges(first, number)
    if labels:
        missing = [node for node in nodes if node not in labels]
        if missing:
            raise InputError(f"Graph {number}: node {missing[0]!r} has no label.")
        nodes = list(labels)
    found: dict[str, Any] = {"nodes": nodes, "edges": edges}
    if weights is not None:
        found["weights"] = weights
    if labels:
        found["labels"] = dict(labels)
    if ties:
        found["edge_labels"] = dict(ties)
    return _with_direction(found)


def _edges(first: Any, number: int) -> tuple[list[Any], list[float] | None, list[Any]]:
    """Edges, their weights and the nodes, from a matrix, a set of pairs, or dicts of pairs or of neighbours."""
    if hasattr(first, "shape"):
        import scipy.sparse as sp

        matrix = sp.coo_array(first)
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"Graph {number}: an adjacency matrix is square, got shape {matrix.shape}.")
        pairs = list(zip(*(one.tolist() for one in matrix.coords), strict=True))
        return pairs, matrix.data.astype(float).tolist(), list(range(matrix.shape[0]))
    if isinstance(first, Mapping):
        return _edges_of_dict(first)
    pairs = [tuple(edge[:2]) for edge in first]
    weights = [float(edge[2]) for edge in first if len(edge) == 3]
    return pairs, weights if len(weights) == len(pairs) and pairs else None, _ends(pairs)


def _edges_of_dict(first: Mapping[Any, Any]) -> tuple[list[Any], list[float] | None, list[Any]]:
    """Edges of a dict from pairs to weights, or from nodes to their neighbours."""
    if all(isinstance(key, tuple) and len(key) == 2 for key in first):
        return list(first), [float(weight) for weight in first.values()], _ends(list(first))
    pairs, weights = [], []
    for node, neighbours in first.items():
        for other in neighbours:
            pairs.append((node, other))
            weights.append(float(neighbours[other]) if isinstance(neighbours, Mapping) else 1.0)
    return pairs, weights, list(dict.fromkeys([*first, *_ends(pairs)]))


def _ends(pairs: Sequence[Any]) -> list[Any]:
    return list(dict.fromkeys(end for pair in pairs for end in pair))


def _with_direction(found: dict[str, Any]) -> dict[str, Any]:
    """Directed, unless every edge exists in both directions, or none does."""
    pairs = {tuple(pair) for pair in found["edges"]}
    both = sum((v, u) in pairs for u, v in pairs)
    return {**found, "directed": 0 < both < len(pairs)}

"""Assembles single graphs into the one block of arrays of `Graphs`."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._types import Float64, Int64
from mercer.errors import InputError
from mercer.inputs.base import shown
from mercer.inputs.graph_draft import Draft
from mercer.inputs.hashing import label_code
from mercer.inputs.ragged import offsets_of


def assembled(drafts: list[Draft]) -> dict[str, Any]:
    """The arguments of `Graphs`: arcs of all graphs sorted, repeated ones merged, labels as codes."""
    directed = _directedness(drafts)
    offsets = offsets_of([len(draft.names) for draft in drafts])
    counts = np.asarray([len(draft.edges) for draft in drafts])
    graph = np.repeat(np.arange(len(drafts)), counts)
    ends = np.concatenate([draft.edges for draft in drafts]) if drafts else np.empty((0, 2), dtype=np.int64)
    outside = (ends < 0) | (ends >= np.diff(offsets)[graph][:, None])
    if outside.any():
        where = int(np.flatnonzero(outside.any(axis=1))[0])
        number = int(graph[where])
        raise InputError(
            f"Graph {number}: the edge {tuple(ends[where].tolist())} ends outside its "
            f"{len(drafts[number].names)} nodes, which are numbered from 0."
        )
    per_edge = {
        "edge_labels": _label_codes(drafts, "edge_labels"),
        "weights": _weights(drafts),
        "edge_attributes": _rows(drafts, "edge_attributes"),
    }
    source, target = ends[:, 0] + offsets[graph], ends[:, 1]
    edge = np.arange(len(ends))
    if not directed:
        twin = np.flatnonzero(ends[:, 0] != ends[:, 1])
        source = np.concatenate([source, ends[twin, 1] + offsets[graph[twin]]])
        target = np.concatenate([target, ends[twin, 0]])
        edge = np.concatenate([edge, twin])
    order = np.lexsort((target, source))
    source, target, edge = source[order], target[order], edge[order]
    repeated = np.zeros(len(source), dtype=bool)
    repeated[1:] = (source[1:] == source[:-1]) & (target[1:] == target[:-1])
    _refuse_disagreement(drafts, graph, ends, edge, repeated, per_edge)
    source, target, edge = source[~repeated], target[~repeated], edge[~repeated]
    return {
        "offsets": offsets,
        "bounds": offsets_of(np.bincount(source, minlength=int(offsets[-1]))),
        "neighbours": target.astype(np.int32),
        "directed": directed,
        "labels": _label_codes(drafts, "labels"),
        "attributes": _rows(drafts, "attributes"),
        **{name: None if values is None else values[edge] for name, values in per_edge.items()},
    }


def _directedness(drafts: list[Draft]) -> bool:
    first: dict[bool | None, int] = {}
    for number, draft in enumerate(drafts):
        first.setdefault(draft.directed, number)
    if True in first and False in first:
        raise InputError(
            f"Directed and undirected graphs cannot be compared: graph {first[True]} is directed, graph {first[False]} "
            "is not. Turn one kind into the other first, for example by networkx.Graph.to_directed()."
        )
    return True in first


def _refuse_disagreement(
    drafts: list[Draft], graph: Any, ends: Any, edge: Any, repeated: Any, per_edge: dict[str, Any]
) -> None:
    again = np.flatnonzero(repeated)
    for name, values in per_edge.items():
        if values is None:
            continue
        differs = values[edge[again]] != values[edge[again - 1]]
        wrong = again[differs if differs.ndim == 1 else differs.any(axis=1)]
        if len(wrong):
            where = int(edge[wrong[0]])
            number = int(graph[where])
            names = drafts[number].names
            raise InputError(
                f"Graph {number} lists the edge ({shown(names[ends[where, 0]])}, {shown(names[ends[where, 1]])}) "
                f"more than once, with different {name.replace('_', ' ')}. Parallel edges must be made one first."
            )


def _label_codes(drafts: list[Draft], name: str) -> Int64 | None:
    """Labels as int64: whole numbers unchanged, anything else as a hash of its content."""
    given = _values(drafts, name)
    if given is None:
        return None
    codes: dict[Any, int] = {}
    found = []
    for number, (draft, labels) in enumerate(zip(drafts, given, strict=True)):
        if isinstance(labels, np.ndarray) and labels.dtype.kind in "iub" and labels.ndim == 1:
            found.append(labels.astype(np.int64))
            continue
        own = []
        for position, label in enumerate(labels):
            key = label.item() if isinstance(label, np.generic) else label
            if key is None or isinstance(key, float):
                raise _bad_label(draft, number, name, position, key)
            try:
                if key not in codes:
                    codes[key] = label_code(key)
            except (TypeError, OverflowError):
                raise _bad_label(draft, number, name, position, key) from None
            own.append(codes[key])
        found.append(np.asarray(own, dtype=np.int64))
    return np.concatenate(found)


def _bad_label(draft: Draft, number: int, name: str, position: int, label: Any) -> InputError:
    where = f"node {shown(draft.names[position])}" if name == "labels" else f"edge {position}"
    if label is None or label != label:
        return InputError(
            f"Graph {number}: {where} has no label, while others have. Label all or none; a special label "
            "such as '?' will do."
        )
    return InputError(
        f"Graph {number}: {where} has the label {shown(label)}. Labels are whole numbers, strings, or tuples of them; "
        "real numbers go into 'attributes'."
    )


def _values(drafts: list[Draft], name: str) -> list[Any] | None:
    """One attribute of each graph, or None; if one graph has it, all others must."""
    values = [getattr(draft, name) for draft in drafts]
    first = next((number for number, value in enumerate(values) if value is not None), None)
    if first is None:
        return None
    what, per_edge = name.replace("_", " "), name.startswith("edge")
    for number, draft in enumerate(drafts):
        count = len(draft.edges) if per_edge else len(draft.names)
        if values[number] is None and count:
            where = "edge 0" if per_edge else f"node {shown(draft.names[0])}"
            raise InputError(
                f"Graph {number} has no {what} ({where} is the first without), while graph {first} has. "
                f"Give {what} to every graph, or to none."
            )
        values[number] = [] if values[number] is None else values[number]
        if len(values[number]) != count:
            nouns = "edges" if per_edge else "nodes"
            raise InputError(f"Graph {number} has {len(values[number])} {what} for {count} {nouns}.")
    return values


def _weights(drafts: list[Draft]) -> Float64 | None:
    found = []
    for number, draft in enumerate(drafts):
        if draft.weights is None:
            found.append(np.ones(len(draft.edges)))
            continue
        try:
            weights = np.asarray(draft.weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"Graph {number}: the weights of edges must be numbers.") from None
        if weights.shape != (len(draft.edges),):
            raise InputError(f"Graph {number} has {weights.size} weights for {len(draft.edges)} edges.")
        bad = np.flatnonzero(~np.isfinite(weights))
        if len(bad):
            u, v = (draft.names[end] for end in draft.edges[bad[0]])
            raise InputError(
                f"Graph {number}: the weight of edge ({shown(u)}, {shown(v)}) is {weights[bad[0]]}. Weights must be "
                "finite; leave out edges that are not there."
            )
        found.append(weights)
    weights = np.concatenate(found)
    return None if (weights == 1).all() else weights


def _rows(drafts: list[Draft], name: str) -> Float64 | None:
    given = _values(drafts, name)
    if given is None:
        return None
    what = name.replace("_", " ")
    found: list[Float64] = []
    width: int | None = None
    for number, values in enumerate(given):
        if not len(values):
            continue
        try:
            rows = np.asarray(values, dtype=np.float64)
            rows = rows.reshape(len(values), -1 if width is None else width)
        except (TypeError, ValueError):
            raise InputError(
                f"Graph {number}: {what} must be as many real numbers each as in the first graph."
            ) from None
        bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(bad):
            raise InputError(f"Graph {number}: {what} at position {bad[0]} are not finite.")
        width = rows.shape[1]
        found.append(rows)
    return np.concatenate(found) if found else np.empty((0, 0))

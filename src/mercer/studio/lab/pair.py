"""Two objects, a kernel, and what they share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mercer.errors import KernelError, MercerError
from mercer.inputs.trees import Trees
from mercer.kernels.base import Kernel
from mercer.kernels.text.expression import parse
from mercer.studio import drawn, fields
from mercer.studio.lab.placing import PLACED, placed
from mercer.studio.refusal import Refusal, refuse
from mercer.theory.shared import Shared, shared, unsplit
from mercer.theory.showing import plain

_MOST = 60
"""The most contributions that are listed; the rest is summed up."""
_ROUNDING = 1e-12
"""Contributions smaller than this, relative to the largest, are rounding errors."""
_LONGEST = 4000
"""The most characters of an object."""


def pair(told: Mapping[str, Any]) -> dict[str, Any]:
    """k, its normalised value, and the contributions that add up to it."""
    kind = fields.choice(told, "kind", tuple(READERS))
    x, z = (_object(kind, told, name) for name in ("x", "z"))
    try:
        kernel = parse(fields.text(told, "kernel", longest=1000))
        found, why = _compared(kernel, x, z)
    except MercerError as error:
        raise Refusal.of(error, "kernel") from error
    sizes = np.abs(found.contributions)
    listed = min(_MOST, int(np.count_nonzero(sizes > _ROUNDING * sizes.max(initial=0.0))))
    rest = float(found.contributions[listed:].sum())
    return {
        "value": plain(found.value),
        "cosine": plain(found.cosine),
        "norms": plain(list(found.norms)),
        "how": found.how,
        "features": [
            {"name": plain(name), "contribution": plain(float(amount))}
            for name, amount in zip(found.names[:listed], found.contributions[:listed], strict=True)
        ],
        "rest": plain(rest),
        "more": int(np.count_nonzero(sizes[listed:] > _ROUNDING * sizes.max(initial=0.0))),
        "why": why,
        "left": _sided(kind, kernel, found, found.left, x),
        "right": _sided(kind, kernel, found, found.right, z),
        "objects": [_drawn(kind, one, str(told[name])) for name, one in (("x", x), ("z", z))],
        "python": _python(kernel, found, x, z),
    }


def _compared(kernel: Kernel, x: Any, z: Any) -> tuple[Shared, str]:
    """What two objects share, or the value alone and why it cannot be split."""
    try:
        return shared(kernel, x, z), ""
    except KernelError as error:
        return unsplit(kernel, x, z), str(error)


def _sided(
    kind: str, kernel: Kernel, found: Shared, known: tuple[tuple[Any, float], ...], one: Any
) -> list[dict[str, Any]]:
    """The parts of one object with their shares: those that the kernel knows, or those that features name."""
    if known or kind not in PLACED:
        return [{"part": plain(part), "share": plain(share)} for part, share in known]
    return [{**part, "share": plain(part["share"])} for part in placed(kind, kernel, found, one)]


def _python(kernel: Kernel, found: Shared, x: Any, z: Any) -> str:
    if found.how == "whole":
        together = {name: [x[name], z[name]] for name in x} if isinstance(x, dict) and "edges" not in x else [x, z]
        given = f"kernel = kernels.parse({str(kernel)!r})\nobjects = {together!r}"
        return f"from mercer import kernels\n\n{given}\nprint(kernel.fit(objects)(objects)[0, 1])"
    return f"from mercer import kernels, shared\n\nprint(shared(kernels.parse({str(kernel)!r}), {x!r}, {z!r}))"


def _object(kind: str, told: Mapping[str, Any], name: str) -> Any:
    text = fields.text(told, name, longest=_LONGEST)
    try:
        return READERS[kind](text)
    except Refusal as error:
        raise Refusal(str(error), field=name) from error
    except MercerError as error:
        raise Refusal.of(error, name) from error
    except (ValueError, TypeError, IndexError, RecursionError) as error:
        raise Refusal(f"This is not read as one of {kind}: {error}", field=name) from error


def _numbers(text: str) -> list[float]:
    return [float(one) for one in re.split(r"[\s,;]+", text.strip()) if one]


def _row(text: str) -> dict[str, Any]:
    """``mass=4.5, colour=black``, or a JSON object."""
    if text.lstrip().startswith("{"):
        found = json.loads(text)
        if not isinstance(found, dict):
            refuse("A row is an object of cells.")
        return found
    cells = (one.partition("=") for one in re.split(r"[,\n]+", text) if one.strip())
    return {name.strip(): _cell(value.strip()) for name, _, value in cells}


def _cell(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _graph(text: str) -> dict[str, Any]:
    """Edges and labelled nodes, ``0-1 1-2 2-0; C C N``; the labels may be left out."""
    edges, _, labels = text.partition(";")
    found = [tuple(int(end) for end in one.split("-")) for one in edges.split()]
    if any(len(edge) != 2 or min(edge) < 0 or max(edge) > 60 for edge in found):
        refuse("An edge is written 0-1, between nodes 0 to 60.")
    nodes = max((end for edge in found for end in edge), default=0) + 1
    names = labels.split() or ["*"] * nodes
    if len(names) < nodes:
        refuse(f"There are {nodes} nodes, but {len(names)} labels.")
    return {"edges": found, "labels": names}


def _tree(text: str) -> str:
    one = " ".join(text.split())
    Trees.parse([one])  # a missing bracket is an error in the tree, not in the kernel
    return one


READERS: Mapping[str, Callable[[str], Any]] = {
    "strings": lambda text: text.strip("\n"),
    "documents": lambda text: text.strip(),
    "sets": lambda text: [one for one in re.split(r"[\s,;]+", text) if one],
    "trees": _tree,
    "graphs": _graph,
    "molecules": lambda text: drawn.molecule_as_graph(text.strip()),
    "series": _numbers,
    "vectors": _numbers,
    "rows": _row,
}


def _drawn(kind: str, one: Any, told: str) -> dict[str, Any] | None:
    """An object as the page draws it."""
    if kind == "trees":
        return drawn.tree(one)
    if kind == "molecules":
        return drawn.molecule(told.strip())
    return drawn.graph(one["edges"], one["labels"]) if kind == "graphs" else None

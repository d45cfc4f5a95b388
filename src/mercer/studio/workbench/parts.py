"""The parts of an object and what each adds to a prediction: letters, words, nodes, atoms or columns.

Counting kernels give exact shares, which add up to the decision. For any other kernel, the share of a part is what the
decision loses when that part becomes unknown: a letter or label that occurs nowhere, an atom of no element, a number at
its median.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mercer.errors import MercerError
from mercer.readers.data import CATEGORY, NUMERIC, SEQUENCE, SMILES, TEXT, TREE, Column, Data
from mercer.studio import drawn
from mercer.studio.workbench.leaning import Leaning

EXACT, UNKNOWN = "exact", "unknown"
_MOST = 400
"""The most parts of an object that are coloured: nobody looks at more one by one."""
_BLANK = "\ue000"
"""A letter, word or label that occurs in no data: it is reserved for private use."""
_WORD = re.compile(r"\S+|\s+")
_PIECE = re.compile(r"\w+|\W+")
_SPACED = 3
"""A text with at least this many spaces is coloured word by word."""
Lost = Callable[[Sequence[str]], list[float]]
"""What the decision loses with each of several other contents."""


def parts_of(lean: Leaning, one: Data) -> dict[str, Any]:
    """The parts of the only object of `one`."""
    if one.kind == "table":
        return _of_row(lean, one)
    exact = _exactly(lean, one)
    if exact is not None:
        return exact
    cells = {"strings": _of_text, "trees": _of_tree}.get(one.kind)
    if cells is not None:
        content = str(one.objects[0])
        return cells(content, functools.partial(_lost, lean, one))
    return _of_graph(lean, one) if one.kind == "graphs" else _told([], [], UNKNOWN)


def _told(parts: Sequence[Any], shares: Sequence[float], how: str, **more: Any) -> dict[str, Any]:
    blank: dict[str, Any] = {"letters": False, "drawing": None, "columns": []}
    told = {"parts": [str(part) for part in parts[:_MOST]], "shares": [float(share) for share in shares[:_MOST]]}
    return {**blank, **told, "how": how, **more}


def _exactly(lean: Leaning, one: Data) -> dict[str, Any] | None:
    try:
        found = lean.model.estimator.explain(lean.model.objects(one), by="features")[0]
    except (MercerError, AttributeError):
        return None
    shares = [float(share) for share in lean.total(np.asarray(found.contributions))]
    if one.kind == "graphs":
        return _told(found.parts, shares, EXACT, drawing=drawn.graph_of(one.objects, 0))
    if one.kind == "strings" and "".join(map(str, found.parts)) == str(one.objects[0]):
        return _coloured(str(one.objects[0]), shares, EXACT)
    if one.kind == "strings":
        return _by_words(str(one.objects[0]), dict(zip(map(str, found.parts), shares, strict=True)))
    if one.kind == "trees":
        return None  # fragments have no single node to be drawn at
    return _told(found.parts, shares, EXACT)


def _coloured(text: str, shares: Sequence[float], how: str) -> dict[str, Any]:
    """Coloured letter by letter, or word by word if a text has spaces."""
    if text.count(" ") < _SPACED:
        return _told(list(text), shares, how, letters=True)
    words = [(found.group(), found.span()) for found in _WORD.finditer(text)]
    sums = [float(np.sum(shares[start:end])) for _, (start, end) in words]
    return _told([word for word, _ in words], sums, how, letters=True)


def _by_words(text: str, shares: dict[str, float]) -> dict[str, Any]:
    """The words of a text, each with its share of what the word adds; for other features, their list."""
    pieces = [found.group() for found in _PIECE.finditer(text)]
    keys = [piece if piece in shares else piece.lower() for piece in pieces]
    if any(name not in keys for name in shares):
        return _told(list(shares), list(shares.values()), EXACT)
    times = {name: keys.count(name) for name in shares}
    return _told(pieces, [shares[key] / times[key] if key in shares else 0.0 for key in keys], EXACT, letters=True)


def _of_text(text: str, lost: Lost) -> dict[str, Any]:
    pieces = [found.group() for found in _WORD.finditer(text)] if text.count(" ") >= _SPACED else list(text)
    pieces = pieces[:_MOST]
    rest = text[sum(map(len, pieces)) :]
    changed = [
        "".join([*pieces[:place], _BLANK * len(piece), *pieces[place + 1 :]]) + rest
        for place, piece in enumerate(pieces)
    ]
    return _told(pieces, lost(changed), UNKNOWN, letters=True)


def _of_tree(text: str, lost: Lost) -> dict[str, Any]:
    picture = drawn.tree(text)
    if picture is None:
        return _told([], [], UNKNOWN)
    return _told(picture["labels"], lost(drawn.without_labels(text, _BLANK)), UNKNOWN, drawing=picture)


def _of_molecule(smiles: str, lost: Lost) -> dict[str, Any]:
    picture = drawn.molecule(smiles)
    if picture is None:
        return _told([], [], UNKNOWN)
    return _told(picture["labels"], lost(drawn.without_atoms(smiles)), UNKNOWN, drawing=picture)


def _of_graph(lean: Leaning, one: Data) -> dict[str, Any]:
    picture, labels = drawn.graph_of(one.objects, 0), one.objects.labels
    if picture is None or labels is None:
        return _told([], [], UNKNOWN)
    unknown = int(np.iinfo(np.int64).min)  # a code that no label has
    copies = one.take(np.zeros(len(labels), dtype=np.intp))
    codes = np.tile(labels, (len(labels), 1))
    np.fill_diagonal(codes, unknown)
    changed = dataclasses.replace(copies, objects=copies.objects.relabelled(codes.ravel()))
    try:
        shares = [float(share) for share in lean(one)[0] - lean(changed)]
    except MercerError:
        return _told([], [], UNKNOWN)
    return _told(picture["labels"], shares, UNKNOWN, drawing=picture)


_INSIDE = {SEQUENCE: _of_text, TEXT: _of_text, TREE: _of_tree, SMILES: _of_molecule}


def _of_row(lean: Leaning, one: Data) -> dict[str, Any]:
    """What each column adds, and the letters, nodes or atoms of those that have any."""
    names = [name for name, _ in lean.model.preparation.columns if name in one.objects]
    fills = dict(zip(lean.model.preparation.names(*NUMERIC), lean.model.preparation.fills, strict=True))
    columns = []
    for name in names:
        column = one.objects[name]
        if column.kind in NUMERIC:
            share = _lost(lean, one, [fills.get(name, 0.0)], name)[0]
        elif column.kind == CATEGORY:
            share = _lost(lean, one, [_BLANK], name)[0]
        else:
            share = 0.0
        inside = None
        if column.kind in _INSIDE and column.values[0] is not None:
            inside = _INSIDE[column.kind](
                str(column.values[0]),
                functools.partial(_lost, lean, one, column=name),
            )
            share = float(np.sum(inside["shares"]))
        columns.append({"name": name, "value": _cell(column), "share": float(share), "inside": inside})
    return _told([], [], UNKNOWN, columns=columns)


def _cell(column: Column) -> str:
    value = column.values[0]
    if column.kind in NUMERIC:
        return "" if np.isnan(value) else f"{value:g}"
    return "" if value is None else str(value)[:_MOST]


def _lost(lean: Leaning, one: Data, contents: Sequence[Any], column: str | None = None) -> list[float]:
    """What the decision loses with each other content of the object, or of one of its cells; nothing where the model
    cannot read that."""
    if not len(contents):
        return []
    try:
        return [float(loss) for loss in lean(one)[0] - lean(_with(one, contents, column))]
    except MercerError:
        if len(contents) == 1:
            return [0.0]
    return [loss for content in contents for loss in _lost(lean, one, [content], column)]


def _with(one: Data, contents: Sequence[Any], column: str | None) -> Data:
    """Copies of an object, each with its own content."""
    copies = one.take(np.zeros(len(contents), dtype=np.intp))
    if column is None:
        return dataclasses.replace(copies, objects=list(contents))
    own = one.objects[column]
    values = np.empty(len(contents), dtype=own.values.dtype if own.kind in NUMERIC else object)
    values[:] = contents
    return dataclasses.replace(copies, objects={**copies.objects, column: dataclasses.replace(own, values=values)})

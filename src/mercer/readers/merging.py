"""Several files of one format, read in the same way and merged."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.inputs.vectors import is_sparse
from mercer.readers.data import CATEGORY, TEXT, Column, Data
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted
from mercer.readers.reading import read_source
from mercer.readers.source import Source


def read_alike(name: str, sources: Sequence[Source], format_: str, options: Options) -> list[Data]:
    """Read each file; columns whose kinds differ between files are read again as one kind."""
    parts = [read_source(source, format_, options) for source in sources]
    kinds = {part.kind for part in parts}
    if len(kinds) > 1 or kinds & {"gram", "graphs"}:
        what = f"its files hold {' and '.join(sorted(kinds))}, which are not put together"
        raise problem(name, what, hint="Name one of the files.")
    if parts[0].kind != "table":
        return parts
    agreed = _agreed(parts, options)
    if agreed != options:
        parts = [read_source(source, format_, agreed) for source in sources]
    for part in parts[1:]:
        differing = set(part.objects) ^ set(parts[0].objects)
        if differing:
            key = min(differing)
            here, there = (part, parts[0]) if key in part.objects else (parts[0], part)
            what = f"no column {quoted(key)}, which {here.name} has"
            raise problem(there.name, what, hint="The files of a folder need the same columns.")
    return parts


def _agreed(parts: Sequence[Data], options: Options) -> Options:
    """Options with which all files have columns of the same kinds, and rows named by the same column."""
    kinds = _gathered(parts, "kind")
    written = _gathered(parts, "style")
    torn = {key: found for key, found in kinds.items() if len(found) > 1 or len(written[key] - {""}) > 1}
    text = tuple(key for key, found in torn.items() if TEXT in found)
    categories = tuple(key for key, found in torn.items() if TEXT not in found)
    ids = {part.detail.get("id") for part in parts}
    id_ = options.id if len(ids) == 1 else next(key for key in sorted(ids, key=str) if key is not None)
    return dataclasses.replace(
        options, text=(*options.text, *text), categories=(*options.categories, *categories), id=id_
    )


def _gathered(parts: Sequence[Data], attribute: str) -> dict[str, set[str]]:
    """The values of an attribute of the columns of each name, over all parts."""
    found: dict[str, set[str]] = {}
    for part in parts:
        for key, column in part.objects.items():
            found.setdefault(key, set()).add(getattr(column, attribute))
    return found


def merged(name: str, parts: Sequence[Data], files: Sequence[str]) -> Data:
    """The objects of all parts, named after their files and positions."""
    first = parts[0]
    labels = None
    if all(part.labels is not None for part in parts):
        labels = np.concatenate([np.asarray(part.labels).astype(np.str_) for part in parts])
    return Data(
        name,
        "folder",
        first.kind,
        _objects(parts),
        labels,
        first.target,
        [f"{file}:{_place(part, row)}" for file, part in zip(files, parts, strict=True) for row in range(len(part))],
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        detail=first.detail,
    )


def _place(part: Data, row: int) -> str:
    """The name of an object in its part, or its line."""
    return str(part.lines[row]) if part.ids is None and part.lines is not None else part.name_of(row)


def _objects(parts: Sequence[Data]) -> Any:
    kind = parts[0].kind
    if kind == "table":
        keys = parts[0].objects
        return {key: _column([part.objects[key] for part in parts]) for key in keys}
    if kind != "vectors":
        return list(itertools.chain.from_iterable(part.objects for part in parts))
    matrices = [part.objects for part in parts]
    if not any(is_sparse(matrix) for matrix in matrices):
        widths = {matrix.shape[1] for matrix in matrices}
        if len(widths) > 1:
            raise problem(parts[0].name, f"vectors of {sorted(widths)} numbers", hint="All need the same length.")
        return np.concatenate(matrices)
    width = max(matrix.shape[1] for matrix in matrices)
    import scipy.sparse as sp

    rows = [sp.csr_array(matrix) for matrix in matrices]
    widened = [sp.csr_array((one.data, one.indices, one.indptr), shape=(one.shape[0], width)) for one in rows]
    return sp.csr_array(sp.vstack(widened))


def _column(parts: Sequence[Column]) -> Column:
    assert len({part.kind for part in parts}) == 1 or parts[0].kind in (CATEGORY, TEXT)
    return Column(parts[0].name, parts[0].kind, np.concatenate([part.values for part in parts]), parts[0].style)

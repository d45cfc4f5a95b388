"""Labels from a file of their own: one per line in the order of the objects, or ids and labels."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mercer.readers.opening import open_source
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted

_SPLIT = re.compile(r"[\t,;]| +")


def read_labels(path: str, ids: Sequence[str] | None, n: int, options: Options) -> tuple[list[str], str]:
    """A label for each of `n` objects, and what the labels are called."""
    source = open_source(path, options)
    rows = [
        (number, [cell.strip() for cell in _SPLIT.split(line.strip(), maxsplit=1)])
        for number, line in source.numbered
        if line.strip()
    ]
    name = "label"
    if rows and all(len(cells) >= 2 for _, cells in rows) and ids is not None:
        return _by_id(source.name, rows, ids), name
    if len(rows) == n + 1 and rows[0][1][0].lower() in ("label", "labels", "target", "class", "y"):
        name, rows = rows[0][1][0], rows[1:]
    if len(rows) != n:
        raise problem(
            source.name,
            f"{count(len(rows), 'label')} for {count(n, 'object')}",
            hint="Write one label per line, in the order of the objects, or lines of id and label.",
        )
    return [" ".join(cells) for _, cells in rows], name


def _by_id(name: str, rows: list[tuple[int, list[str]]], ids: Sequence[str]) -> list[str]:
    known: dict[str, str] = {}
    for line, (key, label) in rows:
        if known.setdefault(key, label) != label:
            what = f"the id {quoted(key)} has two labels, {quoted(known[key])} and {quoted(label)}"
            raise problem(name, what, line=line, hint="Keep one of them.")
    absent = [key for key in ids if key not in known]
    if absent:
        raise problem(
            name,
            f"{count(len(absent), 'object')} of {len(ids):,} without a label, the first {quoted(absent[0])}",
            hint="Ids must match exactly, including case.",
        )
    return [known[key] for key in ids]

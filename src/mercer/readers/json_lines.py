"""JSON lines, or one array of objects: texts with labels, rows of a table, or graphs as nodes and links."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from mercer.readers.data import Data
from mercer.readers.graph_files import graphs_of
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted, reason
from mercer.readers.source import Source
from mercer.readers.tables import table_of

_TEXTS = ("text", "sequence", "string")
_LABELS = ("label", "class", "target", "y")
_DEPTH = 50  # levels of nesting: far more than data has, and far fewer than exhaust Python's stack
_HINT = "Write one object per line (JSON lines)."
_ARRAY = "Write an array of objects, [{...}, {...}], or one object per line (JSON lines)."
_BLANK = re.compile(r"[ \t\r\n]*")

Rows = list[tuple[int, dict[str, Any]]]
"""The numbers of lines and the objects on them."""


def read_jsonl(source: Source, options: Options) -> Data:
    """One JSON object per line, or an array of objects, all of the same form as the first."""
    lines = source.full_lines
    if lines[0][1].lstrip().startswith("["):
        rows = _array(source)
    else:
        rows = [(number, _object(source.name, number, line)) for number, line in lines]
    first = rows[0][1]
    if "nodes" in first and ("links" in first or "edges" in first):
        return graphs_of(source.name, rows, options)
    key = next((key for key in _TEXTS if isinstance(first.get(key), str)), None)
    label = options.target or next((name for name in _LABELS if name in first), None)
    if key is not None and set(first) <= {key, label, "id"}:
        return _texts(source.name, rows, key, label)
    return _table(source.name, rows, options)


def _array(source: Source) -> Rows:
    """The objects of an array, and the lines on which they begin."""
    text, name, line, at = source.text, source.name, source.first, 0
    if _is_deep(text):
        raise problem(name, f"JSON nested more than {_DEPTH} levels deep", line=line, hint=_HINT)
    decoder = json.JSONDecoder(parse_constant=_refuse)
    rows: Rows = []
    place = _next(text, text.index("[") + 1)
    while text[place : place + 1] not in ("]", ""):
        line, at = line + text.count("\n", at, place), place
        try:
            found, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise problem(name, f"not JSON: {reason(error)}", line=line, hint=_ARRAY) from error
        rows.append((line, _checked(name, line, found, text[at:place])))
        place = _next(text, place)
        if text[place : place + 1] == "," and text[(place := _next(text, place + 1)) : place + 1] != "]":
            continue
        if text[place : place + 1] != "]":
            where = line + text.count("\n", at, place)
            raise problem(name, "not JSON: a comma or the end of the array is missing", line=where, hint=_ARRAY)
    if not rows or text[place + 1 :].strip():
        what = "something follows the array" if rows else "an array without objects"
        raise problem(name, what, line=line + text.count("\n", at, place), hint=_ARRAY)
    return rows


def _next(text: str, place: int) -> int:
    """The place of the next character that is not blank."""
    found = _BLANK.match(text, place)
    return place if found is None else found.end()


def _object(name: str, line: int, text: str) -> dict[str, Any]:
    if _is_deep(text):
        raise problem(name, f"JSON nested more than {_DEPTH} levels deep", line=line, hint=_HINT)
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise problem(name, f"not JSON: {reason(error)}", line=line, hint=_HINT) from error
    return _checked(name, line, found, text)


def _checked(name: str, line: int, found: Any, text: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise problem(name, f"an object {{...}} is expected, not {quoted(text)}", line=line, hint=_HINT)
    return found


def _is_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= _DEPTH:
        return False
    depth = 0
    for mark in text:
        depth += (mark in "[{") - (mark in "]}")
        if depth > _DEPTH:
            return True
    return False


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is not a number in JSON")


def _texts(name: str, rows: Rows, key: str, label: str | None) -> Data:
    for line, row in rows:
        if not isinstance(row.get(key), str):
            hint = f"Every object needs {quoted(key)}, as the first one has."
            raise problem(name, f"{quoted(key)} is missing or not a string", line=line, hint=hint)
    labels = ["" if label is None or row.get(label) is None else str(row[label]) for _, row in rows]
    return Data(
        name,
        "jsonl",
        "strings",
        [row[key] for _, row in rows],
        np.array(labels) if any(labels) else None,
        label or "label",
        [str(row.get("id", line)) for line, row in rows],
        [line for line, _ in rows],
    )


def _table(name: str, rows: Rows, options: Options) -> Data:
    names = list(dict.fromkeys([*(key for _, row in rows for key in row), *options.only]))
    columns: dict[str, list[str]] = {key: [] for key in names}
    for line, row in rows:
        for key in names:
            value = row.get(key)
            if isinstance(value, dict | list):
                hint = f"Flatten it, or leave it out of the file: columns hold numbers or text ({key})."
                raise problem(name, "a list or an object in a table", line=line, column=key, hint=hint)
            columns[key].append("" if value is None else str(value))
    return table_of(name, "jsonl", columns, [line for line, _ in rows], options)

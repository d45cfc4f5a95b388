"""JSON lines: texts with labels, rows of a table, or graphs as nodes and links."""

from __future__ import annotations

import json
from typing import Any

from mercer.readers.data import Data
from mercer.readers.finishing import finished
from mercer.readers.lines import numbered
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted
from mercer.readers.source import Source

_TEXTS = ("text", "sequence", "string")
_LABELS = ("label", "class", "target", "y")
_DEPTH = 50


def read_jsonl(source: Source, options: Options) -> Data:
    """Every line one object of JSON, all of the same form as the first."""
    rows = [(number, _object(source.name, number, line)) for number, line in _records(source)]
    first = rows[0][1]
    if "nodes" in first and ("links" in first or "edges" in first):
        from mercer.readers.node_link import graphs_of

        return graphs_of(source.name, rows, options)
    key = next((key for key in _TEXTS if isinstance(first.get(key), str)), None)
    label = options.target or next((name for name in _LABELS if name in first), None)
    if key is not None and set(first) <= {key, label, "id"}:
        return _texts(source.name, rows, key, label, options)
    return _table(source.name, rows, options)


def _records(source: Source) -> list[tuple[int, str]]:
    rows = numbered(source)
    if rows[0][1].lstrip().startswith("["):
        raise problem(
            source.name,
            "a JSON array, where one object per line is expected",
            line=1,
            hint="Write one object per line (JSON lines).",
        )
    return rows


def _object(name: str, line: int, text: str) -> dict[str, Any]:
    if text.count("[") + text.count("{") > _DEPTH and _deep(text):
        raise problem(name, f"JSON nested more than {_DEPTH} levels deep", line=line)
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise problem(name, f"no JSON: {error}", line=line) from error
    if not isinstance(found, dict):
        raise problem(name, f"an object {{...}} is expected, not {quoted(text)}", line=line)
    return found


def _deep(text: str) -> bool:
    depth = 0
    for mark in text:
        depth += (mark in "[{") - (mark in "]}")
        if depth > _DEPTH:
            return True
    return False


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON's")


def _texts(name: str, rows: list[tuple[int, dict[str, Any]]], key: str, label: str | None, options: Options) -> Data:
    strings, labels, ids = [], [], []
    for line, row in rows:
        if not isinstance(row.get(key), str):
            raise problem(name, f"{quoted(key)} is missing or no string", line=line)
        strings.append(row[key])
        labels.append("" if label is None or row.get(label) is None else str(row[label]))
        ids.append(str(row.get("id", line)))
    labelled = label is not None and any(labels)
    lines = [line for line, _ in rows]
    return finished(
        name,
        "jsonl",
        "strings",
        strings,
        labels if labelled else None,
        options,
        ids=ids,
        lines=lines,
        target=label or "label",
    )


def _table(name: str, rows: list[tuple[int, dict[str, Any]]], options: Options) -> Data:
    from mercer.readers.tables import table_of

    names = list(dict.fromkeys([*(key for _, row in rows for key in row), *options.only]))
    columns: dict[str, list[str]] = {key: [] for key in names}
    for line, row in rows:
        for key in names:
            value = row.get(key)
            if isinstance(value, dict | list):
                raise problem(name, "a list or an object, where a table has numbers and text", line=line, column=key)
            columns[key].append("" if value is None else str(value))
    return table_of(name, "jsonl", columns, [line for line, _ in rows], options)

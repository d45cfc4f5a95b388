"""Records as plain data for JSON, and as small tables in HTML."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Numbers, strings, lists and dicts only; what is not finite becomes None, because JSON has no word for it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | None) else str(value)


def text_table(rows: Iterable[tuple[str, str]]) -> str:
    """Two columns, the first padded."""
    listed = list(rows)
    width = max((len(name) for name, _ in listed), default=0)
    return "\n".join(f"  {name:<{width}}  {said}" for name, said in listed)


def html_table(rows: Iterable[Iterable[str]], *, head: Iterable[str] = ()) -> str:
    """A table of escaped cells."""
    titles = "".join(f"<th style='text-align:left'>{html.escape(cell)}</th>" for cell in head)
    lines = (
        "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table>{f'<tr>{titles}</tr>' if titles else ''}{''.join(lines)}</table>"

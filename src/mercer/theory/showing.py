"""Reports as text, as plain data for JSON, and as HTML for notebooks."""

from __future__ import annotations

import dataclasses
import html
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


class Report(ABC):
    """The base of report dataclasses: a verdict, its reason, and a table of figures."""

    verdict: str
    reason: str
    derivation: str = ""
    """A proof, line by line, if there is one."""

    @abstractmethod
    def rows(self) -> list[tuple[str, str]]:
        """The table: a description of each figure, and the figure."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, strings, lists and dicts."""
        return {field.name: plain(getattr(self, field.name)) for field in dataclasses.fields(self)}  # type: ignore[arg-type]

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), allow_nan=False)

    def __str__(self) -> str:
        said = f"{self.verdict}: {self.reason}\n{text_table(self.rows())}"
        return f"{said}\n\n{self.derivation}" if self.derivation else said

    def _repr_html_(self) -> str:
        proof = f"<pre>{html.escape(self.derivation)}</pre>" if self.derivation else ""
        said = f"<b>{html.escape(self.verdict)}</b>: {html.escape(self.reason)}"
        return f"<div>{said}{html_table(self.rows())}{proof}</div>"


def plain(value: Any) -> Any:
    """Numbers, strings, lists and dicts only; numbers that are not finite become None, because JSON has none."""
    if isinstance(value, Report):
        return value.to_dict()
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

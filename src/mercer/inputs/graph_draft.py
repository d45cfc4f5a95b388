"""One graph before it is part of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from mercer._types import Int64


@final
@dataclass(frozen=True, eq=False)
class Draft:
    """One graph with its nodes numbered. `directed` is None for a symmetric matrix, which may be either."""

    names: Sequence[Any]
    edges: Int64
    directed: bool | None = False
    labels: Any = None
    attributes: Any = None
    edge_labels: Any = None
    weights: Any = None
    edge_attributes: Any = None

"""Small data sets for the demo, the docs and the tests: real ones by name, generated ones by a seed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.datasets.dna import make_dna as make_dna
    from mercer.datasets.graphs import make_graphs as make_graphs
    from mercer.datasets.mixed import make_mixed as make_mixed
    from mercer.datasets.real import load as load

_HOMES = {
    "load": "mercer.datasets.real",
    "make_dna": "mercer.datasets.dna",
    "make_graphs": "mercer.datasets.graphs",
    "make_mixed": "mercer.datasets.mixed",
}

__all__ = ["load", "make_dna", "make_graphs", "make_mixed"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mercer.datasets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

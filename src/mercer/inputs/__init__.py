"""Objects of every kind: parsed and validated once, then immutable, sliceable and storable."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mercer._check import choice

if TYPE_CHECKING:
    from mercer.inputs.base import Objects

# The functions that read a column as objects of each kind, by name.
_READINGS = {
    ("Graphs", "smiles"): ("mercer.inputs.molecules", "molecular_graphs"),
    ("Vectors", "days"): ("mercer.inputs.dates", "days"),
    ("Vectors", "morgan"): ("mercer.inputs.molecules", "morgan_bits"),
    ("Vectors", "morgan_counts"): ("mercer.inputs.molecules", "morgan_counts"),
}


def readings(domain: type[Objects]) -> tuple[str, ...]:
    """The values of `as_` with which `coerce` returns objects of this kind."""
    return tuple(name for kind, name in _READINGS if kind == domain.__name__)


def coerce(domain: type[Objects], column: Any, as_: str | None = None) -> Objects:
    """The objects in a column; `as_` says how to read it if it does not contain the objects themselves.

    >>> from mercer.inputs import coerce
    >>> from mercer.inputs.strings import Strings
    >>> len(coerce(Strings, ["GATTACA", "CATTAG"]))
    2
    """
    if as_ is None:
        return domain.coerce(column)
    choice("coerce", "as_", as_, readings(domain))
    module, name = _READINGS[domain.__name__, as_]
    objects: Objects = getattr(importlib.import_module(module), name)(column)
    return objects

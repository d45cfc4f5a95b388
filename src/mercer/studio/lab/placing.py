"""Where shared features occur in objects whose kernels do not say: words, elements, coordinates, columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mercer.kernels.base import Kernel
from mercer.theory.shared import Shared

_WORD = re.compile(r"\w+|\W+")
_FACTOR = re.compile(r"x(\d+)(?:\^(\d+))?")
_PRODUCT = re.compile(rf"{_FACTOR.pattern}(?: {_FACTOR.pattern})*")

Holders = Mapping[int, float]
"""The parts of an object in which a feature occurs, with their shares of it, which add up to one."""


def placed(kind: str, kernel: Kernel, found: Shared, one: Any) -> list[dict[str, Any]]:
    """Parts of an object, what each adds to k, and the numbers of the features that occur in it; none if unknown."""
    reader = PLACED.get(kind)
    if reader is None or not found.names:
        return []
    parts, holders = reader(kernel, found, one)
    told: list[dict[str, Any]] = [{"part": part, "share": 0.0, "features": []} for part in parts]
    for number, contribution in enumerate(found.contributions):
        for place, share in holders(number).items():
            told[place]["share"] += share * float(contribution)
            told[place]["features"].append(number)
    return told if any(part["features"] for part in told) else []


Reading = tuple[list[str], Callable[[int], Holders]]


def _alike(parts: Sequence[str], found: Shared) -> Callable[[int], Holders]:
    """A feature occurs in every part that has its name, in equal shares."""
    folded = [part.casefold() for part in parts]

    def holders(number: int) -> Holders:
        name = str(found.names[number]).casefold()
        places = [place for place, part in enumerate(folded) if part == name]
        return {place: 1.0 / len(places) for place in places}

    return holders


def _words(kernel: Kernel, found: Shared, one: str) -> Reading:
    parts = _WORD.findall(one)
    return parts, _alike(parts, found)


def _elements(kernel: Kernel, found: Shared, one: Sequence[str]) -> Reading:
    parts = [str(part) for part in one]
    return parts, _alike(parts, found)


def _coordinates(kernel: Kernel, found: Shared, one: Sequence[float]) -> Reading:
    """A product of coordinates occurs in each of its factors; a constant, or a mixture of all, occurs nowhere."""

    def holders(number: int) -> Holders:
        name = str(found.names[number])
        powers = {int(place): int(power or 1) for place, power in _FACTOR.findall(name) if _PRODUCT.fullmatch(name)}
        total = sum(powers.values())
        return {place: power / total for place, power in powers.items()}

    return [f"{value:g}" for value in one], holders


def _columns(kernel: Kernel, found: Shared, one: Mapping[str, Any]) -> Reading:
    """A part of the kernel occurs in the columns that it looks at."""
    places = {name: place for place, name in enumerate(one)}
    looked = {str(part): [places[name] for name in part.columns if name in places] for part in kernel.on_columns}

    def holders(number: int) -> Holders:
        own = looked.get(str(found.names[number]), [])
        return {place: 1.0 / len(own) for place in own}

    return [f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in one.items()], (
        holders
    )


PLACED: Mapping[str, Callable[[Kernel, Shared, Any], Reading]] = {
    "documents": _words,
    "sets": _elements,
    "vectors": _coordinates,
    "rows": _columns,
}
"""Kinds of objects whose parts are named by features."""

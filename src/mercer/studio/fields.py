"""Fields of a request, checked as they are read: whatever a page sends, the answer is a value or a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from mercer.studio.refusal import refuse

_LONGEST = 100_000
"""The most characters of a text field: pasted objects are longer than any kernel, and shorter than this."""


def number(told: Mapping[str, Any], name: str, default: float, *, low: float, high: float) -> float:
    """A number within bounds; the text "inf" is infinity where the bounds allow it."""
    value = told.get(name, default)
    if value == "inf":
        value = math.inf
    if not is_number(value) or not low <= value <= high:
        refuse(f"{name} must be a number from {low:g} to {high:g}.", name)
    return float(value)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def whole(told: Mapping[str, Any], name: str, default: int, *, low: int, high: int) -> int:
    """A whole number within bounds."""
    value = number(told, name, default, low=low, high=high)
    if value != int(value):
        refuse(f"{name} must be a whole number from {low} to {high}.", name)
    return int(value)


def choice(told: Mapping[str, Any], name: str, known: Sequence[str]) -> str:
    """One of a few words; the first is the default."""
    value = told.get(name, known[0])
    if not isinstance(value, str) or value not in known:
        refuse(f"{name} must be one of {', '.join(known)}.", name)
    return value


def text(told: Mapping[str, Any], name: str, default: str | None = None, *, longest: int = _LONGEST) -> str:
    """A text that is not too long."""
    value = told.get(name, default)
    if not isinstance(value, str):
        refuse(f"{name} must be a text.", name)
    if len(value) > longest:
        refuse(f"{name} has {len(value):,} characters, more than {longest:,}.", name)
    return value


def truth(told: Mapping[str, Any], name: str, default: bool = False) -> bool:
    """True or false."""
    value = told.get(name, default)
    if not isinstance(value, bool):
        refuse(f"{name} must be true or false.", name)
    return value

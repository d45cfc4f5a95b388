"""All parameter checks, with one form of message:

    The 'C' parameter of SVC must be a float in (0, inf]. Got 0 instead.

A check returns the value in its canonical type, so callers can write ``gamma = real(...)``.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from mercer.errors import ParameterError


def fail(owner: str, field: str, rule: str, got: object, remedy: str = "") -> ParameterError:
    """The error for ``owner(field=got)``; the caller raises it."""
    shown = repr(got)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    tail = f" {remedy}" if remedy else ""
    return ParameterError(f"The {field!r} parameter of {owner} must be {rule}. Got {shown} instead.{tail}")


def real(
    owner: str,
    field: str,
    value: object,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    low_open: bool = False,
    high_open: bool = False,
    remedy: str = "",
) -> float:
    """A real number in the interval from `low` to `high`; infinite only if a closed end is infinite."""
    rule = f"a float in {'(' if low_open else '['}{_end(low)}, {_end(high)}{')' if high_open else ']'}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise fail(owner, field, rule, value, remedy)
    number = float(value)
    inside = (number > low if low_open else number >= low) and (number < high if high_open else number <= high)
    if not inside:  # also when NaN
        raise fail(owner, field, rule, value, remedy)
    return number


def reals(owner: str, field: str, values: object, **bounds: Any) -> tuple[float, ...]:
    """Real numbers, each within the bounds that `real` takes."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise fail(owner, field, "a list of numbers", values)
    return tuple(real(owner, field, value, **bounds) for value in values)


def integer(
    owner: str, field: str, value: object, *, low: int | None = None, high: int | None = None, remedy: str = ""
) -> int:
    """A whole number from `low` to `high`, both included."""
    if low is None and high is None:
        rule = "an int"
    else:
        rule = f"an int in {'(-inf' if low is None else f'[{low}'}, {'inf)' if high is None else f'{high}]'}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise fail(owner, field, rule, value, remedy)
    number = int(value)
    if (low is not None and number < low) or (high is not None and number > high):
        raise fail(owner, field, rule, value, remedy)
    if not -(2**63) <= number < 2**63:
        raise fail(owner, field, rule, value, "Compiled loops count in 64 bits, and this number has more.")
    return number


def boolean(owner: str, field: str, value: object) -> bool:
    """True or False, NumPy's included."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise fail(owner, field, "a bool", value)
    return bool(value)


def choice(owner: str, field: str, value: object, options: Iterable[str], remedy: str = "") -> str:
    """One of the named options; a near miss is suggested."""
    names = list(options)
    if isinstance(value, str) and value in names:
        return value
    hint = remedy or did_you_mean(value, names)
    raise fail(owner, field, "one of " + ", ".join(repr(name) for name in names), value, hint)


def instance(owner: str, field: str, value: Any, kind: type | tuple[type, ...], rule: str, remedy: str = "") -> Any:
    """An instance of `kind`; `rule` says in words what that is."""
    if not isinstance(value, kind):
        raise fail(owner, field, rule, value, remedy)
    return value


def did_you_mean(value: object, names: Iterable[str]) -> str:
    """'Did you mean ...?' for the nearest name, or nothing."""
    near = difflib.get_close_matches(str(value), list(names), n=1, cutoff=0.6)
    return f"Did you mean {near[0]!r}?" if near else ""


def _end(number: float) -> str:
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return f"{number:g}"

"""Parameters of records: the default value and the rule for all values, declared together.

    @dataclass(frozen=True)
    class Spectrum(Kernel):
        p: int = integer(3, low=1)

`Record` checks them whenever one is made. A parameter whose default is None may be None.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from mercer import _check


def real(default: Any = dataclasses.MISSING, **interval: Any) -> Any:
    """A real number in an interval, given as for `_check.real`."""
    return _parameter(default, lambda owner, name, value: _check.real(owner, name, value, **interval))


def integer(default: Any = dataclasses.MISSING, *, low: int | None = None, high: int | None = None) -> Any:
    """A whole number from `low` to `high`, both included."""
    return _parameter(default, lambda owner, name, value: _check.integer(owner, name, value, low=low, high=high))


def boolean(default: bool = False) -> Any:
    """True or False."""
    return _parameter(default, _check.boolean)


def choice(*options: str | None) -> Any:
    """One of the named options; the first, which may be None, is the default."""
    named = [option for option in options if option is not None]
    return _parameter(options[0], lambda owner, name, value: _check.choice(owner, name, value, named))


def check_parameters(record: Any) -> None:
    """Refuse a record with a value that breaks the rule of its parameter."""
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if "check" in field.metadata and not (value is None and field.default is None):
            field.metadata["check"](type(record).__name__, field.name, value)


def _parameter(default: Any, check: Any) -> Any:
    return dataclasses.field(default=default, metadata={"check": check})

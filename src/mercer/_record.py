"""Immutable records with value semantics: the base of all kernels and losses.

    @dataclass(frozen=True)
    class Spectrum(Kernel):
        p: int = integer(3, low=1)

declares a parameter with its default and the rule for its values, which is checked whenever a record is created. A
parameter whose default is None may be None.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np

from mercer import _check
from mercer.errors import ParameterError

_Rules = tuple[tuple[str, Any, bool], ...]
_known_rules: dict[type[Any], _Rules] = {}
STRANGERS: weakref.WeakSet[type] = weakref.WeakSet()
"""User-defined classes that have not been tested yet: see `mercer.kernels.probing`."""


class Record:
    """A frozen dataclass whose equality, hash and repr are by value, including arrays.

    Subclasses are declared with ``@dataclass(frozen=True)``; array fields are made read-only. Parameters are
    addressed by stable paths: ``gamma``, ``kernel__gamma``, and ``0__gamma`` inside a tuple of records.
    """

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # @dataclass writes its own versions (which fail on arrays) unless the class has them already.
        for name in ("__eq__", "__hash__", "__repr__"):
            if name not in cls.__dict__:
                setattr(cls, name, getattr(cls, name))
        if cls.__module__.partition(".")[0] != "mercer":
            STRANGERS.add(cls)

    def __post_init__(self) -> None:
        for name, check, optional in _rules(type(self)):
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                frozen = np.array(value)
                frozen.flags.writeable = False
                object.__setattr__(self, name, frozen)
            if check is not None and not (value is None and optional):
                check(type(self).__name__, name, value)

    def _fields(self) -> Iterator[tuple[str, Any]]:
        for name, _, _ in _rules(type(self)):
            yield name, getattr(self, name)

    def _key(self) -> tuple[Any, ...]:
        return tuple(_comparable(value) for _, value in self._fields())

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Record) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._fields())
        return f"{type(self).__name__}({shown})"

    def __sklearn_clone__(self) -> Self:
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by path; scikit-learn's searches read them."""
        params: dict[str, Any] = {}
        for name, value in self._fields():
            if _holds_records(value):
                children = {str(number): item for number, item in enumerate(value)}
            else:
                params[name] = value
                children = {name: value} if isinstance(value, Record) else {}
            for path, child in children.items():
                params[path] = child
                if deep:
                    params.update({f"{path}__{key}": item for key, item in child.get_params().items()})
        return params

    def with_params(self, **changes: Any) -> Self:
        """A copy with some parameters replaced, by the paths of `get_params`."""
        here: dict[str, Any] = {}
        below: dict[str, dict[str, Any]] = {}
        known = self.get_params(deep=False)
        for path, value in changes.items():
            head, _, rest = path.partition("__")
            if head not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {path!r}. {_check.did_you_mean(head, known)} "
                    f"Known: {', '.join(self.get_params())}."
                )
            if rest:
                below.setdefault(head, {})[rest] = value
            else:
                here[head] = value
        for head, nested in below.items():
            child = here.get(head, known[head])
            if not isinstance(child, Record):
                raise ParameterError(f"The {head!r} parameter of {type(self).__name__} has no parameters of its own.")
            here[head] = child.with_params(**nested)
        return self._replace(here)

    def _replace(self, here: dict[str, Any]) -> Self:
        fields: dict[str, Any] = {}
        for name, value in self._fields():
            if name in here:
                fields[name] = here[name]
            elif _holds_records(value):
                fields[name] = tuple(here.get(str(number), item) for number, item in enumerate(value))
        return dataclasses.replace(self, **fields)


def _rules(kind: type[Any]) -> _Rules:
    """The fields of a record: their names, the checks of their values, and whether they may be None."""
    found = _known_rules.get(kind)
    if found is not None:
        return found
    if not dataclasses.is_dataclass(kind):
        raise TypeError(
            f"The class {kind.__name__} must be declared with @dataclass(frozen=True): its fields are its parameters."
        )
    fields = dataclasses.fields(kind)
    found = _known_rules[kind] = tuple((one.name, one.metadata.get("check"), one.default is None) for one in fields)
    return found


def _holds_records(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(isinstance(item, Record) for item in value)


def _comparable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, tuple):
        return tuple(_comparable(item) for item in value)
    return value


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


def _parameter(default: Any, check: Any) -> Any:
    return dataclasses.field(default=default, metadata={"check": check})

"""What all conformance suites share: named checks, how they fail, and how they are run together."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
import scipy.sparse as sp

from mercer.errors import MercerWarning
from mercer.inputs.base import Objects

RoundTrips = Mapping[str, Callable[[Any], Any]]
"""Ways to copy an object that must not change what it computes, by the name used in failures."""
COPIED: RoundTrips = {"copy.deepcopy": copy.deepcopy}
"""The default. It uses the same methods as pickling, but the class need not be importable by name; to try pickling
itself, pass ``{"pickle": lambda it: pickle.loads(pickle.dumps(it))}``, which this library never calls.
"""


@final
@dataclass(frozen=True)
class Check:
    """One property, ready to be checked. Calling it raises AssertionError if the property does not hold."""

    name: str
    body: Callable[[], None]

    def __call__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MercerWarning)  # samples are odd on purpose, and some kernels warn
            self.body()

    def __str__(self) -> str:
        return self.name


def require(condition: object, message: str) -> None:
    """Fail with a sentence. Not `assert`, which vanishes under ``python -O``."""
    if not bool(condition):
        raise AssertionError(message)


def require_close(got: Any, wanted: Any, allowed: Any, what: str) -> None:
    """Fail unless two arrays agree to within `allowed`, one number or one per entry, and say where they differ."""
    require(got.shape == wanted.shape, f"{what}: the shape is {got.shape}, not {wanted.shape}")
    bad = ~(np.abs(np.asarray(got, dtype=np.float64) - wanted) <= allowed)  # NaN is bad too
    if bad.any():
        where = tuple(int(place) for place in np.argwhere(bad)[0])
        found = f"{got[where]!r} against {wanted[where]!r}"
        raise AssertionError(f"{what}: {int(bad.sum())} entries differ, the first at {where}: {found}")


def require_raises(kinds: type[Exception] | tuple[type[Exception], ...], action: Callable[[], Any], what: str) -> str:
    """Fail unless an action raises such an error; returns its message."""
    try:
        action()
    except kinds as error:
        return str(error)
    raise AssertionError(f"{what} is not refused")


def run_all(owner: object, checks: Iterable[Check]) -> None:
    """Run every check, then fail with all that did not hold."""
    failures: list[tuple[str, Exception]] = []
    for check in checks:
        try:
            check()
        except Exception as error:  # whatever goes wrong inside a check is a failure of that check
            failures.append((check.name, error))
    if failures:
        lines = "\n".join(f"- {name}: {type(error).__name__}: {error}" for name, error in failures)
        raise AssertionError(f"{owner} fails {len(failures)} conformance check(s):\n{lines}") from failures[0][1]


def named(owner: str, *bodies: Callable[[Any], None]) -> Callable[[Any], Iterator[Check]]:
    """Functions of one subject as checks named after them; `owner` is what the names begin with."""

    def checks(subject: Any) -> Iterator[Check]:
        for body in bodies:
            yield Check(f"{owner}_{body.__name__}", partial(body, subject))

    return checks


class Suite:
    """Checks of one subject: all public methods, in the order in which they are written, and round trips.

    Properties and methods with a leading underscore are shared by the checks.
    """

    prefix: ClassVar[str]
    """What the names of the checks begin with."""
    round_trips: RoundTrips | None = None

    def __iter__(self) -> Iterator[Check]:
        members = {name: member for kind in reversed(type(self).__mro__) for name, member in vars(kind).items()}
        for name, member in members.items():
            if inspect.isfunction(member) and not name.startswith("_"):
                yield Check(f"{self.prefix}_{name}", partial(member, self))
        for name, copied in (self.round_trips or {}).items():
            yield Check(f"{self.prefix}_round_trip_{name}", partial(self._round_trip, name, copied))

    def _round_trip(self, name: str, copied: Callable[[Any], Any]) -> None:
        """Fail unless a copy behaves like the subject."""
        raise NotImplementedError


def fingerprint(value: Any, path: str = "") -> dict[str, str]:
    """A hash of everything inside a value, by path: whatever changes between two calls was written to."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        content = f"{value.dtype} {value.shape} ".encode() + value.tobytes()
        return {path: hashlib.sha256(content).hexdigest()}
    if sp.issparse(value):
        parts: Mapping[Any, Any] = {name: getattr(value, name) for name in ("data", "indices", "indptr", "shape")}
    elif isinstance(value, Mapping):
        parts = value
    elif isinstance(value, list | tuple | np.ndarray):
        parts = dict(enumerate(value))
    elif isinstance(value, Objects):
        parts = vars(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (item for item in dataclasses.fields(value) if not item.metadata.get("remembered"))
        parts = {item.name: getattr(value, item.name) for item in fields}
    else:
        return {path: repr(value)}
    may_grow = isinstance(value, Mapping | Objects)  # by what is remembered
    found = {path: type(value).__name__ if may_grow else f"{type(value).__name__} of {len(parts)}"}
    for name, part in parts.items():
        found.update(fingerprint(part, f"{path}/{name}"))
    return found


def require_unchanged(before: dict[str, str], value: Any, what: str) -> None:
    """Fail if anything that was there before has changed; caches may have been added."""
    now = fingerprint(value)
    changed = [path or "/" for path, content in before.items() if now.get(path) != content]
    require(not changed, f"{what} changed what it was given: {', '.join(changed[:3])}")

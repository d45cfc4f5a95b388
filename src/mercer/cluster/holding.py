"""Values on the cluster that tasks share: each is the result of a task, identified by a digest of its content.

Work on blocks is a record (a frozen dataclass), of which little changes from pass to pass. Its large parts, such as a
fitted kernel with its landmarks, are values of their own, so that they are sent only once.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, final

from mercer.cluster import tasks

_LARGE = 2**16
"""Bytes from which on a part of a record is a value of its own: it costs less to send smaller ones again."""
_MOST = 16
"""Values kept on the cluster for the next tasks that need them; older ones are let go."""
_GONE = ("cancelled", "error", "lost")


def frames_of(value: Any) -> list[memoryview]:
    """A value as it goes over the network; arrays are not copied."""
    from distributed.protocol.serialize import serialize

    return [memoryview(frame) for frame in serialize(value, serializers=["pickle"])[1]]


def _fresh(name: str) -> str:
    """A name that no task had before: workers may still be releasing an earlier task with the same content."""
    return f"{name}-{uuid.uuid4().hex}"


@final
class Holding:
    """What a client holds on its cluster."""

    def __init__(self, submit: Callable[..., Any]) -> None:
        self._submit = submit
        self._futures: OrderedDict[str, Any] = OrderedDict()
        self._known: OrderedDict[int, tuple[Any, str, int]] = OrderedDict()
        """Digests and sizes of values that never change, by identity; they live as long as they are listed."""
        self.sent = 0
        """Bytes of all values that were sent."""

    def value(self, value: Any) -> Any:
        """The future of a value; of equal values, the same future."""
        name, size = self._described(value)
        if self._alive(name):
            return self._futures[name]
        parts = self._large_parts(value) if size > _LARGE else {}
        if not parts:
            self.sent += size
            return self._keep(name, self._submit(tasks.same, value, key=_fresh(name)))
        futures = [self.value(part) for part in parts.values()]
        rest = copy.copy(value)
        for part in parts:
            object.__setattr__(rest, part, None)
        self.sent += self._described(rest)[1]
        return self._keep(name, self._submit(tasks.whole, rest, tuple(parts), *futures, key=_fresh(name)))

    def derived(self, held: Any, name: Any, make: Callable[[], Any]) -> Any:
        """The future of something made of a value, made once for each name."""
        key = f"{held.key}-{name}"
        return self._futures[key] if self._alive(key) else self._keep(key, make())

    def forget(self, held: Any, name: Any) -> None:
        """Let go of something derived, once the tasks that were sent have used it."""
        self._futures.pop(f"{held.key}-{name}", None)

    def keys(self) -> set[str]:
        """The names of the tasks whose results are held."""
        return {future.key for future in self._futures.values()}

    def clear(self) -> None:
        """Let go of everything."""
        self._futures.clear()
        self._known.clear()

    def _alive(self, name: str) -> bool:
        found = self._futures.get(name)
        if found is None or found.status in _GONE:
            return False
        self._futures.move_to_end(name)
        return True

    def _keep(self, name: str, future: Any) -> Any:
        self._futures[name] = future
        while len(self._futures) > _MOST:
            self._futures.popitem(last=False)
        return future

    def _large_parts(self, value: Any) -> dict[str, Any]:
        if not dataclasses.is_dataclass(value) or isinstance(value, type):
            return {}
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {name: part for name, part in fields.items() if self._described(part)[1] > _LARGE}

    def _described(self, value: Any) -> tuple[str, int]:
        """A name by content, and the size in bytes; large values are described once."""
        known = self._known.get(id(value))
        if known is not None:
            return known[1:]
        frames = frames_of(value)
        digest = hashlib.sha256()
        for frame in frames:
            digest.update(frame)
        described = f"mercer-{digest.hexdigest()}", sum(frame.nbytes for frame in frames)
        if described[1] > _LARGE:
            self._known[id(value)] = value, *described
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        return described

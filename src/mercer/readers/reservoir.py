"""A random sample of a stream, and a file that keeps it, so that a pass that was killed goes on."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, final

import numpy as np

from mercer._atomic import replacing

_SECONDS = 30.0
"""Between two writes: the most that a killed pass loses."""

Drawn = tuple[int, int, bytes]
"""An object of a stream: its place, its line and its text."""


def as_text(found: Sequence[Drawn]) -> list[list[Any]]:
    """For a file of text: a character for each byte."""
    return [[place, line, part.decode("latin-1")] for place, line, part in found]


def as_bytes(told: Sequence[Sequence[Any]]) -> list[Drawn]:
    """What `as_text` was made of."""
    return [(int(place), int(line), part.encode("latin-1")) for place, line, part in told]


@final
class Reservoir:
    """A sample of a stream whose length is not known, in which all items are equally likely.

    It skips from one item that enters to the next (Li 1994), so items that do not enter cost nothing.
    """

    def __init__(self, most: int, seed: int) -> None:
        self._most, self._random = most, np.random.default_rng(seed)
        self._level, self._next = 1.0, most - 1
        self.seen = 0
        self.kept: list[Drawn] = []
        """Place in the stream, line, and text."""
        self._skip()

    def _skip(self) -> None:
        self._level *= math.exp(math.log(self._random.uniform(1e-300, 1.0)) / self._most)
        self._next += 1 + int(math.log(self._random.uniform(1e-300, 1.0)) / math.log1p(-self._level))

    def told(self) -> dict[str, Any]:
        """All of this, as numbers and text."""
        random = self._random.bit_generator.state
        return {
            "level": self._level, "next": self._next, "seen": self.seen, "kept": as_text(self.kept), "random": random
        }  # fmt: skip

    def resume(self, told: dict[str, Any]) -> None:
        """Go on from there."""
        self._level, self._next, self.seen = told["level"], told["next"], told["seen"]
        self.kept = as_bytes(told["kept"])
        self._random.bit_generator.state = told["random"]

    def offer(self, lines: Sequence[int], parts: Sequence[bytes]) -> None:
        """The next items, in their order."""
        room = self._most - len(self.kept)
        for place in range(min(room, len(parts))):
            self.kept.append((self.seen + place, lines[place], parts[place]))
        while self._next < self.seen + len(parts):
            place = self._next - self.seen
            self.kept[int(self._random.integers(self._most))] = self._next, lines[place], parts[place]
            self._skip()
        self.seen += len(parts)


@final
class Kept:
    """A file that tells how far a pass has come; of another pass, which another mark tells, nothing is used."""

    def __init__(self, path: Path, mark: str) -> None:
        self._path, self._mark, self._written = path, mark, time.monotonic()

    def found(self) -> dict[str, Any] | None:
        """What was written last; None if there is nothing of this pass."""
        try:
            told: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))
            return told if told["mark"] == self._mark else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def is_due(self) -> bool:
        """Whether it is time to write again."""
        return time.monotonic() - self._written >= _SECONDS

    def write(self, told: dict[str, Any]) -> None:
        """Replace what was written before."""
        self._path.parent.mkdir(exist_ok=True)
        with replacing(self._path) as stream:
            stream.write(json.dumps({**told, "mark": self._mark}, ensure_ascii=False).encode())
        self._written = time.monotonic()

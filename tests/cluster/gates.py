"""Work that waits for the test: each process is held in the middle of a task until the test has done what it is about.

What has begun by then, and where, is known, however fast or loaded the machine is. Limits on time are for tests that
fail: they are long, and nothing that is right depends on them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

LONG = 120.0
"""Seconds after which something will never happen."""


def soon(condition: Callable[[], object], seconds: float = LONG) -> bool:
    """Wait for something; whether it has happened."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@dataclass(frozen=True)
class Gate:
    """A folder with a note of each beginning of a task. A process is held at its `most`-th until the gate is opened."""

    folder: str
    most: int = 4

    @classmethod
    def in_folder(cls, folder: Path, most: int = 4) -> Gate:
        folder.mkdir()
        return cls(str(folder), most)

    def enter(self, name: object) -> None:
        """A task of that name begins here."""
        Path(self.folder, f"{name} {os.getpid()} {time.monotonic_ns()}").touch()
        if not self.is_open and len(self.begun(os.getpid())) >= self.most:
            soon(lambda: self.is_open)

    def begun(self, process: int | None = None) -> list[str]:
        """The names of tasks that began, as often as they did; of one process, or of all."""
        notes = [note.rsplit(" ", 2) for note in os.listdir(self.folder) if note != "open"]
        return [name for name, own, _ in notes if process is None or own == str(process)]

    def holds(self, *processes: int) -> bool:
        """Wait until these processes are held."""
        return soon(lambda: all(len(self.begun(process)) >= self.most for process in processes))

    @property
    def is_open(self) -> bool:
        return Path(self.folder, "open").exists()

    def open(self) -> None:
        Path(self.folder, "open").touch()


@dataclass(frozen=True)
class Cubes:
    """Arrays whose sum depends on the order in which they are added, in its last bits."""

    gate: Gate

    def __call__(self, number: int) -> Any:
        self.gate.enter(number)
        return np.random.default_rng(number).normal(size=(50, 50)) ** 3

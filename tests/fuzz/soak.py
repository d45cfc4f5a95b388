"""A day of a server in minutes: threads predict while models are trained, saved, loaded and replaced under them.

    python -m tests.fuzz.soak [predictions, 100000 by default]

Every answer must be that of one of the models that were there when it was asked for, and memory must not grow: after a
first tenth, which fills pools and caches, resident memory may rise by 5 %.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer import SVC, SVR, kernels
from mercer.datasets import make_dna

THREADS = 8
GROWTH = 0.05
_ROUNDS = 20
"""How often memory is looked at."""


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@dataclass
class Shelf:
    """A model that is replaced again and again, with the answers of both versions that a reader may meet."""

    path: str
    versions: list[Any]
    queries: Any
    answers: list[Any] = field(default_factory=list)
    model: Any = None

    def __post_init__(self) -> None:
        self.answers = [np.asarray(model.predict(self.queries)) for model in self.versions]
        self.replace(0)

    def replace(self, number: int) -> None:
        """Save a version over the file, and serve what the file holds then."""
        mercer.save(self.versions[number % len(self.versions)], self.path)
        self.model = mercer.load(self.path)

    def ask(self, place: int) -> bool:
        """Whether the answer to one query is that of one of the versions."""
        one = self.queries[place : place + 1]
        said = np.asarray(self.model.predict(one))[0]
        return any(np.isclose(said, known[place], atol=1e-9) for known in self.answers)


def shelves(folder: str) -> list[Shelf]:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 5))
    y, z = (X[:, 0] > 0).astype(int), np.sin(X[:, 0])
    words, labels = make_dna(120, random_state=0)
    classes = np.asarray([label == labels[0] for label in labels]).astype(int)
    spectrum = kernels.normalise(kernels.Spectrum(3))
    return [
        Shelf(f"{folder}/svc", [SVC(C=C).fit(X, y) for C in (1.0, 50.0)], X),
        Shelf(f"{folder}/svr", [SVR(C=C).fit(X, z) for C in (1.0, 50.0)], X),
        Shelf(f"{folder}/dna", [SVC(kernel=spectrum, C=C).fit(words, classes) for C in (0.1, 10.0)], words),
    ]


def soak(predictions: int) -> tuple[list[str], list[int]]:
    """What went wrong, and the memory in use after each of some rounds."""
    wrong: list[str] = []
    sizes: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        there = shelves(folder)
        for number in range(_ROUNDS):
            stop = threading.Event()

            def replacing(number: int = number, stop: threading.Event = stop) -> None:
                turn = number
                while not stop.is_set():
                    for shelf in there:
                        shelf.replace(turn)
                    turn += 1
                    time.sleep(0.002)

            def asking(seed: int) -> None:
                chance = np.random.default_rng(seed)
                try:
                    for _ in range(predictions // (THREADS * _ROUNDS)):
                        shelf = there[int(chance.integers(len(there)))]
                        if not shelf.ask(int(chance.integers(len(shelf.queries)))):
                            wrong.append(f"{shelf.path}: an answer of neither version")
                except Exception as error:
                    wrong.append(repr(error))

            keeper = threading.Thread(target=replacing)
            readers = [threading.Thread(target=asking, args=(number * THREADS + one,)) for one in range(THREADS)]
            for thread in (keeper, *readers):
                thread.start()
            for thread in readers:
                thread.join()
            stop.set()
            keeper.join()
            gc.collect()
            sizes.append(resident())
    return wrong, sizes


def growth(sizes: list[int]) -> float:
    """By how much memory rose after the first tenth of the rounds."""
    return sizes[-1] / max(sizes[: max(1, len(sizes) // 10)]) - 1.0


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else 100_000
    began = time.monotonic()
    wrong, sizes = soak(count)
    first, last = sizes[0] / 2**20, sizes[-1] / 2**20
    told = f"{count:,} predictions in {time.monotonic() - began:.0f} s, {first:.0f} to {last:.0f} MiB"
    sys.stdout.write(f"{told} ({growth(sizes):+.1%}), {len(wrong)} wrong\n" + "\n".join(wrong[:10]) + "\n")
    return bool(wrong) or growth(sizes) > GROWTH


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Kernel values that workers compute go to the folder of `kernels.Remembered`, and are never computed again."""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer import SVC, kernels
from mercer.cluster import use
from mercer.errors import ClusterError
from mercer.kernels.memory.store import ValueStore
from tests.cluster.conftest import Processes
from tests.cluster.gates import soon

N = 60
WORDS = ["".join(np.random.default_rng(i).choice(list("acgt"), size=15)) for i in range(N)]
CLASSES = [int("ac" in word) for word in WORDS]
PAIRS = N * (N + 1) // 2


def kept(store: Path) -> int:
    """Pairs whose values are in the folder."""
    for folder in store.glob("*/objects/.."):
        opened = ValueStore.open(folder, json.loads((folder / "about.json").read_text())["identity"])
        known = ~np.isnan(opened.values(np.arange(len(opened)), np.arange(len(opened))))
        return int(np.triu(known | known.T).sum())
    return 0


def shared_letters(notes: str, store: str, until: str, first: str, second: str) -> float:
    """Leaves a note of each pair, in a file for each process; a worker that has kept a tile waits in the next one."""
    with open(f"{notes}/{os.getpid()}", "a") as file:
        file.write(f"{first} {second}\n")
    if until and "worker" in sys.argv and not Path(until).exists() and kept(Path(store)) > N:
        Path(f"{until} waiting").touch()
        soon(Path(until).exists)
    return float(sum(a == b for a, b in zip(first, second, strict=True)))


def learner(notes: Path, store: Path, until: Path | str = "") -> SVC:
    function = functools.partial(shared_letters, str(notes), str(store), str(until))
    return SVC(kernel=kernels.Remembered(kernels.FromFunction(function, "strings", symmetric=True), str(store)))


def compared(notes: Path) -> list[str]:
    return [pair for file in notes.iterdir() for pair in file.read_text().splitlines()]


def bits(model: Any) -> bytes:
    return bytes(model.expansion_.coefficients.tobytes())


def test_workers_fill_the_store_and_read_it(client: Any, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for notes in (here, there):
        notes.mkdir()
    expected = bits(learner(here, tmp_path / "store here").fit(WORDS, CLASSES))
    with use(client) as session:
        assert bits(learner(there, tmp_path / "store").fit(WORDS, CLASSES)) == expected
        assert session.traffic.tasks > 1
        done = len(compared(there))
        assert PAIRS <= done <= PAIRS + N  # of diagonals and one value that is compared
        assert {file.name for file in there.iterdir()} - {str(os.getpid())}, "by workers"
        assert bits(learner(there, tmp_path / "store").fit(WORDS, CLASSES)) == expected
        assert len(compared(there)) <= done + 3  # each process compares one value with the store


def test_a_lost_scheduler_costs_no_value_that_was_kept(tmp_path: Path) -> None:
    notes, store, plain, lost = (tmp_path / name for name in ("notes", "store", "plain", "lost"))
    for folder in (notes, plain, tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
    expected = bits(learner(plain, tmp_path / "other").fit(WORDS, CLASSES))
    made = Processes(tmp_path / "first")
    try:
        made.add()
        client = made.client(1, timeout=2)

        def kill() -> None:
            soon(Path(f"{lost} waiting").exists)
            made.kill(made.scheduler)
            made.kill(made.workers[0])  # in the middle of a tile

        killer = threading.Thread(target=kill)
        killer.start()
        with use(client), pytest.raises(ClusterError, match="scheduler was lost"):
            learner(notes, store, lost).fit(WORDS, CLASSES)
        killer.join()
        client.close(timeout=1)
    finally:
        made.close()
    known, before = kept(store), len(compared(notes))
    assert N < known < before  # beside the diagonal, the first tile; and a part of the second is lost
    lost.touch()
    made = Processes(tmp_path / "second")
    try:
        made.add()
        with made.client(1) as client, use(client):
            assert bits(learner(notes, store, lost).fit(WORDS, CLASSES)) == expected
    finally:
        made.close()
    assert kept(store) == PAIRS
    again = len(compared(notes)) - before
    assert PAIRS - known <= again <= PAIRS - known + 2  # each process compares one value with the store

"""Kernel values that workers compute go to the folder of `kernels.Remembered`, and are never computed again."""

from __future__ import annotations

import functools
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer import SVC, kernels
from mercer.cluster import use
from mercer.errors import ClusterError
from tests.cluster.conftest import Processes
from tests.cluster.test_faults import soon

N = 60
WORDS = ["".join(np.random.default_rng(i).choice(list("acgt"), size=15)) for i in range(N)]
CLASSES = [int("ac" in word) for word in WORDS]
PAIRS = N * (N + 1) // 2


def shared_letters(notes: str, seconds: float, first: str, second: str) -> float:
    """A slow function that leaves a note of each pair, in a file for each process."""
    time.sleep(seconds)
    with open(f"{notes}/{os.getpid()}", "a") as file:
        file.write(f"{first} {second}\n")
    return float(sum(a == b for a, b in zip(first, second, strict=True)))


def learner(notes: Path, store: Path, seconds: float = 0.0) -> SVC:
    function = functools.partial(shared_letters, str(notes), seconds)
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


@pytest.mark.long  # it kills a scheduler at a moment that a busy machine may miss
def test_a_lost_scheduler_costs_no_value_that_was_kept(tmp_path: Path) -> None:
    notes, store, plain = tmp_path / "notes", tmp_path / "store", tmp_path / "plain"
    for folder in (notes, plain, tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
    expected = bits(learner(plain, tmp_path / "other").fit(WORDS, CLASSES))
    made = Processes(tmp_path / "first")
    try:
        made.add()
        client = made.client(1, timeout=2)
        killer = threading.Thread(
            target=lambda: (soon(lambda: len(compared(notes)) > PAIRS // 3, 60.0), made.kill(made.scheduler))
        )
        killer.start()
        with use(client), pytest.raises(ClusterError, match="scheduler was lost"):
            learner(notes, store, 0.002).fit(WORDS, CLASSES)
        killer.join()
        client.close(timeout=1)
    finally:
        made.close()
    kept = len(compared(notes))
    assert PAIRS // 3 < kept < PAIRS
    made = Processes(tmp_path / "second")
    try:
        made.add()
        with made.client(1) as client, use(client):
            assert bits(learner(notes, store, 0.002).fit(WORDS, CLASSES)) == expected
    finally:
        made.close()
    # What is computed twice: the tile that was under way, diagonals, and the value that is compared with the store.
    assert len(compared(notes)) < PAIRS + kept // 2

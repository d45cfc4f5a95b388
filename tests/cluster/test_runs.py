"""Whole runs on a cluster: Gram matrices of expensive kernels, files, checkpoints, and scikit-learn's own searches."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from mercer import SVC, Cells, KernelRidge, blocks, kernels
from mercer.cluster import use
from mercer.errors import ClusterError
from mercer.gram.executors import default_threads
from mercer.gram.journal import Journal
from mercer.inputs.blocks import ArrayBlocks, Block, Blocks
from tests.cluster.conftest import Processes
from tests.cluster.gates import soon

da = pytest.importorskip("dask.array", reason="dask is not installed")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1200, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1]
LEARNER = KernelRidge(kernel=kernels.Nystrom(kernels.RBF(gamma=0.5), m=20), alpha=0.1)


def bits(model: Any) -> bytes:
    return bytes(model.expansion_.coefficients.tobytes())


def shared_letters(first: str, second: str) -> float:
    return float(sum(a == b for a, b in zip(first, second, strict=True)))


def test_expensive_gram_matrices_are_computed_by_workers(client: Any) -> None:
    words = ["".join(np.random.default_rng(i).choice(list("acgt"), size=20)) for i in range(80)]
    y = [int(word.count("ac") > 1) for word in words]
    learner = SVC(kernel=kernels.FromFunction(shared_letters, objects="strings"))
    expected = bits(clone(learner).fit(words, y))
    with use(client) as session:
        before = session.traffic.fetched
        assert bits(clone(learner).fit(words, y)) == expected
        assert session.traffic.fetched - before >= 80 * 79 / 2 * 8


def test_cheap_gram_matrices_stay_here(client: Any) -> None:
    with use(client) as session:
        before = session.traffic.tasks
        SVC().fit(X, Y > 0)
        assert session.traffic.tasks == before


def test_files_are_read_by_workers(client: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    expected = bits(clone(LEARNER).fit(ArrayBlocks(X, Y, rows=100)))
    with use(client) as session:
        before = session.traffic.sent
        found = clone(LEARNER).fit(blocks.of(tmp_path / "X.npy", tmp_path / "y.npy", rows=100))
        assert bits(found) == expected
        assert session.traffic.sent - before < X.nbytes  # paths, not data


class Waiting(Blocks):
    """Blocks of generated rows, each of whose readings is noted; once a pass is kept, the last waits for a file."""

    def __init__(self, notes: Path, run: Path, file: Path) -> None:
        self._notes, self._run, self._file = str(notes), str(run), str(file)

    @property
    def sizes(self) -> tuple[int, ...]:
        return (12,) * 100

    @property
    def digest(self) -> str:
        return "waiting"

    def read(self, number: int) -> Block:
        if number == 99 and os.path.exists(self._run):
            soon(Path(self._file).exists)
        with open(f"{self._notes}/{os.getpid()}", "a") as file:
            file.write(f"{number}\n")
        part = slice(12 * number, 12 * number + 12)
        return Block(X[part], Y[part])


def test_a_lost_scheduler_costs_no_more_than_since_the_checkpoint(tmp_path: Path) -> None:
    notes, run, lost = tmp_path / "notes", tmp_path / "run", tmp_path / "lost"
    for folder in (notes, tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
    expected = bits(clone(LEARNER).fit(ArrayBlocks(X, rows=12), Y))
    made = Processes(tmp_path / "first")
    try:
        made.add("--nthreads", "2")
        client = made.client(1, timeout=2)

        def kill() -> None:
            # Of 100 blocks 64 are handed out at a time: their sum is kept while a thread is at the last of the others.
            soon((run / "partial.npz").exists)
            made.kill(made.scheduler)
            lost.touch()

        killer = threading.Thread(target=kill)
        killer.start()
        with use(client), pytest.raises(ClusterError, match="scheduler was lost"), Journal(run, seconds=0.0).open():
            clone(LEARNER).fit(Waiting(notes, run, lost), Y)
        killer.join()
        client.close(timeout=1)
    finally:
        made.close()
    assert (run / "partial.npz").exists()
    for note in notes.iterdir():
        note.unlink()
    made = Processes(tmp_path / "second")
    try:
        made.add("--nthreads", "2")
        with made.client(1) as client, use(client), Journal(run, seconds=0.0).open():
            assert bits(clone(LEARNER).fit(Waiting(notes, run, lost), Y)) == expected
        assert not run.exists()
    finally:
        made.close()
    read = Counter(int(line) for note in notes.iterdir() for line in note.read_text().splitlines())
    assert read[80] > read[20], "blocks whose sum was kept are not read again in that pass"


def threads_there(estimator: Any, X: Any, y: Any = None) -> float:
    return float(default_threads()) if "worker" in sys.argv else np.inf


def test_joblib_gives_every_fit_one_thread(client: Any) -> None:
    import joblib
    from sklearn.model_selection import GridSearchCV

    with joblib.parallel_config("dask", client=client):
        search = GridSearchCV(SVC(), {"C": [1.0, 10.0]}, scoring=threads_there, cv=2, refit=False)
        search.fit(X[:80], Y[:80] > 0)
    assert (search.cv_results_["mean_test_score"] == 1.0).all()


def test_every_cell_is_a_task(client: Any) -> None:
    points = np.random.default_rng(1).uniform(size=(600, 2))
    y = np.floor(8 * points).astype(int).sum(axis=1) % 2
    learner = Cells(SVC(C=100, gamma=50.0), size=150, random_state=0)
    expected = clone(learner).fit(points, y, np.ones(600))
    with use(client) as session:
        before = session.traffic.tasks
        found = clone(learner).fit(points, y, np.ones(600))
        assert session.traffic.tasks - before >= len(expected.estimators_)
        lazy = da.from_array(points, chunks=(100, 2))
        from_blocks = clone(learner).fit(lazy, y, np.ones(600))
        answers = from_blocks.predict(lazy)
        assert (client.compute(answers).result() == expected.predict(points)).all()
    values = expected.decision_function(points).tobytes()
    assert found.decision_function(points).tobytes() == values
    assert from_blocks.decision_function(points).tobytes() == values


@pytest.mark.parametrize("lazily", [False, True])
def test_objects_of_cells_are_read_where_they_are(
    client: Any, lazily: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KNOWN", "_FEWEST_KNOWN"):  # the sample that kernels are fitted to
        monkeypatch.setattr(f"mercer.inputs.streamed.{name}", 20)
    wide = np.random.default_rng(2).normal(size=(900, 60))
    y = (wide[:, 0] > 0).astype(int)
    wide[:, 0] += 4.0 * y  # few support objects
    learner = Cells(SVC(C=1.0, gamma=0.001), size=150, random_state=0)
    expected = clone(learner).fit(ArrayBlocks(wide, rows=128), y)
    np.save(tmp_path / "X.npy", wide)
    with use(client) as session:
        given = da.from_array(wide, chunks=(128, 60)) if lazily else blocks.of(tmp_path / "X.npy", rows=128)
        before = session.count_moved().sent, session.traffic.fetched
        found = clone(learner).fit(given, y)
        assert session.traffic.sent - before[0] < wide.nbytes / 4
        assert session.traffic.fetched - before[1] < wide.nbytes / 2
    assert found.decision_function(wide).tobytes() == expected.decision_function(wide).tobytes()
    assert len(found._support) < 300

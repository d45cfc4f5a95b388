"""Whole runs on a cluster: Gram matrices of expensive kernels, files, checkpoints, and scikit-learn's own searches."""

from __future__ import annotations

import sys
import threading
import time
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
from tests.cluster.test_faults import soon

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


class Slow(Blocks):
    """Blocks of generated rows that take their time, and leave a note of each reading."""

    def __init__(self, folder: str, seconds: float) -> None:
        self._folder, self._seconds = folder, seconds

    @property
    def sizes(self) -> tuple[int, ...]:
        return (25,) * 48

    @property
    def digest(self) -> str:
        return "slow"

    def read(self, number: int) -> Block:
        time.sleep(self._seconds)
        if self._seconds:
            Path(self._folder, f"{number}-{time.monotonic_ns()}").touch()
        part = slice(25 * number, 25 * number + 25)
        return Block(X[part], Y[part])


def test_a_lost_scheduler_costs_no_more_than_since_the_checkpoint(tmp_path: Path) -> None:
    notes, run = tmp_path / "notes", tmp_path / "run"
    notes.mkdir()
    expected = bits(clone(LEARNER).fit(Slow(str(notes), 0.0), Y))
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    made = Processes(first)
    try:
        made.add()
        client = made.client(1, timeout=2)

        def kill() -> None:
            # A pass has 48 blocks, handed out 16 at a time: the first stretch is kept when the second is under way.
            soon(lambda: (run / "partial.npz").exists() or any(run.glob("pass-*.npz")), 60.0)
            made.kill(made.scheduler)

        killer = threading.Thread(target=kill)
        killer.start()
        with use(client), pytest.raises(ClusterError, match="scheduler was lost"), Journal(run, seconds=0.0).open():
            clone(LEARNER).fit(Slow(str(notes), 0.2), Y)
        killer.join()
        client.close(timeout=1)
    finally:
        made.close()
    assert any(run.iterdir())
    made = Processes(second)
    try:
        made.add()
        journal = Journal(run, seconds=0.0)
        with made.client(1) as client, use(client), journal.open():
            assert bits(clone(LEARNER).fit(Slow(str(notes), 0.0), Y)) == expected
        assert not run.exists()
    finally:
        made.close()


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
    # Not to the last bit: the objects of a cell arrive at another place in memory, by which BLAS may round otherwise.
    values = expected.decision_function(points)
    np.testing.assert_allclose(found.decision_function(points), values, rtol=0, atol=1e-9 * np.abs(values).max())
    np.testing.assert_allclose(from_blocks.decision_function(points), values, rtol=0, atol=1e-9 * np.abs(values).max())

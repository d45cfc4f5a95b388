"""Learners trained on lazy data: bit for bit the machines of one computer with the same blocks."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from mercer import SVC, KernelLogisticRegression, KernelPCA, KernelRidge, KernelRidgeClassifier, kernels
from mercer.cluster import use
from mercer.inputs.blocks import ArrayBlocks
from tests.cluster.conftest import Processes

da = pytest.importorskip("dask.array", reason="dask is not installed")
db = pytest.importorskip("dask.bag", reason="dask is not installed")

RNG = np.random.default_rng(0)
N, ROWS = 700, 128
X = RNG.normal(size=(N, 3))
NOISE = RNG.normal(size=N)
NUMBERS = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * NOISE
CLASSES = np.where(NUMBERS > 0.3, "high", "low")
SEEN = kernels.Nystrom(kernels.RBF(gamma=0.5), m=25)
WAVES = kernels.RandomFourierFeatures(gamma=0.5, size=40)

LEARNERS: dict[str, tuple[Any, Any]] = {
    "ridge": (KernelRidge(kernel=SEEN, alpha=0.1, fit_intercept=True), NUMBERS),
    "ridge classes": (KernelRidgeClassifier(kernel=WAVES), CLASSES),
    "hinge": (SVC(kernel=SEEN, tol=0.1), CLASSES),
    "logistic": (KernelLogisticRegression(kernel=WAVES), CLASSES),
    "components": (KernelPCA(3, kernel=SEEN, random_state=0), None),
}
LEARNT = ("coefficients", "intercept")


def fitted(learner: Any, objects: Any, y: Any) -> Any:
    model = clone(learner)
    return model.fit(objects) if y is None else model.fit(objects, y)


def bits(model: Any) -> list[bytes]:
    return [np.asarray(getattr(model.expansion_, name)).tobytes() for name in LEARNT]


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:
    """Clusters of one, two and three workers."""
    made = [Processes(tmp_path_factory.mktemp(f"workers{count}")) for count in (1, 2, 3)]
    try:
        for count, processes in enumerate(made, 1):
            for _ in range(count):
                processes.add()
        opened = [processes.client(count) for count, processes in enumerate(made, 1)]
        yield opened
        for client in opened:
            client.close()
    finally:
        for processes in made:
            processes.close()


@pytest.mark.parametrize("name", LEARNERS)
def test_arrays_on_any_number_of_workers(clients: list[Any], name: str) -> None:
    learner, y = LEARNERS[name]
    expected = bits(fitted(learner, ArrayBlocks(X, rows=ROWS), y))
    for client in clients:
        with use(client) as session:
            lazy = da.from_array(X, chunks=(ROWS, 2)) * 1.0
            targets = None if y is None else da.from_array(y, chunks=200)
            before = session.traffic.tasks
            assert bits(fitted(learner, lazy, targets)) == expected
            assert session.traffic.tasks - before > N // ROWS  # by workers, not here


def test_objects_stay_where_they_are(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KNOWN", "_FEWEST_KNOWN"):  # the sample that kernels are fitted to
        monkeypatch.setattr(f"mercer.inputs.streamed.{name}", 30)
    wide = RNG.normal(size=(N, 80))
    with use(client) as session:
        before = session.traffic.sent, session.traffic.fetched
        KernelRidge(kernel=SEEN).fit(da.from_array(wide, chunks=(ROWS, 80)), NUMBERS)
        assert session.traffic.sent - before[0] < wide.nbytes / 4
        assert session.traffic.fetched - before[1] < wide.nbytes / 4


def test_without_a_cluster_threads_do_it() -> None:
    learner, y = LEARNERS["hinge"]
    expected = bits(fitted(learner, ArrayBlocks(X, rows=ROWS), y))
    assert bits(fitted(learner, da.from_array(X, chunks=(ROWS, 3)), da.from_array(y, chunks=ROWS))) == expected


def test_persisted_arrays_weights_and_empty_chunks(client: Any) -> None:
    weights = RNG.uniform(0.5, 2.0, size=N)
    learner = KernelRidge(kernel=SEEN)
    expected = bits(clone(learner).fit(ArrayBlocks(X, rows=ROWS), NUMBERS, weights))
    with use(client):
        parts = [da.from_array(X[:0], chunks=3), da.from_array(X, chunks=(ROWS, 3))]
        lazy = client.persist(da.concatenate(parts))
        found = clone(learner).fit(lazy, da.from_array(NUMBERS, chunks=N), da.from_array(weights, chunks=500))
        assert bits(found) == expected


def test_frames_keep_their_names(client: Any) -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=NUMBERS)
    with use(client):
        lazy = dd.from_pandas(frame, npartitions=5, sort=False)
        model = clone(LEARNERS["ridge"][0]).fit(lazy[["a", "b", "c"]], lazy["y"])
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        answers = model.predict(lazy[["a", "b", "c"]])
        assert isinstance(answers, da.Array)
        assert client.compute(answers).result().tobytes() == model.predict(frame[["a", "b", "c"]]).tobytes()


def test_strings_in_bags(client: Any) -> None:
    words = ["".join(RNG.choice(list("acgt"), size=12)) for _ in range(150)]
    y = np.array([int("ac" in word) for word in words])
    learner = KernelRidgeClassifier(kernel=kernels.Nystrom(kernels.Spectrum(2), m=15))
    expected = bits(clone(learner).fit(ArrayBlocks(words, rows=60), y))
    with use(client):
        bag = db.from_sequence(words, partition_size=60).map(str.upper).map(str.lower)
        model = clone(learner).fit(bag, db.from_sequence(y.tolist(), partition_size=100))
        assert bits(model) == expected
        answers = model.predict(bag)
        assert (client.compute(answers).result() == model.predict(words)).all()


def test_a_model_of_lazy_data_answers_lazily_before_its_certificate_was_asked_for(client: Any) -> None:
    lazy = da.from_array(X, chunks=(ROWS, 3))
    with use(client) as session:
        model = fitted(LEARNERS["components"][0], lazy, None)
        before = session.traffic.tasks
        found = client.compute(model.transform(lazy)).result(timeout=60)
        assert session.traffic.tasks == before  # no passes over the data for a certificate
    expected = np.concatenate([model.transform(X[start : start + ROWS]) for start in range(0, N, ROWS)])
    assert found.tobytes() == expected.tobytes()


def transformed(model: Any, objects: Any) -> Any:
    return model.transform(objects)


def test_models_go_along_with_tasks_of_users(client: Any) -> None:
    lazy = da.from_array(X, chunks=(ROWS, 3))
    with use(client):
        model = fitted(LEARNERS["components"][0], lazy, None)
        found = client.submit(transformed, model, X[:50]).result(timeout=60)
        assert found == pytest.approx(model.transform(X[:50]), rel=1e-12)
        assert pickle.loads(pickle.dumps(model)).certificate_ is None  # it would take passes over the data
        assert model.certificate_ is not None
        assert str(pickle.loads(pickle.dumps(model)).certificate_) == str(model.certificate_)


def shared_letters(first: str, second: str) -> float:
    return float(sum(a == b for a, b in zip(first, second, strict=True)))


def test_models_of_what_is_in_memory_take_their_certificates_along(client: Any) -> None:
    words = ["".join(RNG.choice(list("acgt"), size=9)) for _ in range(30)]
    with use(client):
        model = SVC(kernel=kernels.FromFunction(shared_letters, "strings")).fit(words, ["ac" in word for word in words])
        sent = client.submit(lambda one: one, model).result(timeout=60)
    assert str(sent.certificate_) == str(model.certificate_)


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba", "transform"])
def test_answers_for_lazy_objects_are_lazy(client: Any, method: str) -> None:
    learner, y = LEARNERS["components" if method == "transform" else "logistic"]
    model = fitted(learner, X, y)
    lazy = da.from_array(X, chunks=(ROWS, 3))
    answers = getattr(model, method)(lazy)
    expected = getattr(model, method)(X)
    assert isinstance(answers, da.Array)
    assert answers.shape == expected.shape
    assert answers.dtype == expected.dtype
    found = client.compute(answers).result()
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    else:
        assert (found == expected).all()

"""Objects of every kind on a cluster: bit for bit the machines of one computer with the same blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from mercer import SVC, Cells, KernelRidge, KernelRidgeClassifier, blocks, kernels
from mercer.cluster import use
from mercer.inputs.blocks import ArrayBlocks

db = pytest.importorskip("dask.bag", reason="dask is not installed")

RNG = np.random.default_rng(5)
N, ROWS = 90, 40
NUMBERS = RNG.normal(size=N)
CLASSES = np.where(NUMBERS > 0, "more", "less")


def ring(length: int) -> dict[str, Any]:
    return {"edges": [(i, (i + 1) % length) for i in range(length)], "labels": [str(i % 2) for i in range(length)]}


KINDS: dict[str, tuple[list[Any], Any]] = {
    "graphs": ([ring(3 + i % 7) for i in range(N)], kernels.WeisfeilerLehman(2)),
    "sets": ([set(RNG.choice(30, size=8).tolist()) for _ in range(N)], kernels.SetTanimoto()),
    "strings": (["".join(RNG.choice(list("acgt"), size=9)) for _ in range(N)], kernels.LocalAlignment()),
}


def bits(model: Any) -> bytes:
    return bytes(model.expansion_.coefficients.tobytes())


@pytest.mark.parametrize("kind", KINDS)
def test_bags_of_any_objects(client: Any, kind: str) -> None:
    objects, kernel = KINDS[kind]
    learner = KernelRidge(kernel=kernels.Nystrom(kernel, m=12), alpha=0.1)
    expected = clone(learner).fit(ArrayBlocks(objects, rows=ROWS), NUMBERS)
    with use(client) as session:
        before = session.traffic.tasks
        bag = db.from_sequence(objects, partition_size=ROWS)
        found = clone(learner).fit(bag, NUMBERS)
        assert bits(found) == bits(expected)
        assert session.traffic.tasks > before + 3
        answers = client.compute(found.predict(bag)).result()
    parts = [expected.predict(objects[start : start + ROWS]) for start in range(0, N, ROWS)]
    assert answers.tobytes() == np.concatenate(parts).tobytes()


def test_cells_of_strings(client: Any) -> None:
    words, kernel = KINDS["strings"]
    learner = Cells(SVC(kernel=kernel), size=30, probability=True, random_state=0)
    expected = clone(learner).fit(words, CLASSES)
    with use(client):
        bag = db.from_sequence(words, partition_size=ROWS)
        found = [clone(learner).fit(given, CLASSES) for given in (words, ArrayBlocks(words, rows=ROWS), bag)]
        answers = client.compute(found[-1].predict_proba(bag)).result()
    values = expected.decision_function(words).tobytes()
    assert [one.decision_function(words).tobytes() for one in found] == [values] * 3
    assert [one.predict_proba(words).tobytes() for one in found] == [expected.predict_proba(words).tobytes()] * 3
    assert answers == pytest.approx(expected.predict_proba(words), rel=1e-12)


def test_lists_of_parquet_paths(client: Any, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    X = RNG.normal(size=(N, 3))
    paths = [tmp_path / f"part{number}.parquet" for number in range(3)]
    for number, path in enumerate(paths):
        part = slice(30 * number, 30 * number + 30)
        columns = {name: X[part, place] for place, name in enumerate("abc")}
        pq.write_table(pa.table(columns | {"y": NUMBERS[part]}), path, row_group_size=15)
    learner = KernelRidge(kernel=kernels.Nystrom(kernels.RBF(gamma=0.5), m=12))
    source = blocks.of(paths, target="y", rows=15)
    expected = bits(clone(learner).fit(source))
    assert source.sizes == (15,) * 6
    assert expected == bits(clone(learner).fit(ArrayBlocks(X, NUMBERS, rows=15)))
    with use(client) as session:
        before = session.traffic.tasks
        assert bits(clone(learner).fit(blocks.of(paths, target="y", rows=15))) == expected
        assert session.traffic.tasks > before + len(source.sizes)


def test_frames(client: Any) -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    X = RNG.normal(size=(N, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=NUMBERS, kind=CLASSES)
    lazy = dd.from_pandas(frame, npartitions=3, sort=False)
    learner = KernelRidge(kernel=kernels.Nystrom(kernels.RBF(gamma=0.5), m=12), fit_intercept=True)
    classifier = KernelRidgeClassifier(kernel=kernels.RandomFourierFeatures(gamma=0.5, size=20))
    same = ArrayBlocks(X, rows=30)
    expected = bits(clone(learner).fit(same, NUMBERS)), bits(clone(classifier).fit(same, CLASSES))
    with use(client):
        columns = lazy[["a", "b", "c"]]
        found = bits(clone(learner).fit(columns, lazy["y"])), bits(clone(classifier).fit(columns, lazy["kind"]))
    assert found == expected

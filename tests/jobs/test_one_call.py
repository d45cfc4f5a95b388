"""One call in Python does what the command does."""

import numpy as np
import pytest

import mercer
from mercer.errors import InputError, MercerError, ParameterError
from mercer.jobs.fitting import fit as fit_data
from mercer.jobs.problem import Plan
from mercer.readers import read

ROWS = [
    (20 + n % 30, ("red", "blue", "")[n % 3], f"2021-{n % 12 + 1:02d}-03", "old" if n % 30 > 14 else "young")
    for n in range(60)
]
NAMES = ("age", "colour", "day", "y")


@pytest.fixture
def columns():
    return {name: [row[place] for row in ROWS] for place, name in enumerate(NAMES)}


def test_frames_are_read_like_files(columns, tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(",".join(map(str, row)) for row in (NAMES, *ROWS)))
    filed = fit_data(read(tmp_path / "t.csv", target="y"), Plan(folds=3, kernel="rbf"))
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns)
    frame["day"] = pandas.to_datetime(frame["day"])
    for given in (columns, frame, tmp_path / "t.csv"):
        found = mercer.fit(given, target="y", folds=3, kernel="rbf")
        assert found.estimate == filed.estimate
        assert found.verdict == filed.verdict
    np.testing.assert_array_equal(found.predict(frame), filed.model.predict(columns))
    np.testing.assert_allclose(found.predict_proba(frame.head(3)).sum(axis=1), 1)


def test_objects_with_labels():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    found = mercer.fit(X, y=X[:, 0] > 0, folds=3, kernel="linear")
    assert found.predict([[2.0, 0.0], [-2.0, 0.0]]).tolist() == ["True", "False"]
    texts = ["good and fine", "bad and sad"] * 15
    assert mercer.fit(texts, y=[1, 0] * 15, folds=3, kernel="normalise(vector_space)").predict(["good"]).tolist() == [1]
    numbers = mercer.fit({"x": 2.0 * np.arange(40)}, y=2.5 * np.arange(40), kernel="linear")
    assert numbers.problem.task == "regression"


def test_a_notebook_shows_the_verdict(columns):
    found = mercer.fit(columns, target="y", folds=2, kernel="linear")
    shown = found._repr_html_()
    assert found.verdict.split(";")[0].replace("'", "&#x27;") in shown
    assert "on(" in shown
    assert str(found) == found.verdict


def test_what_is_refused(columns):
    with pytest.raises(ParameterError, match="no setting 'fold'"):
        mercer.fit(columns, target="y", fold=3)
    with pytest.raises(InputError, match="needs labels"):
        mercer.fit([[1.0], [2.0]])
    with pytest.raises(InputError, match="3 labels for 60 objects"):
        mercer.fit(columns, y=[1, 2, 3])
    with pytest.raises(MercerError, match="no column"):
        mercer.fit(columns, target="z")


def test_several_targets(columns, tmp_path, monkeypatch, capsys):
    numbers = {**columns, "z": [3.0 * age for age in columns["age"]]}
    found = mercer.fit(numbers, target=["y", "z"], folds=3, kernel="rbf")
    assert list(found) == ["y", "z"]
    assert (found["y"].problem.task, found["z"].problem.task) == ("classification", "regression")
    for outcome in found.values():
        assert not {"y", "z"} & set(outcome.problem.data.objects)
    alone = mercer.fit(columns, target="y", folds=3, kernel="rbf")
    assert found["y"].estimate == alone.estimate
    new = {"age": [45.0], "colour": ["red"], "day": ["2021-02-03"]}
    assert {name: len(values) for name, values in found.predict(new).items()} == {"y": 1, "z": 1}
    assert "<h4>z</h4>" in found._repr_html_()
    assert str(found).startswith("y: On objects")
    with pytest.raises(InputError, match="named twice"):
        mercer.fit(columns, target=["y", "y"])
    with pytest.raises(InputError, match="without y="):
        mercer.fit(columns, target=["y"], y=[1])
    monkeypatch.chdir(tmp_path)
    names = list(numbers)
    rows = [",".join(map(str, row)) for row in zip(*numbers.values(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *rows]))
    from mercer.cli import app

    assert app.run(["fit", "t.csv", "-t", "y", "-t", "z", "--folds", "3", "-k", "rbf", "--no-report"]) == 0
    capsys.readouterr()
    assert mercer.load("model-y.mercer").about["score"] == found["y"].model.about["score"]
    assert (tmp_path / "model-z.mercer").exists()
    assert app.run(["compare", "t.csv", "-t", "y", "-t", "z"]) != 0
    assert "2 targets, where only one is possible" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["graphs", "trees", "strings"])
def test_objects_in_memory(kind):
    rings = [{"edges": [(i, (i + 1) % n) for i in range(n)]} for n in range(3, 13)]
    paths = [{"edges": [(i, i + 1) for i in range(n)]} for n in range(3, 13)]
    objects = {
        "graphs": rings + paths,
        "trees": [("S", ("A", ("B", "b")))] * 10 + [("S", ("C", "c"), ("C", "c"))] * 10,
        "strings": ["GATTACA" + "G" * n for n in range(10)] + ["CCCCCC" + "C" * n for n in range(10)],
    }[kind]
    outcome = mercer.fit(objects, y=["ring"] * 10 + ["path"] * 10, folds=2)
    assert outcome.model.preparation.kind == kind
    assert outcome.predict(objects[:1] + objects[-1:]).tolist() == ["ring", "path"]

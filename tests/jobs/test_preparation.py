"""Tables as they come: gaps, dates, words; and the same for new objects, from files and in memory."""

import numpy as np
import pytest

import mercer
from mercer.errors import DataFileError
from mercer.inputs.vectors import Vectors
from mercer.jobs.fitting import fit
from mercer.jobs.preparation import Preparation, gaps_filled
from mercer.jobs.problem import Plan
from mercer.readers import read
from mercer.readers.data import SMILES, Column, Data
from mercer.readers.options import Options


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    random = np.random.default_rng(1)
    rows = []
    for n in range(120):
        weekend = n % 7 in (2, 3)  # 2021-01-01 was a Friday
        mass = "" if n % 11 == 0 else f"{random.normal(70, 10):.1f} kg"
        money = f'"${random.lognormal(8, 2):,.2f}"'
        level = ("low", "medium", "high", "")[n % 4]
        day = np.datetime64("2021-01-01") + n
        rows.append(f"{day},{mass},{money},{level},{('red', 'blue', '')[n % 3]},{'busy' if weekend else 'calm'}")
    file = tmp_path_factory.mktemp("messy") / "t.csv"
    file.write_text("day,mass,money,level,colour,y\n" + "\n".join(rows))
    return file


def test_everything_becomes_features(path):
    data = read(path, target="y")
    prepared = Preparation.learn(data)
    names = ["day", "day (week sine)", "day (week cosine)", "mass", "money", "level"]
    assert prepared.numbers == names
    assert prepared.gaps == ["mass (missing)", "level (missing)"]
    assert prepared.logarithms == [name if name != "money" else "money (log)" for name in names]
    table = prepared(data)
    for name in (*names, "money (log)", "mass (missing)"):
        values = table.objects((name,), Vectors).values[:, 0]
        assert values.mean() == pytest.approx(0, abs=1e-9)
        assert values.std() == pytest.approx(1)
    assert gaps_filled(data).startswith("81 missing values in 3 columns filled (numbers by the median, words by")


def test_new_objects_are_read_alike_from_files_and_memory(path, tmp_path):
    data = read(path, target="y")
    model = fit(data, Plan(kernel="rbf", folds=2)).model
    assert (
        model.predict(data).tolist() == model.predict(read(path, model.preparation.reading(mercer_options()))).tolist()
    )
    columns = {
        "day": np.array(["2021-05-01", "2021-05-03"], dtype="datetime64[D]"),
        "mass": ["70 kg", None],
        "money": [12.5, float("nan")],
        "level": ["low", "no idea"],
        "colour": ["red", None],
    }
    text = "day,mass,money,level,colour\n2021-05-01,70 kg,12.5,low,red\n2021-05-03,,,,\n"
    (tmp_path / "n.csv").write_text(text)
    new = read(tmp_path / "n.csv", model.preparation.reading(mercer_options()))
    np.testing.assert_allclose(model.predict_proba(columns), model.predict_proba(new))
    again = mercer.load(saved(model, tmp_path / "m.mercer"))
    np.testing.assert_allclose(again.predict_proba(columns), model.predict_proba(new))
    assert again.preparation.features == model.preparation.features
    assert again.preparation.styles == model.preparation.styles


def saved(model, path):
    mercer.save(model, path)
    return path


def mercer_options():
    return Options(require_target=False)


def test_missing_molecules_are_never_made_up():
    values = np.array(["CCO", None], dtype=object)
    data = Data("t", "csv", "table", {"s": Column("s", SMILES, values)}, np.array(["a", "b"]))
    with pytest.raises(DataFileError, match="1 of 2 values are missing"):
        Preparation.learn(data)

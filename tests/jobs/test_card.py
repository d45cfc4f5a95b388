"""Model cards: what stands in them, and that nothing in them is markup of a user's."""

import numpy as np
import pytest

import mercer
from mercer.cli import app


@pytest.fixture(scope="module")
def found():
    random = np.random.default_rng(0)
    x = random.normal(size=90)
    labels = np.where(x + 0.5 * random.normal(size=90) > 1, "<b>ill", "well").tolist()
    frame = {"x": x, "a|b": random.normal(size=90), "y": labels, "w": random.uniform(1, 2, 90)}
    return frame, mercer.fit(frame, target="y", kernel="linear", folds=3, weight="w", threshold="well=0.4")


def test_a_card_says_what_the_model_knows(found):
    text = found[1].card("m.mercer")
    about = found[1].model.about
    assert text.startswith("# Model card: the table, classification of y\n")
    for part in (
        found[1].verdict.split(";")[0],
        "| &lt;b>ill |",
        "a\\|b",
        "Rows counted by `w`",
        "Threshold: `well=0.4`",
        f"{about['support']:,}",
        "mercer predict m.mercer new.csv",
        "Where not to trust it",
    ):
        assert part in text, part
    assert "<b>" not in text


def test_a_card_of_numbers():
    x = np.linspace(0, 3, 60)
    text = mercer.fit({"x": np.sin(x * 7)}, y=x**2, kernel="rbf", folds=3).card()
    assert "95 % within" in text
    assert "ranges from 0 to 9" in text


def test_the_command_prints_it(found, tmp_path, capsys):
    path = tmp_path / "m.mercer"
    mercer.save(found[1].model, path)
    assert app.run(["info", str(path), "--card"]) == 0
    assert capsys.readouterr().out == found[1].card(str(path))
    assert app.run(["info", str(path)]) == 0
    said = capsys.readouterr().out
    assert "figures: <b>ill (objects" in said
    mercer.save(mercer.SVC().fit([[0.0], [1.0]], [0, 1]), path)
    assert app.run(["info", str(path), "--card"]) != 0
    assert "saved from Python" in capsys.readouterr().err

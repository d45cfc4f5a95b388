"""`mercer predict` and `mercer evaluate`: answers, their columns, and how good they are."""

import csv
import io
import json
from pathlib import Path

from mercer.cli import app
from mercer.cli.predicting import safe


def test_predictions(model, capsys):
    assert app.run(["predict", str(model), "new.csv", "--reasons", "2"]) == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["object"] for row in rows] == ["x", "y", "z"]
    assert [row["prediction"] for row in rows[:2]] == ["cat", "dog"]
    assert [row["unlike_training"] for row in rows] == ["no", "no", "yes"]
    assert float(rows[0]["probability of cat"]) > 0.5
    assert "p" in rows[0]["reasons"]
    assert "unlike anything" in err
    assert app.run(["predict", str(model), "new.csv", "-o", "out.csv", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert Path("out.csv").read_text().startswith("object,prediction")


def test_columns_that_the_model_does_not_know_are_left_alone(model, capsys):
    Path("more.csv").write_text("id,born,mass,colour,note\nx,2020-01-02,5,black,\ny,2021-03-04,16,red,late\n")
    assert app.run(["predict", str(model), "more.csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["prediction"] for row in rows] == ["cat", "dog"]


def test_missing_columns_are_named(model, capsys):
    Path("less.csv").write_text("id,mass\nx,5\n")
    assert app.run(["predict", str(model), "less.csv"]) == 3
    assert "'colour'" in capsys.readouterr().err


def test_gram_matrices(here, capsys):
    points = [0.0, 0.1, 0.2, 2.0, 2.1, 2.2, 0.05, 2.05]
    names = [f"o{number}" for number in range(len(points))]
    matrix = [[str(2.0 ** -((a - b) ** 2)) for b in points] for a in points]
    head = "," + ",".join(names)
    Path("k.csv").write_text("\n".join([head, *(",".join([n, *row]) for n, row in zip(names, matrix, strict=True))]))
    Path("y.csv").write_text("".join(f"{n},{'near' if p < 1 else 'far'}\n" for n, p in zip(names, points, strict=True)))
    assert app.run(["fit", "k.csv", "--labels", "y.csv", "-o", "k.mercer", "--report", "k.html", "--folds", "2"]) == 0
    Path("new_k.csv").write_text(head + "\nq," + ",".join(str(2.0 ** -((0.07 - b) ** 2)) for b in points) + "\n")
    capsys.readouterr()
    assert app.run(["predict", "k.mercer", "new_k.csv"]) == 0
    assert "q,near" in capsys.readouterr().out
    # The head says which column is which, whatever their order; columns of others are ignored, none may be missing.
    order = [5, 3, 0, 7, 1, 6, 2, 4]
    Path("other.csv").write_text(
        "," + ",".join(names[n] for n in order) + ",zz\n"
        "q," + ",".join(str(2.0 ** -((0.07 - points[n]) ** 2)) for n in order) + ",9\n"
    )
    assert app.run(["predict", "k.mercer", "other.csv"]) == 0
    assert "q,near" in capsys.readouterr().out
    Path("less.csv").write_text(",o0,o1\nq,1,1\n")
    assert app.run(["predict", "k.mercer", "less.csv"]) == 3
    assert 'no column for 6 objects, the first "o2"' in capsys.readouterr().err


def test_cells_that_would_be_formulas():
    assert safe("=cmd()") == "'=cmd()"
    assert safe("@x") == "'@x"
    assert safe("-1") == "-1"
    assert safe(-1) == -1
    assert safe("plain") == "plain"


def test_evaluation(model, capsys):
    assert app.run(["evaluate", str(model), "pets.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["score"]["value"] > 0.9
    assert sum(map(sum, told["confusion"])) == 60
    assert "trained on" in told["verdict"]
    Path("odd.csv").write_text("mass,colour,pet\n5,black,bird\n6,red,cat\n")
    assert app.run(["evaluate", str(model), "odd.csv"]) == 3
    assert "'bird'" in capsys.readouterr().err


def test_one_object_is_no_evidence(model, capsys):
    Path("one.csv").write_text("id,mass,colour,pet\nx,5,black,cat\n")
    assert app.run(["evaluate", str(model), "one.csv"]) == 0
    out = capsys.readouterr().out
    assert "On this object the model" in out
    assert "of one class" in out
    assert app.run(["predict", str(model), "new.csv"]) == 0
    assert "note: 1 of 3 objects is unlike anything" in capsys.readouterr().err

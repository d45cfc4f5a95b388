"""`mercer check` and `mercer diagnose`: files, models, kernels and Gram matrices."""

import json
from pathlib import Path

import pytest

from mercer.cli import app, output


def test_what_check_and_diagnose_take(model, capsys):
    assert app.run(["check", str(model), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["command"] == "check"
    assert app.run(["check", str(model)]) == 0
    assert "The file is intact" in capsys.readouterr().out
    for command in ("check", "diagnose"):
        assert app.run([command, "rbf(gamma=0.1)*linear"]) == 0
        assert "Product: PSD because" in capsys.readouterr().out
        assert app.run([command, "rbff(2)"]) == 2
        assert "rbff" in capsys.readouterr().err
        assert app.run([command, "nothing.csv"]) == 3
        assert "no such file" in capsys.readouterr().err
    for arguments in ([str(model)], [str(model), "pets.csv"], ["categorical", "pets.csv", "-t", "pet"]):
        assert app.run(["diagnose", *arguments, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["diagnosis"]
        assert found["labels"] is not None
    assert app.run(["diagnose", "pets.csv", "new.csv"]) == 2
    Path("broken.mercer").write_bytes(model.read_bytes()[:-100])
    assert app.run(["check", "broken.mercer"]) == 5


def test_matrices_are_checked(here, capsys):
    Path("bad.csv").write_text(",a,b,c\na,1,2,0\nb,2,1,0\nc,0,0,1\n")
    assert app.run(["check", "bad.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "gram"
    assert told["mercer"]["verdict"] == "indefinite"
    assert app.run(["diagnose", "bad.csv"]) == 0
    assert "There are no labels" in capsys.readouterr().out


ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_orders_to_the_terminal_are_shown_and_not_followed(tmp_path, monkeypatch, capsys, options):
    monkeypatch.chdir(tmp_path)
    name = "e\x1b[31m.csv"
    rows = "".join(f"{ESCAPES}{n % 3},{n % 7},{('p', ESCAPES)[n % 2]}\n" for n in range(60))
    Path(name).write_text(f"a{ESCAPES},b,y{ESCAPES}\n{rows}")
    assert app.run(["check", name, "--target", "3", *options]) == 0
    assert app.run(["check", name, "--target", f"z{ESCAPES}", *options]) == 3
    assert app.run(["fit", name, "--target", "3", "--folds", "2", "--C", "1", "-q", *options]) == 0
    assert app.run(["info", "model.mercer", *options]) == 0
    assert app.run(["predict", "model.mercer", name, "--json"]) == 0
    out, err = capsys.readouterr()
    for text in (out, err):
        assert not set(text) & set("\x1b\x07\x9b\u202e")
    if not options:
        assert "\\x1b]0;owned\\x07" in out


def test_predictions_on_a_terminal_give_no_orders_and_in_files_are_as_they_are(model, monkeypatch, capsys):
    Path("escape.csv").write_text(f"id,mass,colour\n{ESCAPES},5,black\n")
    assert app.run(["predict", str(model), "escape.csv"]) == 0
    assert ESCAPES in capsys.readouterr().out  # a pipe
    monkeypatch.setattr(output, "on_terminal", lambda: True)
    assert app.run(["predict", str(model), "escape.csv"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "owned" in out


def test_many_columns_are_not_all_listed(tmp_path, capsys):
    path = tmp_path / "wide.csv"
    names = [f"c{number}" for number in range(1000)] + ["long" * 100]
    rows = "".join(",".join(str((row * place) % 7) for place in range(1001)) + "\n" for row in range(12))
    path.write_text(",".join(names) + "\n" + rows)
    assert app.run(["check", str(path)]) == 0
    out = capsys.readouterr().out
    assert "more columns, which --json lists" in out
    assert out.count("\n") < 230
    assert app.run(["check", str(path), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["columns"]) > 800


def test_the_columns_of_a_table_are_listed_under_their_headings(here, capsys):
    Path("few.csv").write_text("height,shade,pet\n1.5,red,cat\n,blue,dog\n2.5,red,cat\n3.5,,dog\n")
    assert app.run(["check", "few.csv", "--json"]) == 0
    wanted = [(one["name"], one["kind"], str(one["missing"])) for one in json.loads(capsys.readouterr().out)["columns"]]
    assert app.run(["check", "few.csv"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    place = lines.index(["column", "kind", "missing", "content"])
    listed = [tuple(words[:3]) for words in lines[place + 1 :] if words[:1] in (["height"], ["shade"], ["pet"])]
    assert listed == wanted

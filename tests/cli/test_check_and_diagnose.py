"""`mercer check` and `mercer diagnose`: files, models, kernels and Gram matrices."""

import json
from pathlib import Path

from mercer.cli import app


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

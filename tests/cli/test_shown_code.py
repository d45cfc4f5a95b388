"""`--show-code`: the code does what the command did."""

import json
import re
from pathlib import Path

import pytest

from mercer.cli import app


def printed_by(code, capsys):
    exec(compile(code, "shown", "exec"), {})
    return capsys.readouterr().out


def timeless(text):
    """Without the lines that speak of seconds, which are never the same."""
    kept = [line for line in text.splitlines() if not re.search(r"\d s\b|second|minute|per s", line)]
    assert len(kept) > 3
    return kept


@pytest.mark.parametrize(
    "options",
    [
        ["-t", "pet"],
        ["-t", "pet", "--balanced", "--no-scale", "-k", "linear", "-k", "rbf(gamma=0.1) + linear", "--folds", "3"],
        ["-t", "mass", "--task", "regression", "--search-size", "40", "--seed", "3"],
        ["-t", "mass", "--task", "regression", "--C", "0.5", "-k", "categorical"],
    ],
)
def test_shown_code_compares_the_same(options, here, capsys):
    assert app.run(["compare", "pets.csv", *options, "--json"]) == 0
    ranked = json.loads(capsys.readouterr().out)["kernels"]
    assert app.run(["compare", "pets.csv", *options, "--show-code"]) == 0
    lines = [line.split(" ", 2) for line in printed_by(capsys.readouterr().out, capsys).splitlines()]
    told = {kernel: (float(value), float(penalty)) for value, penalty, kernel in lines}
    assert told == {item["kernel"]: (round(item["score"], 4), item["penalty"]) for item in ranked}
    assert app.run(["compare", "pets.csv", *options, "--show-code", "--json"]) == 0
    assert "compare(" in json.loads(capsys.readouterr().out)["code"]


def test_shown_code_diagnoses_the_same(model, capsys):
    Path("k.csv").write_text(",a,b,c,d\na,2,1,0,0\nb,1,2,0,0\nc,0,0,2,1\nd,0,0,1,2\n")
    Path("k_labels.csv").write_text("a,x\nb,x\nc,y\nd,y\n")
    for arguments in (
        ["pets.csv", "-t", "pet", "-k", "rbf(gamma=3)"],
        ["pets.csv", "-t", "mass", "--no-scale"],
        ["pets.csv", "--drop", "pet"],
        ["k.csv", "--labels", "k_labels.csv"],
        ["spectrum(p=2)", "sequences.fa", "--seed", "2"],
        [str(model)],
        [str(model), "pets.csv"],
    ):
        assert app.run(["diagnose", *arguments, "--quiet"]) == 0
        said = timeless(capsys.readouterr().out)
        assert app.run(["diagnose", *arguments, "--show-code"]) == 0
        assert timeless(printed_by(capsys.readouterr().out, capsys)) == said
    assert app.run(["diagnose", "rbf(gamma=2)*linear", "--show-code"]) == 0
    assert "Product: PSD because" in printed_by(capsys.readouterr().out, capsys)


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_shown_code_runs(command, model, capsys):
    assert app.run([command, str(model), "pets.csv", "--show-code"]) == 0
    code = capsys.readouterr().out
    exec(compile(code, "shown", "exec"), {})
    assert (
        capsys.readouterr().out.strip()
        == {
            "predict": "['cat' 'dog' 'cat' 'dog' 'cat']",
            "evaluate": "1.0",
        }[command]
    )

"""`mercer fit`: what it says, writes and refuses."""

import json
from pathlib import Path

import pytest

from mercer.cli import app, fitting


def test_fit_says_and_writes(here, capsys):
    arguments = ["fit", "pets.csv", "--target", "pet", "-o", "a.mercer", "--report", "a.html", "--folds", "3"]
    assert app.run([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema_version"] == 1
    assert told["task"] == "classification"
    assert told["score"]["value"] > 0.9
    assert told["certificate"]["converged"]
    assert (here / "a.mercer").exists()
    assert (here / "a.html").read_text().startswith("<!DOCTYPE html>")
    assert app.run([*arguments, "--no-report", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "On objects it has not seen" in out
    assert "a.mercer" in out
    assert "a.html" not in out


def test_outputs_are_tried_before_training(here, capsys, monkeypatch):
    monkeypatch.setattr(fitting, "fit", lambda *a, **k: pytest.fail("trained"))
    for option in ("-o", "--report"):
        assert app.run(["fit", "pets.csv", "-t", "pet", option, "missing/file"]) == 5
        assert "there is no folder" in capsys.readouterr().err


def test_numbers_too_large_to_be_standardised_are_refused(here, capsys):
    lines = Path("pets.csv").read_text().splitlines()
    Path("large.csv").write_text("\n".join([*lines[:4], "q,1e300,red,cat", *lines[4:]]))
    assert app.run(["fit", "large.csv", "-t", "pet", "--no-report"]) == 3
    assert 'large.csv:5: column "mass": 1e+300 is too large' in capsys.readouterr().err


def test_strict_wants_convergence(here, monkeypatch, capsys):
    monkeypatch.setattr(fitting, "has_converged", lambda estimator: False)
    assert (
        app.run(
            ["fit", "pets.csv", "-t", "pet", "--strict", "--no-report", "-o", "x.mercer", "--C", "1", "-k", "linear"]
        )
        == 4
    )
    assert "did not converge" in capsys.readouterr().err

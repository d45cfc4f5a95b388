"""`mercer demo`, on a handful of objects."""

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import svm
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC
from mercer.cli import app, demo, output
from mercer.cli.demo import Result
from mercer.cli.problems import Problem, Scores, problems
from mercer.datasets import load

SOURCE = Path(mercer.__file__).parents[1]
NUMBER = r"\d[\d.,]*"
ROW = re.compile(rf"  \S.*\s+{NUMBER}\s+{NUMBER} ± {NUMBER}\s+{NUMBER}\s+{NUMBER}\s+{NUMBER}\s+({NUMBER}|-)")


def refuse(text: str) -> float:
    raise AssertionError(f"{text} in JSON")


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["demo", "--fast"]) == 0
    out, err = capsys.readouterr()
    assert err == ""  # progress is for terminals
    assert "\x1b" not in out
    rows = [line for line in out.splitlines() if ROW.fullmatch(line)]
    assert len(rows) == 15
    assert max(map(len, rows)) <= 80
    assert sum(row.endswith("-") for row in rows) == 10  # strings and tables are beyond scikit-learn
    for data in ("digits", "breast cancer", "DNA-like", "mixed table"):
        assert any(line.startswith(f"{data}, 90 ") for line in out.splitlines())
    assert any(line.startswith("karate club, 34 ") for line in out.splitlines())
    assert any("the accuracies" in line for line in out.splitlines())
    assert "On objects it has not seen" in out.splitlines()[-1]
    assert "30 numbers" in out


@pytest.fixture(scope="module")
def told() -> Any:
    """What the demo says in JSON, for the seed 1."""
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        assert app.run(["demo", "--fast", "--json", "--seed", "1", "--quiet"]) == 0
    return json.loads(shown.getvalue(), parse_constant=refuse)


@pytest.fixture(scope="module")
def results() -> list[Result]:
    """What the demo finds, for the seed 0."""
    return list(demo.run(0, 2, fast=True))


def test_json(told: Any) -> None:
    assert told["schema_version"] == 1
    assert (told["seed"], told["folds"]) == (1, 2)
    assert len(told["results"]) == 15
    assert told["report"] is None
    for result in told["results"]:
        assert 0 <= result["accuracy"] <= 1
        assert result["margin"] > 0
        assert 0 < result["support_vectors"] <= result["objects"]
        assert result["seconds"] > 0
        twin = result["scikit_learn"]
        if result["data"] in ("digits", "breast cancer"):
            assert twin["accuracy"] == pytest.approx(result["accuracy"], abs=0.02)
        else:
            assert twin is None


def test_same_seed_same_results(told: Any, results: list[Result]) -> None:
    def outcome(found: Iterable[Result]) -> list[tuple[float, int, float]]:
        return [(result.scores.accuracy, result.support_vectors, result.margin) for result in found]

    first = [(result["accuracy"], result["support_vectors"], result["margin"]) for result in told["results"]]
    assert outcome(demo.run(1, 2, fast=True)) == first
    assert outcome(results) != first


def test_scores_are_those_of_an_ordinary_cross_validation() -> None:
    X, y = load("breast_cancer")
    problem = Problem("", "", X, y, (), standardise=True)
    splits = problem.splits(4, seed=1)
    scores = problem.score(SVC(C=0.5), splits)
    expected = cross_val_score(make_pipeline(StandardScaler(), svm.SVC(C=0.5)), X, y, cv=splits)
    assert scores.accuracy == pytest.approx(expected.mean(), abs=1e-12)
    assert scores.spread == pytest.approx(expected.std(), abs=1e-12)


def test_twins_are_the_same_machines() -> None:
    compared = [(problem, trial) for problem in problems(0, fast=True) for trial in problem.trials if trial.twin]
    assert len(compared) == 5
    for problem, trial in compared:
        ours, theirs = (problem.pipeline(machine) for machine in trial.machines())
        decisions = [m.set_params(**tight(m)).fit(problem.objects, problem.labels) for m in (ours, theirs)]
        ours, theirs = (machine.decision_function(problem.objects) for machine in decisions)
        np.testing.assert_allclose(ours, theirs, atol=1e-3)


def tight(machine: Any) -> dict[str, float]:
    """A small tolerance, of a machine or of one in a pipeline."""
    return {next(name for name in machine.get_params() if name.split("__")[-1] == "tol"): 1e-8}


def test_summary_says_how_far_apart_accuracies_are(results: list[Result]) -> None:
    first = results[0]
    apart = Scores(first.scores.accuracy - 0.05, 0.0, 1.0)
    changed = Result(first.problem, first.trial, first.scores, 1, 1.0, apart)
    assert "differ by at most 5.0 points" in demo.summary([changed, *results[1:]])


def test_the_main_job_says_what_it_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "fit", lambda data, plan, command: (data, plan, command))
    data, plan, command = demo.main_job(3, 4, fast=True)  # type: ignore[misc]
    assert (data.name, data.format, data.kind, data.target) == ("breast cancer", "scikit-learn", "table", "diagnosis")
    assert (plan.seed, plan.folds, command) == (3, 4, "mercer demo --seed 3")
    assert len(data) == demo._FEW
    assert set(data.labels) == {"malignant", "benign"}


@pytest.mark.parametrize(
    ("cache", "terminal", "told"),
    [(None, True, True), ("cold", True, True), ("cold", False, False), ("warm", True, False)],
)
def test_compiling_is_announced_where_somebody_waits(
    cache: str | None, terminal: bool, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cache == "warm":
        (tmp_path / "loops.nbi").write_bytes(b"")
    monkeypatch.setattr(demo._compiled, "cache_folder", lambda: None if cache is None else tmp_path)
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal, raising=False)
    with contextlib.redirect_stderr(stream):
        demo._announce_compilation()
    assert ("The first run compiles" in stream.getvalue()) is told


def test_what_is_not_finite_becomes_null(capsys: pytest.CaptureFixture[str]) -> None:
    output.write_json({"a": float("nan"), "b": [float("inf"), 1.5], "c": {"d": -float("inf")}})
    told = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert told == {"schema_version": 1, "a": None, "b": [None, 1.5], "c": {"d": None}}


@pytest.mark.skipif(sys.platform == "win32", reason="no-run: Windows has no SIGINT to send to one process")
def test_interrupt() -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    # Says when the work has begun, and then works for longer than any test would wait.
    script = (
        "import sys\nfrom mercer.cli import app, demo\n"
        "def forever(*a, **k):\n"
        "    print('begun', flush=True)\n"
        "    while True: list(trials(*a, **k))\n"
        "trials, demo.run = demo.run, forever\n"
        "app.main(['demo', '--fast'])\n"
    )
    command = [sys.executable, "-c", script]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, **pipes) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "begun\n"
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err == "error: interrupted\n"
    assert out == ""

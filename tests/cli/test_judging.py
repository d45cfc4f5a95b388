"""Metrics, weights, times, thresholds and names of classes on the command line, from fit to predict."""

import json

import numpy as np
import pytest

from mercer.cli import app

FAST = ["--kernel", "linear", "--folds", "3", "--quiet", "--no-report"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("judging")
    random = np.random.default_rng(0)
    lines = ["a,b,w,when,died,cost"]
    for number in range(90):
        a, b = random.normal(size=2)
        died = int(a + 0.8 * random.normal() > 0.9)
        when = np.datetime64("2020-01-01") + 5 * number
        lines.append(f"{a:.3f},{b:.3f},{random.uniform(0.5, 2):.2f},{when},{died},{3 * a + random.normal():.2f}")
    (place / "t.csv").write_text("\n".join(lines) + "\n")
    return place


@pytest.fixture
def run(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)

    def call(*arguments):
        code = app.run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def told(run, *arguments):
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_a_metric_from_fit_to_evaluate(run):
    fitted = told(run, "fit", "t.csv", "-t", "died", "--drop", "cost", "--metric", "log_loss", "-o", "a.mercer", *FAST)
    assert fitted["score"]["name"] == "log loss"
    assert fitted["score"]["perfect"] == 0.0
    scores = [row["score"] for row in fitted["comparison"]]
    assert all(score > 0 for score in scores)
    assert told(run, "evaluate", "a.mercer", "t.csv")["score"]["name"] == "log loss"
    assert told(run, "evaluate", "a.mercer", "t.csv", "--metric", "auc")["score"]["value"] > 0.8
    code, _, err = run("evaluate", "a.mercer", "t.csv", "--metric", "rmse")
    assert code == 2
    assert "is for numbers" in err
    compared = told(
        run, "compare", "t.csv", "-t", "died", "--metric", "f1=1", "-k", "linear", "-k", "rbf", "--folds", "3"
    )
    assert compared["kernels"][0]["name"] == "F1 of 1"


def test_errors_are_ranked_from_small_to_large(run):
    arguments = ("-t", "cost", "--metric", "mae", "-k", "linear", "-k", "rbf(gamma=50)", "--folds", "3")
    compared = told(run, "compare", "t.csv", *arguments)["kernels"]
    assert [row["kernel"].split("(")[0] for row in compared] == ["on", "on"]
    assert 0 < compared[0]["value"] < compared[1]["value"]
    assert compared[1]["behind_best"]["low"] > 0
    code, out, _ = run("compare", "t.csv", *arguments)
    assert code == 0
    assert "mean absolute error" in out


def test_weights_and_times(run):
    fitted = told(run, "fit", "t.csv", "-t", "died", "--weight", "w", "--time", "when", "-o", "w.mercer", *FAST)
    assert any("count by" in note for note in fitted["notes"])
    assert any("a later" in note for note in fitted["notes"])
    plain = told(run, "evaluate", "w.mercer", "t.csv")["score"]["value"]
    assert told(run, "evaluate", "w.mercer", "t.csv", "--weight", "w")["score"]["value"] != plain
    code, out, _ = run("predict", "w.mercer", "t.csv")
    assert code == 0
    assert len(out.splitlines()) == 91


def test_names_of_classes_and_thresholds(run):
    names = ["--class-name", "0=lived", "--class-name", "1=died"]
    told(run, "fit", "t.csv", "-t", "died", *names, "--threshold", "died=8:1", "-o", "n.mercer", *FAST)
    found = told(run, "evaluate", "n.mercer", "t.csv")  # labels are still 0 and 1 there
    assert found["classes"] == ["died", "lived"]
    recall = found["confusion"][0][0] / sum(found["confusion"][0])
    other = told(run, "evaluate", "n.mercer", "t.csv", "--threshold", "died=0.9")
    assert recall > 0.9 > other["confusion"][0][0] / sum(other["confusion"][0])
    rows = told(run, "predict", "n.mercer", "t.csv")["predictions"]
    assert all((row["prediction"] == "died") == (row["probabilities"]["died"] >= 1 / 9) for row in rows)
    code, _, err = run("fit", "t.csv", "-t", "died", "--class-name", "died", *FAST)
    assert code == 2
    assert "--class-name takes LABEL=NAME" in err


@pytest.mark.parametrize("extra", [["--weight", "w"], ["--metric", "auc"], ["--time", "when"]])
def test_shown_code_ranks_as_the_command_does(run, extra, capsys):
    arguments = ["compare", "t.csv", "-t", "died", "-k", "linear", "-k", "rbf(gamma=5)", "--folds", "3", *extra]
    expected = [row["kernel"] for row in told(run, *arguments)["kernels"]]
    _, code, _ = run(*arguments, "--show-code")
    exec(compile(code, "shown", "exec"), {})  # what a user would paste
    shown = capsys.readouterr().out.splitlines()
    assert [line.split(" ", 2)[2] for line in shown] == expected

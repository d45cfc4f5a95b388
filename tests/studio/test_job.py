"""A search of the workbench is `mercer fit`: the same model, the same score, and a command that gives both."""

import json
import shlex

import numpy as np
import pytest

import mercer
from mercer.cli import app
from mercer.jobs.fitting import fit
from mercer.jobs.problem import Plan
from mercer.readers import read
from mercer.studio import job
from mercer.studio.projects import read_events, read_json, write_json
from mercer.studio.workbench.command import asked
from mercer.studio.workbench.explain import explain
from mercer.studio.workbench.samples import write_sample


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder of a job that has finished, and the file it learnt from."""
    folder = tmp_path_factory.mktemp("job")
    path = folder / "promoters.fasta"
    write_sample({"name": "promoters", "path": str(path)})
    write_json(folder / "plan.json", {**asked({"kernel": "normalise(spectrum(p=4))", "seed": 3}), "path": str(path)})
    job.run(folder)
    return folder, path


def test_the_model_is_that_of_mercer_fit(finished):
    folder, path = finished
    result = read_json(folder / "result.json")
    data = read(str(path))
    outcome = fit(data, Plan(kernel="normalise(spectrum(p=4))", seed=3))
    assert result["score"]["value"] == outcome.estimate.value
    assert result["verdict"] == outcome.verdict
    model = mercer.load(folder / "model.mercer")
    np.testing.assert_array_equal(
        model.decisions(model.objects(data)), outcome.model.decisions(outcome.model.objects(data))
    )
    assert not (folder / "model.mercer.partial").exists()
    assert b"<html" in (folder / "report.html").read_bytes()


def test_the_command_shown_gives_the_same(finished, tmp_path, capsys):
    folder, _ = finished
    words = shlex.split(read_json(folder / "result.json")["command"])
    assert words[:2] == ["mercer", "fit"]
    made = str(tmp_path / "model.mercer")
    assert app.run([*words[1:], "--json", "--model", made, "--report", str(tmp_path / "report.html")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["score"]["value"] == read_json(folder / "result.json")["score"]["value"]


def test_the_python_shown_gives_the_same(finished, capsys):
    folder, path = finished
    names: dict = {}
    exec(read_json(folder / "result.json")["python"], names)
    capsys.readouterr()
    model, data = mercer.load(folder / "model.mercer"), read(str(path))
    np.testing.assert_array_equal(names["model"].predict(names["prepare"](data)), model.predict(data))


def test_events_tell_every_kernel(finished):
    kinds = [event["type"] for event in read_events(finished[0] / "events.jsonl")[0]]
    assert kinds[0] == "reading"
    assert kinds.count("kernel") == 1
    assert kinds[-1] == "finished"


def test_errors_can_be_looked_at(finished):
    folder, path = finished
    errors = read_json(folder / "result.json")["errors"]
    labels = dict(zip(read(str(path)).ids, read(str(path)).labels, strict=True))
    assert errors
    for one in errors:
        assert one["label"] == labels[one["name"]] != one["predicted"]
        assert len(one["near"]) == 3
        assert all(near["name"] != one["name"] for near in one["near"])


def test_letters_that_spoke_for_a_prediction_add_up(finished, tmp_path):
    folder, path = finished
    model, data = mercer.load(folder / "model.mercer"), read(str(path))
    told = explain({"model": str(folder / "model.mercer"), "path": str(path), "most": 3})
    values = model.decisions(model.objects(data.take(np.arange(3))))[:, 0]
    intercept = model.estimator.explain(model.objects(data.take(np.arange(1))))[0].intercept[0]
    for one, value, text in zip(told, values, data.objects, strict=False):
        assert "".join(one["parts"]) == text
        assert sum(one["shares"]) + intercept == pytest.approx(value, abs=1e-9)
        assert one["letters"]


def test_a_file_that_cannot_be_learnt_from_says_why(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,a\n2,a\n3,a\n")
    write_json(tmp_path / "plan.json", {**asked({"target": "y"}), "path": str(path)})
    job.run(tmp_path)
    last = read_events(tmp_path / "events.jsonl")[0][-1]
    assert last["type"] == "failed"
    assert "two classes" in last["message"]


def test_a_search_that_its_limit_ended_has_a_command_that_does_not_depend_on_time(tmp_path, capsys):
    path = tmp_path / "pets.csv"
    write_sample({"name": "pets", "path": str(path)})
    write_json(tmp_path / "plan.json", {**asked({"target": "pet", "time_limit": 0.1}), "path": str(path)})
    job.run(tmp_path)
    result = read_json(tmp_path / "result.json")
    assert result["ended_early"]
    words = shlex.split(result["command"])
    assert "--time-limit" not in words
    made = tmp_path / "again.mercer"
    assert app.run([*words[1:], "--json", "--model", str(made), "--report", str(tmp_path / "again.html")]) == 0
    assert json.loads(capsys.readouterr().out)["kernel"] == result["kernel"]
    data = read(str(path), target="pet")
    first, again = mercer.load(tmp_path / "model.mercer"), mercer.load(made)
    np.testing.assert_array_equal(first.decisions(first.objects(data)), again.decisions(again.objects(data)))


def test_a_limit_that_was_not_reached_is_not_part_of_the_command(tmp_path):
    path = tmp_path / "pets.csv"
    write_sample({"name": "pets", "path": str(path)})
    plan = asked({"target": "pet", "kernel": "rbf", "time_limit": 600.0})
    write_json(tmp_path / "plan.json", {**plan, "path": str(path)})
    job.run(tmp_path)
    result = read_json(tmp_path / "result.json")
    assert not result["ended_early"]
    assert result["command"] == shlex.join(["mercer", "fit", str(path), "--target", "pet", "--kernel", "rbf"])

"""`mercer fit --resume`: what an interrupt leaves, and how the search goes on from it."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mercer.cli import app, fitting
from mercer.selection.trials import Experiment
from tests.cli.processes import ENVIRONMENT


@pytest.mark.skipif(sys.platform == "win32", reason="no-run: Windows has no SIGINT to send to one process")
def test_interrupt_and_resume(here, tmp_path, monkeypatch, capsys):
    script = (
        "from mercer.cli import app\nfrom mercer.selection.trials import Experiment\n"
        "import time\nwork = Experiment.try_kernel\n"
        "def slow(*a, **k):\n    print('begun', flush=True)\n    time.sleep(0.5)\n    return work(*a, **k)\n"
        "Experiment.try_kernel = slow\n"
        f"app.main(['fit', 'pets.csv', '-t', 'pet', '-o', '{tmp_path}/m', '--report', '{tmp_path}/r'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        for _ in range(3):  # two kernels are finished when the third begins
            assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130
    assert [item.name for item in tmp_path.iterdir()] == ["m.partial"]
    assert err.startswith("error: interrupted\nhint: 2 of ")
    assert "with --resume continues from there" in err
    arguments = ["fit", "pets.csv", "-t", "pet", "-o", f"{tmp_path}/m", "--report", f"{tmp_path}/r", "--json"]
    assert app.run([*arguments, "--resume", "--seed", "7"]) == 3
    assert "other options" in capsys.readouterr().err
    tried = []
    once = Experiment.try_kernel
    monkeypatch.setattr(Experiment, "try_kernel", lambda *a, **k: tried.append(1) or once(*a, **k))
    assert app.run([*arguments, "--resume"]) == 0
    resumed = json.loads(capsys.readouterr().out)
    done = len(tried)
    assert any(note.startswith("Resumed: 2 of ") for note in resumed["notes"])
    assert {item.name for item in tmp_path.iterdir()} == {"m", "r"}
    tried.clear()
    assert app.run([*arguments, "--resume"]) == 0
    anew = json.loads(capsys.readouterr().out)
    assert len(tried) == done + 2
    for key in ("kernel", "penalty", "score", "verdict", "support", "certificate"):
        assert resumed[key] == anew[key]


def test_what_cannot_be_resumed_is_refused(here, capsys):
    Path("x.mercer.partial").write_text("nothing of ours")
    arguments = ["fit", "pets.csv", "-t", "pet", "-k", "linear", "--C", "1", "-o", "x.mercer", "--no-report"]
    assert app.run([*arguments, "--resume"]) == 3
    err = capsys.readouterr().err
    assert "cannot be resumed from" in err
    assert "Without --resume" in err


@pytest.mark.parametrize("moment", ["report", "after the model", "end", "telling"])
def test_an_interrupt_near_the_end_tells_what_is_there(here, tmp_path, monkeypatch, capsys, moment):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    if moment == "report":
        monkeypatch.setattr("mercer.report.write", interrupted)
    elif moment == "after the model":  # the file is in its place, and nobody was told yet
        once = fitting.save
        monkeypatch.setattr(fitting, "save", lambda *a: (once(*a), interrupted()))
    elif moment == "telling":  # when only the terminal lacks anything
        monkeypatch.setattr(fitting, "comparison", interrupted)
    else:
        monkeypatch.setattr(fitting.Checkpoint, "remove", interrupted)
    model, report = tmp_path / "m", tmp_path / "r"
    options = ["-t", "pet", "-o", str(model), "--report", str(report), "--folds", "3", "-q"]
    if moment == "end":
        monkeypatch.setattr(fitting.Checkpoint, "remove", lambda *_: (monkeypatch.undo(), interrupted()))
    assert app.run(["fit", "pets.csv", *options]) == 130
    err = capsys.readouterr().err
    assert model.exists()
    assert "No model was written" not in err
    if moment in ("end", "telling"):
        assert f"Everything was written before that: {model} and {report}." in err
        assert {item.name for item in tmp_path.iterdir()} == {"m", "r"}
        return
    assert f"The model is complete: {model}. The report was not written." in err
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert app.run(["fit", "pets.csv", *options, "--resume"]) == 0
    assert {item.name for item in tmp_path.iterdir()} == {"m", "r"}


def test_an_interrupt_that_leaves_an_older_model_does_not_claim_it(here, tmp_path, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    (tmp_path / "m").write_text("the model of yesterday")
    monkeypatch.setattr(fitting, "save", interrupted)
    assert (
        app.run(["fit", "pets.csv", "-t", "pet", "-o", str(tmp_path / "m"), "--no-report", "--folds", "3", "-q"]) == 130
    )
    assert "No model was written" in capsys.readouterr().err
    assert (tmp_path / "m").read_text() == "the model of yesterday"

"""`mercer fit --resume`: what an interrupt leaves, and how the search goes on from it."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mercer.cli import app
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
    assert f"Resumed: 2 of {done + 2} kernels were finished already." in resumed["notes"]
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

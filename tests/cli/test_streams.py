"""Long files, stdin and pipes: answers flow, and what goes wrong half-way leaves no file."""

import csv
import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mercer.cli import app
from tests.cli.processes import ENVIRONMENT, mercer_process


def many_pets(path, rows, wrong=""):
    lines = (f"n{n},{3 + n % 20},{('black', 'red', 'white')[n % 3]}\n" for n in range(rows))
    Path(path).write_text("id,mass,colour\n" + "".join(lines) + wrong)


def until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_predictions_from_stdin(model, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id,mass,colour\nx,5,black\n")))
    assert app.run(["predict", str(model), "-"]) == 0
    assert "x,cat" in capsys.readouterr().out


def test_predictions_of_long_files(model, capsys):
    many_pets("many.csv", 20_000)
    assert app.run(["predict", str(model), "many.csv", "-o", "many.out", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["objects"], told["output"], "predictions" in told) == (20_000, "many.out", False)
    rows = list(csv.DictReader(io.StringIO(Path("many.out").read_text())))
    assert [row["object"] for row in rows] == [f"n{n}" for n in range(20_000)]
    assert app.run(["predict", str(model), "many.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [item["prediction"] for item in told["predictions"]] == [row["prediction"] for row in rows]
    assert told["schema_version"] == 1


def test_an_error_far_down_leaves_no_file(model, capsys):
    many_pets("broken.csv", 20_000, wrong="x,abc,red\n")
    before = set(Path().iterdir())
    assert app.run(["predict", str(model), "broken.csv", "-o", "broken.out"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith('error: broken.csv:20002: column "mass": "abc" is not a number\nhint: ')
    assert set(Path().iterdir()) == before
    assert app.run(["predict", str(model), "broken.csv", "--json"]) == 3
    assert "error" in json.loads(capsys.readouterr().out)
    assert app.run(["predict", str(model), "broken.csv"]) == 3
    assert capsys.readouterr().out.count("\n") > 10_000


@pytest.mark.skipif(sys.platform == "win32", reason="no-run: Windows has no SIGINT to send to one process")
@pytest.mark.parametrize(
    ("sent", "code", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_predictions_flow_and_an_interrupt_leaves_no_file(model, tmp_path, sent, code, said):
    text = "id,mass,colour\n" + "x,5,black\n" * 20_000
    with open(tmp_path / "shown", "w+") as shown:
        process = mercer_process("predict", str(model), "-", stdin=subprocess.PIPE, stdout=shown)
        assert process.stdin is not None
        try:
            process.stdin.write(text)
            process.stdin.flush()  # and no end of file: what is there is answered
            until(lambda: "x,cat" in (tmp_path / "shown").read_text())
        finally:
            process.kill()
            process.communicate()
    (tmp_path / "shown").unlink()
    process = mercer_process("predict", str(model), "-", "-o", str(tmp_path / "p.csv"), stdin=subprocess.PIPE)
    assert process.stdin is not None
    try:
        process.stdin.write(text)
        process.stdin.flush()
        until(lambda: list(tmp_path.iterdir()))
        process.send_signal(sent)
        _, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == code
    assert err.startswith(f"error: {said}\n")
    assert "nothing was written" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no-run: pipes end otherwise on Windows")
def test_a_reader_that_has_seen_enough(model):
    many_pets("piped.csv", 20_000)
    with mercer_process("predict", str(model), "piped.csv", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no-run: there is no full device here")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_full_disk_is_one_line(options):
    command = [sys.executable, "-m", "mercer", "kernels", *options]
    with open("/dev/full", "w") as full:
        found = subprocess.run(command, env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert found.returncode == 3
    assert "No space left" in found.stderr
    assert "Traceback" not in found.stderr

"""Commands on files: the examples of their help, what they print, write and refuse."""

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer.cli import app, files, fitting
from mercer.cli.predicting import safe
from mercer.datasets import make_dna
from mercer.jobs import search
from mercer.storage.libsvm import to_libsvm

SOURCE = Path(mercer.__file__).parents[1]
COMMANDS = ["check", "fit", "compare", "diagnose", "info", "predict", "evaluate", "convert"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the examples speak of."""
    place = tmp_path_factory.mktemp("files")
    rows = [(3 + (number * 37 % 50) / 10, number % 3, number) for number in range(60)]
    lines = [
        f"p{n},{mass + 10 * (n % 2)},{('black', 'red', 'white')[c]},{('cat', 'dog')[n % 2]}" for mass, c, n in rows
    ]
    (place / "pets.csv").write_text("id,mass,colour,pet\n" + "\n".join(lines) + "\n")
    (place / "new.csv").write_text("id,mass,colour\nx,5,black\ny,16,red\nz,9999,black\n")
    sequences, labels = make_dna(60, random_state=0)
    records = [
        f">s{n} label={label}\n{sequence}\n" for n, (sequence, label) in enumerate(zip(sequences, labels, strict=True))
    ]
    (place / "sequences.fa").write_text("".join(records))
    X = np.array([[0.0, 0.1], [0.2, 0.0], [1.0, 1.1], [1.2, 0.9]])
    to_libsvm(mercer.SVC(kernel="linear").fit(X, [0, 0, 1, 1]), place / "svm.model")
    return place


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def examples(command):
    text = (getattr(files, command).__doc__ or "").splitlines()
    return [shlex.split(line.strip())[1:] for line in text if line.strip().startswith("mercer ")]


@pytest.fixture
def model(here, capsys):
    if not (here / "model.mercer").exists():
        assert app.run(["fit", "pets.csv", "--target", "pet", "--quiet", "--folds", "3", "--C", "1"]) == 0
    capsys.readouterr()
    return here / "model.mercer"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_of_the_help_run(command, model, capsys):
    found = examples(command)
    assert len(found) == 3
    for arguments in found:
        assert arguments[0] == command
        out = ["-o", "other.mercer"] if command == "fit" else []
        assert app.run([*arguments, *out]) == 0, arguments
        assert capsys.readouterr().out


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


def test_predictions(model, capsys):
    assert app.run(["predict", str(model), "new.csv", "--reasons", "2"]) == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["object"] for row in rows] == ["x", "y", "z"]
    assert [row["prediction"] for row in rows[:2]] == ["cat", "dog"]
    assert [row["unlike_training"] for row in rows] == ["no", "no", "yes"]
    assert float(rows[0]["probability of cat"]) > 0.5
    assert "p" in rows[0]["reasons"]
    assert "unlike anything" in err
    assert app.run(["predict", str(model), "new.csv", "-o", "out.csv", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert Path("out.csv").read_text().startswith("object,prediction")


def test_predictions_from_stdin(model, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id,mass,colour\nx,5,black\n")))
    assert app.run(["predict", str(model), "-"]) == 0
    assert "x,cat" in capsys.readouterr().out


def many_pets(path, rows, wrong=""):
    lines = (f"n{n},{3 + n % 20},{('black', 'red', 'white')[n % 3]}\n" for n in range(rows))
    Path(path).write_text("id,mass,colour\n" + "".join(lines) + wrong)


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


def test_columns_that_the_model_does_not_know_are_left_alone(model, capsys):
    Path("more.csv").write_text("id,born,mass,colour,note\nx,2020-01-02,5,black,\ny,2021-03-04,16,red,late\n")
    assert app.run(["predict", str(model), "more.csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["prediction"] for row in rows] == ["cat", "dog"]


def mercer_process(*arguments, **more):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-m", "mercer", *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, **more)


def until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.skipif(sys.platform == "win32", reason="no-run: Windows has no SIGINT to send to one process")
def test_predictions_flow_and_an_interrupt_leaves_no_file(model, tmp_path):
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
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130
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


def test_evaluation(model, capsys):
    assert app.run(["evaluate", str(model), "pets.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["score"]["value"] > 0.9
    assert sum(map(sum, told["confusion"])) == 60
    assert "trained on" in told["verdict"]
    Path("odd.csv").write_text("mass,colour,pet\n5,black,bird\n6,red,cat\n")
    assert app.run(["evaluate", str(model), "odd.csv"]) == 3
    assert "'bird'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fit", "nothing.csv", "-t", "pet"], 3, "no such file"),
        (["fit", "pets.csv"], 3, "which column is to be learnt"),
        (["fit", "pets.csv", "-t", "pte"], 3, "there is no column"),
        (["fit", "pets.csv", "-t", "pet", "--kernel", "rbff"], 2, "rbff"),
        (["fit", "pets.csv", "-t", "pet", "--kernel", "__import__('os')"], 2, "kernel"),
        (["fit", "pets.csv", "-t", "pet", "--task", "clustering"], 2, "no task"),
        (["fit", "pets.csv", "-t", "pet", "-o", "missing/model.mercer"], 5, "Cannot save"),
        (["info", "pets.csv"], 5, "pets.csv"),
        (["predict", "nothing.mercer", "new.csv"], 5, "nothing.mercer"),
    ],
)
def test_refusals(arguments, code, message, here, capsys):
    assert app.run(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert message in err


def printed_by(code, capsys):
    exec(compile(code, "shown", "exec"), {})
    return capsys.readouterr().out


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
    assert told == {item["kernel"]: (round(item["value"], 4), item["penalty"]) for item in ranked}
    assert app.run(["compare", "pets.csv", *options, "--show-code", "--json"]) == 0
    assert "KernelSearchCV" in json.loads(capsys.readouterr().out)["code"]


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


def timeless(text):
    """Without the lines that speak of seconds, which are never the same."""
    kept = [line for line in text.splitlines() if not re.search(r"\d s\b|second|minute|per s", line)]
    assert len(kept) > 3
    return kept


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


def test_outputs_are_tried_before_training(here, capsys, monkeypatch):
    monkeypatch.setattr(fitting, "fit", lambda *a, **k: pytest.fail("trained"))
    for option in ("-o", "--report"):
        assert app.run(["fit", "pets.csv", "-t", "pet", option, "missing/file"]) == 5
        assert "there is no folder" in capsys.readouterr().err


def test_missing_columns_are_named(model, capsys):
    Path("less.csv").write_text("id,mass\nx,5\n")
    assert app.run(["predict", str(model), "less.csv"]) == 3
    assert "'colour'" in capsys.readouterr().err


def test_gram_matrices(here, capsys):
    points = [0.0, 0.1, 0.2, 2.0, 2.1, 2.2, 0.05, 2.05]
    names = [f"o{number}" for number in range(len(points))]
    matrix = [[str(2.0 ** -((a - b) ** 2)) for b in points] for a in points]
    head = "," + ",".join(names)
    Path("k.csv").write_text("\n".join([head, *(",".join([n, *row]) for n, row in zip(names, matrix, strict=True))]))
    Path("y.csv").write_text("".join(f"{n},{'near' if p < 1 else 'far'}\n" for n, p in zip(names, points, strict=True)))
    assert app.run(["fit", "k.csv", "--labels", "y.csv", "-o", "k.mercer", "--report", "k.html", "--folds", "2"]) == 0
    Path("new_k.csv").write_text(head + "\nq," + ",".join(str(2.0 ** -((0.07 - b) ** 2)) for b in points) + "\n")
    capsys.readouterr()
    assert app.run(["predict", "k.mercer", "new_k.csv"]) == 0
    assert "q,near" in capsys.readouterr().out
    # The head says which column is which, whatever their order; columns of others are ignored, none may be missing.
    order = [5, 3, 0, 7, 1, 6, 2, 4]
    Path("other.csv").write_text(
        "," + ",".join(names[n] for n in order) + ",zz\n"
        "q," + ",".join(str(2.0 ** -((0.07 - points[n]) ** 2)) for n in order) + ",9\n"
    )
    assert app.run(["predict", "k.mercer", "other.csv"]) == 0
    assert "q,near" in capsys.readouterr().out
    Path("less.csv").write_text(",o0,o1\nq,1,1\n")
    assert app.run(["predict", "k.mercer", "less.csv"]) == 3
    assert 'no column for 6 objects, the first "o2"' in capsys.readouterr().err


def test_what_check_and_diagnose_take(model, capsys):
    assert app.run(["check", str(model), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["command"] == "check"
    assert app.run(["check", str(model)]) == 0
    assert "The file is sound" in capsys.readouterr().out
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


def test_conversion_needs_what_the_other_side_has(model, capsys):
    assert app.run(["convert", str(model), "x.model"]) == 3
    assert "--no-scale" in capsys.readouterr().err
    assert app.run(["convert", "nothing", "x.model"]) == 2


def test_numbers_too_large_to_be_standardised_are_refused(here, capsys):
    lines = Path("pets.csv").read_text().splitlines()
    Path("large.csv").write_text("\n".join([*lines[:4], "q,1e300,red,cat", *lines[4:]]))
    assert app.run(["fit", "large.csv", "-t", "pet", "--no-report"]) == 3
    assert 'large.csv:5: column "mass": 1e+300 is too large' in capsys.readouterr().err


def test_one_object_is_no_evidence(model, capsys):
    Path("one.csv").write_text("id,mass,colour,pet\nx,5,black,cat\n")
    assert app.run(["evaluate", str(model), "one.csv"]) == 0
    out = capsys.readouterr().out
    assert "On this object the model" in out
    assert "of one class" in out
    assert app.run(["predict", str(model), "new.csv"]) == 0
    assert "note: 1 of 3 objects is unlike anything" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no-run: there is no full device here")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_full_disk_is_one_line(options, here):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-m", "mercer", "check", "pets.csv", *options]
    with open("/dev/full", "w") as full:
        found = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert found.returncode == 3
    assert "No space left" in found.stderr
    assert "Traceback" not in found.stderr


def test_strict_wants_convergence(here, monkeypatch, capsys):
    monkeypatch.setattr(fitting, "converged", lambda outcome: False)
    assert (
        app.run(
            ["fit", "pets.csv", "-t", "pet", "--strict", "--no-report", "-o", "x.mercer", "--C", "1", "-k", "linear"]
        )
        == 4
    )
    assert "did not converge" in capsys.readouterr().err


def test_cells_that_would_be_formulas():
    assert safe("=cmd()") == "'=cmd()"
    assert safe("@x") == "'@x"
    assert safe("-1") == "-1"
    assert safe(-1) == -1
    assert safe("plain") == "plain"


@pytest.mark.skipif(sys.platform == "win32", reason="no-run: Windows has no SIGINT to send to one process")
def test_interrupt_and_resume(here, tmp_path, monkeypatch, capsys):
    script = (
        "from mercer.cli import app\nfrom mercer.jobs import search\n"
        "import time\nwork = search._try\n"
        "def slow(*a, **k):\n    print('begun', flush=True)\n    time.sleep(0.5)\n    return work(*a, **k)\n"
        "search._try = slow\n"
        f"app.main(['fit', 'pets.csv', '-t', 'pet', '-o', '{tmp_path}/m', '--report', '{tmp_path}/r'])"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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
    assert "with --resume goes on" in err
    arguments = ["fit", "pets.csv", "-t", "pet", "-o", f"{tmp_path}/m", "--report", f"{tmp_path}/r", "--json"]
    assert app.run([*arguments, "--resume", "--seed", "7"]) == 3
    assert "other options" in capsys.readouterr().err
    tried = []
    once = search._try
    monkeypatch.setattr(search, "_try", lambda *a, **k: tried.append(1) or once(*a, **k))
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

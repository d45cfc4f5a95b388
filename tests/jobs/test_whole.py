"""Files that are larger than memory: chosen on a sample, trained on everything, in blocks."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mercer
from mercer.errors import DataFileError
from mercer.jobs import prepared, ways, whole
from mercer.jobs.code import equivalent
from mercer.jobs.fitting import fit
from mercer.jobs.problem import Plan
from mercer.readers.options import Options
from mercer.report import write
from mercer.training.kernel_estimator import fit_with_kernel
from tests.readers.arrow_files import write_arrow

N = 3000
RNG = np.random.default_rng(0)
X = RNG.uniform(size=(N, 2))
COLOUR = np.array(["red", "blue"])[RNG.integers(2, size=N)]
Y = np.array(["no", "yes"])[(np.sin(5 * X[:, 0]) + (COLOUR == "red") > X[:, 1]).astype(int)]
NUMBER = np.sin(5 * X[:, 0]) + X[:, 1]
WORDS = ["".join(RNG.choice(list("ACGT" if label == "yes" else "AACG"), size=20)) for label in Y]
SMALL = {"C": 10.0, "folds": 2, "search_size": 600, "memory": 16.0}


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    """Small files count as large ones, samples and blocks are small, and few landmarks are tried."""
    monkeypatch.setattr(whole, "_UNPACKED", 1e6)
    monkeypatch.setattr(whole, "_UNPACKED_NUMBERS", 1e6)
    monkeypatch.setattr(whole, "_FEWEST", 2000)
    monkeypatch.setattr(prepared, "ROWS", 400)
    monkeypatch.setattr(prepared, "_PIECES", (5000, 5000))
    monkeypatch.setattr(prepared, "_NUMBERS", 150)
    monkeypatch.setattr(ways, "NUMBERS_OF_LANDMARKS", (60,))


def csv(y=Y):
    rows = zip(X.tolist(), COLOUR, y, strict=True)
    return "a,b,colour,y\n" + "".join(f"{a:.6f},{b:.6f},{colour},{label}\n" for (a, b), colour, label in rows)


@pytest.fixture
def file(tmp_path):
    def make(format_):
        path = tmp_path / f"rows.{format_}"
        if format_ == "csv":
            path.write_text(csv())
        elif format_ in ("parquet", "arrow"):
            write_arrow(path, {"a": X[:, 0], "b": X[:, 1], "colour": COLOUR, "y": Y}, rows=700)
        elif format_ == "npy":
            np.save(path, np.column_stack([X, COLOUR == "red", Y == "yes"]).astype(np.float32))
        elif format_ == "jsonl":
            path.write_text("".join(json.dumps({"a": a, "b": b, "colour": c, "y": y}) + "\n" for (a, b), c, y in
                                    zip(X.tolist(), COLOUR.tolist(), Y.tolist(), strict=True)))  # fmt: skip
        elif format_ == "svm":
            path.write_text("".join(f"{int(y == 'yes')} 1:{a:.6f} 2:{b:.6f} 3:{int(c == 'red')}\n" for (a, b), c, y in
                                    zip(X.tolist(), COLOUR, Y, strict=True)))  # fmt: skip
        elif format_ == "fa":
            path.write_text("".join(f">s{i} {y}\n{w}\n" for i, (w, y) in enumerate(zip(WORDS, Y, strict=True))))
        return path

    return make


@pytest.mark.parametrize("format_", ["csv", "parquet", "arrow", "npy", "jsonl", "svm", "fa"])
def test_any_format(file, format_, tmp_path):
    path = file(format_)
    kernel = {"fa": "normalise(spectrum(p=2))", "csv": "auto"}.get(format_, "rbf(gamma=1)")
    plan = {**SMALL, "kernel": kernel}
    least = {"fa": 0.7, "csv": 0.9, "npy": 0.9, "svm": 0.9}.get(format_, 0.75)  # tables: of numbers alone
    target = {"npy": "4", "svm": None, "fa": None}.get(format_, "y")
    found = mercer.fit(path, target, **plan)
    about = found.model.about
    assert (about["objects"], about["trained_on"] + about["scored_on"]) == (N, N)
    assert about["way"] == "60 landmarks"
    assert found.estimate.value > least
    assert "a random sample of 2,000 of 3,000 objects" in found.trained.why
    assert "block by block" in found.trained.why
    saved = tmp_path / "model.mercer"
    mercer.save(found.model, saved)
    data = mercer.readers.read(path, found.model.preparation.reading(Options(target=target)))
    assert (mercer.load(saved).predict(data) == data.labels).mean() > least
    code = equivalent(found, str(path), Options(target=target))
    assert code.startswith(f"import mercer\n\noutcome = mercer.fit({str(path)!r}")
    write(found, str(tmp_path / "report.html"))
    assert "block by block" in (tmp_path / "report.html").read_text()
    assert not [name for name in os.listdir(tmp_path) if name.endswith((".blocks", ".run"))]


def test_the_machine_is_that_of_all_objects(file, monkeypatch):
    """The same landmarks, trained on all prepared objects in memory."""
    seen = {}
    real = prepared.prepared

    def kept(*given):
        found = real(*given)
        seen["X"] = np.vstack([np.asarray(block.objects.values) for block in found.blocks])
        seen["y"] = found.blocks.y
        return found

    monkeypatch.setattr("mercer.jobs.fitting.prepared", kept)
    found = mercer.fit(file("npy"), "4", kernel="rbf(gamma=1)", **SMALL)
    machine = mercer.SVC(kernel=found.model.estimator.kernel, C=found.trained.penalty)
    fit_with_kernel(machine, found.model.estimator.kernel_, seen["X"], seen["y"])
    new = found.model.objects(np.column_stack([X, COLOUR == "red"])[:200])
    np.testing.assert_allclose(found.model.decisions(new)[:, 0], machine.decision_function(new), atol=0.02)
    places = np.setdiff1d(np.arange(N), [int(found.problem.data.name_of(row)) - 1 for row in found.held_out])
    raw = np.column_stack([X, COLOUR == "red"]).astype(np.float32)[places]
    expected = (raw - found.model.preparation.centres) / found.model.preparation.scales
    np.testing.assert_allclose(seen["X"], expected, rtol=1e-6, atol=1e-6)
    assert seen["y"].tolist() == (Y[places] == "yes").astype(int).tolist()


def test_numbers_are_learnt_with_gaps_filled(tmp_path):
    path = tmp_path / "rows.csv"
    lines = csv([f"{value:.5f}" for value in NUMBER]).splitlines()
    lines[2700] = "," + lines[2700].split(",", 1)[1]  # a gap
    path.write_text("\n".join(lines) + "\n")
    found = mercer.fit(path, "y", kernel="rbf(gamma=1)", **SMALL)
    assert found.problem.task == "regression"
    assert found.estimate.value > 0.95
    assert found.model.about["penalty_name"] == "alpha"


@pytest.mark.parametrize(
    ("row", "line", "says"),
    [
        (2900, "0.1,oops,red,yes", r'rows.csv:2902: column "b": "oops" is not a number'),
        (2900, "0.1,0.2,red,", r'rows.csv:2902: column "y": 1 object of \d+ has no label'),
        (2900, "0.1,0.2,red", r"rows.csv:2902: 3 columns, but line 1 has 4"),
    ],
)
def test_what_appears_late_is_answered_with_its_line(tmp_path, monkeypatch, row, line, says):
    path = tmp_path / "rows.csv"
    lines = csv().splitlines()
    lines[1 + row] = line
    path.write_text("\n".join(lines) + "\n")
    seed = next(seed for seed in range(50) if not _sampled(path, seed, 2 + row))
    with pytest.raises(DataFileError, match=says):
        mercer.fit(path, "y", kernel="rbf(gamma=1)", seed=seed, **SMALL)


def _sampled(path, seed, line):
    from mercer.readers.thinning import Reservoir

    drawn = Reservoir(2000, seed)
    drawn.offer(range(2, 2 + N), [b""] * N)
    return line in {found for _, found, _ in drawn.kept}


def test_labels_that_the_sample_lacks_are_left_out_with_a_note(tmp_path):
    path = tmp_path / "rows.csv"
    seed = next(seed for seed in range(50) if not _sampled(path, seed, 2902))
    labels = Y.astype("<U9")
    labels[2900] = "perhaps"
    path.write_text(csv(labels))
    found = mercer.fit(path, "y", kernel="rbf(gamma=1)", seed=seed, **SMALL)
    assert found.model.classes.tolist() == ["no", "yes"]
    assert any("1 object left out" in note and '"perhaps" (line 2,902)' in note for note in found.notes)
    assert found.model.about["trained_on"] + len(found.held_out) == N - 1


def test_labels_of_a_separate_file(tmp_path):
    np.save(tmp_path / "rows.npy", np.column_stack([X, COLOUR == "red"]))
    (tmp_path / "labels.txt").write_text("\n".join(Y) + "\n")
    reading = whole.beyond_memory(tmp_path / "rows.npy", Options(labels=str(tmp_path / "labels.txt")), 16.0)
    large = whole.Whole.of(tmp_path / "rows.npy", reading, 16.0, 0, str(tmp_path / "model"))
    found = fit(large.data, Plan(kernel="rbf(gamma=1)", **SMALL), whole=large)
    assert found.estimate.value > 0.9


def test_weights(tmp_path):
    weights = np.where(Y == "yes", 1.0, 1e-6)
    write_arrow(tmp_path / "rows.parquet", {"a": X[:, 0], "b": X[:, 1], "w": weights, "y": Y}, rows=N)
    found = mercer.fit(tmp_path / "rows.parquet", "y", weight="w", kernel="rbf(gamma=1)", **SMALL)
    assert (found.model.machine.predict(found.problem.objects) == "yes").mean() > 0.99  # others hardly count


def test_what_fits_is_read_whole(file, monkeypatch):
    monkeypatch.setattr(whole, "_UNPACKED", 8.0)
    assert whole.beyond_memory(file("csv"), Options(), 16.0) is None
    assert whole.beyond_memory(file("csv"), Options(max_bytes=1000), None) is None  # refused by whoever reads it
    square = file("csv").with_name("square.npy")
    np.save(square, np.eye(50))
    assert whole.beyond_memory(square, Options(), 16.0) is None  # perhaps a Gram matrix


# ------------------------------------------------------------------------------------------- processes of their own

_RUN = """
import resource, sys
from mercer.cli.app import run
code = run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
sys.exit(code)
"""
_FIXED = ["--kernel", "rbf(gamma=0.003)", "--C", "1", "--search-size", "500", "--folds", "2", "--no-report", "-q"]


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A file of rows of 100 numbers, 4.5 MB for each 6,000 of them."""
    random = np.random.default_rng(0)
    numbers = random.normal(size=(2000, 100))
    y = np.sin(numbers[:, 0]) + numbers[:, 1]
    rows = [",".join(f"{value:.4f}" for value in row) for row in np.column_stack([numbers, y]).tolist()]
    text = "\n".join(rows) + "\n"
    folder = tmp_path_factory.mktemp("wide")

    def make(times):
        path = folder / f"{times}.csv"
        path.write_text(",".join(f"x{place}" for place in range(100)) + ",y\n" + text * times)
        return path

    return make


def command(path, model, memory, *more):
    arguments = ["fit", str(path), "--target", "y", "--memory", str(memory), "-o", str(model), *_FIXED, *more]
    return [sys.executable, "-c", _RUN, *arguments]


def test_memory_is_bounded(wide, tmp_path):
    """Five times the data take no more memory; read whole, they would take hundreds of MiB more."""
    peaks = []
    for times in (3, 15):
        told = subprocess.run(
            command(wide(times), tmp_path / "model.mercer", 16), capture_output=True, text=True, check=True
        )
        peaks.append(int(told.stdout.split()[-1]))
    assert wide(15).stat().st_size > 20 * 2**20
    assert peaks[1] - peaks[0] < 100, peaks  # what the program itself takes varies by tens of MiB


def test_folders_of_others_are_left_alone(wide, tmp_path):
    mine = tmp_path / "model.mercer.blocks" / "letter.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    told = subprocess.run(command(wide(6), tmp_path / "model.mercer", 16), capture_output=True, text=True, check=False)
    assert told.returncode == 3
    assert "model.mercer.blocks is in the way" in told.stderr
    assert mine.read_text() == "mine"


def test_a_killed_run_goes_on_with_the_same_bits(wide, tmp_path):
    whole_, killed = tmp_path / "whole.mercer", tmp_path / "killed.mercer"
    subprocess.run(command(wide(6), whole_, 16), capture_output=True, check=True)
    state = tmp_path / "killed.mercer.blocks" / "state.json"
    process = subprocess.Popen(command(wide(6), killed, 16), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        if state.exists() and json.loads(state.read_text())["entries"]:
            break
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not killed.exists()
    entries = json.loads(state.read_text())["entries"]
    assert entries
    subprocess.run(command(wide(6), killed, 16, "--resume"), capture_output=True, check=True)
    found, expected = (mercer.load(path).machine.expansion for path in (killed, whole_))
    np.testing.assert_array_equal(found.coefficients, expected.coefficients)
    np.testing.assert_array_equal(found.intercept, expected.intercept)
    assert sorted(os.listdir(tmp_path)) == ["killed.mercer", "whole.mercer"]

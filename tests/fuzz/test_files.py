"""Some dozens of mutated files of every format; ``python -m tests.fuzz.files FORMAT`` tries 10,000 of one."""

import os
import sys

import pytest

from mercer.testing.file_samples import file_samples

if sys.platform == "win32":
    pytest.skip("no-run: Windows has no limits of memory for a process", allow_module_level=True)

from tests.fuzz.files import all_answered, answered, run, write_case

CASES = int(os.environ.get("MERCER_FUZZ_FILES", "40"))
FORMATS = sorted({sample.format for sample in file_samples()})


@pytest.fixture(scope="module")
def fine():
    """The formats without a failure, from one process: starting one for each takes longer than their files do."""
    return all_answered(FORMATS, CASES)


@pytest.mark.parametrize("format_", FORMATS)
def test_mutated_files_are_answered(format_, fine):
    if format_ in fine:
        return
    failures = [f"{format_} {case}: {why}" for case, why in run(format_, range(CASES))]
    assert not failures, "\n".join(failures)


def test_cases_repeat_and_differ(tmp_path):
    def content(case, name):
        (tmp_path / name).mkdir()
        return write_case("csv", case, tmp_path / name)[0].read_bytes()

    assert content(3, "a") == content(3, "b") != content(4, "c")


def test_some_are_read_and_some_refused():
    told = {answered("fasta", case) for case in range(40)}
    assert {"read read", "refused refused"} <= told


def test_a_reader_that_fails_is_seen(monkeypatch, tmp_path):
    """The process that reads is told of a broken reader by its environment."""
    (tmp_path / "sitecustomize.py").write_text(
        "import mercer.readers.fasta as f\n"
        "def broken(*a, **k):\n    raise IndexError('planted')\n"
        "f.read_fasta = broken\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    import tests.fuzz.files as files

    plain = files.os.pathsep
    monkeypatch.setattr(files.os, "pathsep", f"{plain}{tmp_path}{plain}")
    assert all_answered(["fasta", "csv"], 2) == {"csv"}
    (case, why), *_ = run("fasta", range(2))
    assert case == 0
    assert "planted" in why

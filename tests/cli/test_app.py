"""Help, version, errors and exit codes: what every command has in common."""

import json
import os
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import mercer
from mercer.cli import app, demo
from mercer.errors import InputError, MissingExtraError, ModelFileError, ParameterError

SOURCE = Path(mercer.__file__).parents[1]
HEAVY = ("numba", "numpy", "scipy", "sklearn", "matplotlib", "pandas")


def python(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    path = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONIOENCODING": "utf-8", **environment}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=path, capture_output=True, encoding="utf-8", timeout=120, check=False)


LIGHT = [["--help"], ["--version"], ["demo", "--help"], ["fit", "--help"], ["kernels"]]
LOADED = f"""
import json, sys
from mercer.cli.app import run

for arguments in json.loads(sys.argv[1]):
    code = run(arguments)
    print("loaded", code, *[name for name in {HEAVY} if name in sys.modules])
from mercer import kernels

kernels.Spectrum(2).fit(["ab"])(["ab"])
print("loaded", 0, *[name for name in {HEAVY} if name in sys.modules])
"""


@pytest.fixture(scope="module")
def loaded_by() -> list[set[str]]:
    """Which heavy libraries are loaded after each light command, and last after a kernel value, in one process."""
    ended = python("-c", LOADED, json.dumps(LIGHT))
    assert ended.returncode == 0, ended.stderr
    lines = [line.split()[1:] for line in ended.stdout.splitlines() if line.startswith("loaded")]
    assert [line[0] for line in lines] == ["0"] * (len(LIGHT) + 1)
    return [set(line[1:]) for line in lines]


@pytest.mark.parametrize("number", range(len(LIGHT)), ids=[" ".join(arguments) for arguments in LIGHT])
def test_light_commands_load_nothing_heavy(number: int, loaded_by: list[set[str]]) -> None:
    assert loaded_by[number] == set()


def test_the_check_for_heavy_libraries_can_fail(loaded_by: list[set[str]]) -> None:
    assert "numba" in loaded_by[-1]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["--version"]) == 0
    assert capsys.readouterr().out == f"mercer {mercer.__version__}\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run([option]) == 0
    out, err = capsys.readouterr()
    assert "Usage: mercer" in out
    assert "demo " in out
    assert "kernels " in out
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80


def test_bare_command_prints_help_and_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run([]) == 2
    assert "Usage: mercer" in capsys.readouterr().out


COMMANDS = ["demo", "fit", "predict", "evaluate", "compare", "diagnose", "check", "info", "convert", "kernels"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_commands_has_examples_that_parse(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run([command, "--help"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    examples = [shlex.split(line)[1:] for line in lines if line.startswith("mercer ")]
    assert len(examples) == 3
    for arguments in examples:
        assert arguments[0] == command
        assert app.run([*arguments, "--help"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["kernls"], "no such command 'kernls'", "Did you mean 'kernels'?"),
        (["zzz"], "no such command 'zzz'", "mercer --help"),
        (["demo", "--sed", "1"], "no such option: --sed", "Did you mean --seed?"),
        (["demo", "--seed", "x"], "invalid value for '--seed'", "mercer --help"),
        (["demo", "--seed", "-1"], "invalid value for '--seed'", "mercer --help"),
        (["kernels", "rbf", "poly"], "unexpected extra argument", "mercer --help"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    first, second = err.splitlines()
    assert first.startswith("error: ")
    assert message in first
    assert second.startswith("hint: ")
    assert hint in second


@pytest.mark.parametrize(
    ("error", "code", "name"),
    [
        (InputError("row 3\nis bad"), 3, "data"),
        (FileNotFoundError(2, "No such file", "x.csv"), 3, "data"),
        (ParameterError("C is bad"), 2, "usage"),
        (MissingExtraError("no rdkit"), 2, "usage"),
        (ModelFileError("damaged"), 5, "model_file"),
        (RuntimeError("oops\nagain"), 1, "unexpected"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_exit_codes(
    error: BaseException, code: int, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(demo, "show", fail)
    assert app.run(["demo"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert all(line.startswith(("error: ", "hint: ")) for line in err.splitlines())
    assert len(err.splitlines()) <= 2
    assert app.run(["demo", "--json"]) == code
    out, _ = capsys.readouterr()
    told = json.loads(out)
    assert told["schema_version"] == 1
    assert told["error"]["code"] == name
    assert set(told["error"]) == {"code", "message", "hint"}


def test_notes_of_an_error_are_its_hint(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(**_: object) -> None:
        error = InputError("bad")
        error.add_note("do better")
        raise error

    monkeypatch.setattr(demo, "show", fail)
    assert app.run(["demo"]) == 3
    assert capsys.readouterr().err == "error: bad\nhint: do better\n"


def test_interrupt_wrapped_by_compiled_code_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr(demo, "show", fail)
    assert app.run(["demo"]) == 130
    assert capsys.readouterr().err == "error: interrupted\n"


def test_traceback_only_when_asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("oops")

    monkeypatch.setattr(demo, "show", fail)
    assert app.run(["demo"]) == 1
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert "--debug" in err
    assert app.run(["demo", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_warnings_are_one_line_each(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def warn(**_: object) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("careful\nthere", UserWarning, stacklevel=1)

    monkeypatch.setattr(demo, "show", warn)
    assert app.run(["demo"]) == 0
    assert capsys.readouterr().err == "warning: careful there\n"


def test_main_exits(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out


def test_as_a_module() -> None:
    ended = python("-m", "mercer", "nothing")
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: no such command 'nothing'\n")


def test_what_an_encoding_lacks_is_no_error() -> None:
    script = "from mercer.cli import app, kernels; kernels.list_all = lambda _: print('1 ± 2'); app.main(['kernels'])"
    ended = python("-c", script, PYTHONIOENCODING="ascii")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "1 ? 2\n"


@pytest.mark.skipif(sys.platform == "win32", reason="no-run: pipes end otherwise on Windows")
def test_a_reader_that_leaves_is_no_error() -> None:
    command = [sys.executable, "-m", "mercer", "kernels"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    read, write = os.pipe()
    os.close(read)
    try:
        ended = subprocess.run(command, env=environment, stdout=write, stderr=subprocess.PIPE, timeout=60, check=False)
    finally:
        os.close(write)
    assert ended.stderr == b""

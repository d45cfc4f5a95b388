"""What a terminal shows: run on a pseudo-terminal of 80 columns."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mercer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no-run: pseudo-terminals are POSIX's")
SOURCE = Path(mercer.__file__).parents[1]
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(*arguments: str, script: str | None = None, **environment: str) -> str:
    """What a command, or a script, shows."""
    import pty

    ours, theirs = pty.openpty()
    shown = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    shown |= {"PYTHONPATH": str(SOURCE), "TERM": "xterm-256color", "COLUMNS": "80", **environment}
    command = ["-m", "mercer"] if script is None else ["-c", script]
    process = subprocess.Popen([sys.executable, *command, *arguments], env=shown, stdout=theirs, stderr=theirs)
    os.close(theirs)
    read = bytearray()
    try:
        while chunk := os.read(ours, 4096):
            read += chunk
    except OSError:  # how Linux says that the other side is gone
        pass
    finally:
        os.close(ours)
        process.wait(timeout=60)
    return read.decode().replace("\r\n", "\n")


def test_colours_and_a_rule_on_a_terminal() -> None:
    out = on_terminal("kernels")
    assert "\x1b[1m" in out
    assert "───" in out
    assert max(len(ESCAPE.sub("", line)) for line in out.splitlines()) <= 80


def test_no_colour_when_not_wanted() -> None:
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", on_terminal("kernels", NO_COLOR="1"))


def test_plain_on_a_dumb_terminal() -> None:
    out = on_terminal("kernels", TERM="dumb")
    assert "\x1b" not in out
    assert "───" not in out


DEMO_IN_TWO_WIDTHS = """
import os
from mercer.cli import app, demo

found = list(demo.run(0, 2, fast=True))  # once for both
demo.run = lambda *_, **__: iter(found)
for columns in ("80", "50"):
    os.environ["COLUMNS"] = columns
    print("|", app.run(["demo", "--fast", "--quiet"]))
"""


def test_no_digit_of_the_demo_is_lost() -> None:
    wide, narrow, rest = re.split(r"\| 0\n", ESCAPE.sub("", on_terminal(script=DEMO_IN_TWO_WIDTHS)))
    assert rest == ""
    for out in (wide, narrow):
        assert "…" not in out
        assert len(re.findall(r"\d ± \d", out)) >= 15
    assert wide != narrow


def test_help_has_no_boxes() -> None:
    assert not set("╭│╰\x1b") & set(on_terminal("--help"))


def test_narrow_terminals_lose_no_kernel_and_no_figure(tmp_path: Path) -> None:
    rows = "".join(f"{number % 7},{number % 3},{'cat' if number % 7 < 4 else 'dog'}\n" for number in range(40))
    path = tmp_path / "pets.csv"
    path.write_text(f"mass,age,pet\n{rows}")
    options = (str(path), "-t", "pet", "-k", "rbf(gamma=0.5)", "--C", "1", "--folds", "2")
    commands = [["compare", *options], ["fit", *options, "-o", str(tmp_path / "m"), "--no-report"]]
    script = f"from mercer.cli.app import run\nfor command in {commands}: print('|', run([*command, '--quiet']))"
    *shown, rest = re.split(r"\| 0\n", ESCAPE.sub("", on_terminal(script=script, COLUMNS="40", NO_COLOR="1")))
    assert (len(shown), rest) == (2, "")
    for out in shown:
        assert "…" not in out
        table = "".join(line.split("  ")[0].strip() for line in out.splitlines())
        assert "rbf(gamma=0.5)" in table.replace(" ", "")

"""Progress: nothing off a terminal or when it is quick, one line on a terminal when it is slow."""

import io
import os
import subprocess
import sys
import textwrap
import types

import pytest

from mercer import _progress

PROGRAM = textwrap.dedent("""
    import sys, time
    from mercer import _progress
    _progress._SECONDS_BEFORE_SHOWING = float(sys.argv[1])
    with _progress.reporting("Outer work") as outer:
        for step in range(5):
            with _progress.reporting("Inner work") as inner:
                time.sleep(0.12)
                inner(0.5)
            outer((step + 1) / 5, "gap 0.01")
    print("result")
""")


def on_a_terminal(before_showing, **environment):
    import pty

    terminal, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(before_showing)],
        stdout=subprocess.PIPE,
        stderr=other,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"} | environment,
    )
    os.close(other)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # how Linux says that the other end was closed
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == 0
    return output.decode(), shown.decode()


needs_pty = pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")


@needs_pty
def test_slow_work_on_a_terminal_shows_the_outermost_bar():
    output, shown = on_a_terminal(0.0)
    assert output == "result\n"
    assert "Outer work" in shown
    assert "gap 0.01" in shown
    assert "Inner work" not in shown


@needs_pty
def test_quick_work_shows_nothing():
    assert on_a_terminal(60.0) == ("result\n", "")


@needs_pty
def test_a_dumb_terminal_shows_nothing():
    assert on_a_terminal(0.0, TERM="dumb") == ("result\n", "")


def test_silent_off_a_terminal():
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, "0"], capture_output=True, text=True, check=True, timeout=60
    )
    assert (process.stdout, process.stderr) == ("result\n", "")


def test_silenced(monkeypatch):
    monkeypatch.setattr(_progress, "_somebody_watches", lambda: True)
    with _progress.silenced(), _progress.reporting("Work") as report:
        assert not report._shown
    with _progress.reporting("Work") as report:
        assert report._shown


def test_a_failure_closes_the_bar(monkeypatch):
    monkeypatch.setattr(_progress, "_somebody_watches", lambda: True)
    with pytest.raises(KeyError), _progress.reporting("Work"):
        raise KeyError
    with _progress.reporting("Work") as report:
        assert report._shown  # not taken for work inside work


def test_no_stderr_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert not _progress._somebody_watches()


def test_notebooks_watch_too(monkeypatch):
    class ZMQInteractiveShell:
        pass

    class TerminalInteractiveShell:
        pass

    module = types.ModuleType("IPython")
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    for shell, watched in ((ZMQInteractiveShell(), True), (TerminalInteractiveShell(), False), (None, False)):
        module.get_ipython = lambda shell=shell: shell
        assert _progress._somebody_watches() is watched

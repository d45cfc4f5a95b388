"""Every example in the help of a command on files runs."""

import shlex

import pytest

from mercer.cli import app, commands

COMMANDS = ["check", "fit", "compare", "diagnose", "info", "predict", "evaluate", "convert"]


def examples(command):
    text = (getattr(commands, command).__doc__ or "").splitlines()
    return [shlex.split(line.strip())[1:] for line in text if line.strip().startswith("mercer ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_of_the_help_run(command, model, capsys):
    found = examples(command)
    assert len(found) == 3
    for arguments in found:
        assert arguments[0] == command
        out = ["-o", "other.mercer"] if command == "fit" else []
        assert app.run([*arguments, *out]) == 0, arguments
        assert capsys.readouterr().out

"""Asking for help or the version imports nothing heavy."""

import subprocess
import sys

import pytest

HEAVY = ("numba", "sklearn", "matplotlib", "scipy", "pandas", "polars", "numpy")


def imported(statement):
    program = f"import sys\ntry:\n    {statement}\nexcept SystemExit:\n    pass\nprint('|' + ' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    return {name.partition(".")[0] for name in run.stdout.rpartition("|")[2].split()}


@pytest.mark.parametrize("statement", ["import mercer", "import mercer.kernels", "import mercer._registry"])
def test_the_package(statement):
    assert imported(statement).isdisjoint(HEAVY)


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_the_command_line(argument):
    pytest.importorskip("mercer.cli.app")
    run = f"import runpy; sys.argv = ['mercer', {argument!r}]; runpy.run_module('mercer', run_name='__main__')"
    assert imported(run).isdisjoint(("numba", "sklearn", "matplotlib"))


def test_the_test_itself_notices():
    assert "numpy" in imported("import numpy")

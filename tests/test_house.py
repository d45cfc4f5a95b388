"""The rules of the house hold, and each of them is seen to fail on a planted breach."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mercer.cli import app
from mercer.cli.commands import COMMANDS
from tests import house_rules, imports

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LOCKS = sorted(ROOT.glob("requirements*.lock"))

Rule = Callable[[list[Path]], list[str]]

RULES: list[tuple[Rule, list[Path], list[str]]] = [
    (house_rules.too_long, SOURCES, ["x = 1\n" * 401]),
    (
        house_rules.numba_outside_jit,
        SOURCES,
        ["import numba\n", "def f():\n    import numba as nb\n", "from numba import njit\n", "import numba.core\n"],
    ),
    (
        house_rules.locking_properties,
        SOURCES,
        [
            "from functools import cached_property\n",
            "import functools\n\n\n@functools.cached_property\ndef f(x): pass\n",
        ],
    ),
    (house_rules.parallel_loops, SOURCES, ["@njit(nogil=True, parallel=True)\ndef f(): pass\n"]),
    (
        house_rules.compiled_from_elsewhere,
        SOURCES,
        ["from mercer.errors import LIMIT\n\n\n@jit\ndef f(x):\n    return x + LIMIT\n"],
    ),
    (
        house_rules.kernels_by_class,
        SOURCES,
        ["def f(k):\n    return isinstance(k, int | Spectrum)\n", "match k:\n    case RBF():\n        pass\n"],
    ),
    (
        house_rules.deep_inheritance,
        SOURCES,
        [
            "class A(BaseEstimator): pass\nclass B(A): pass\nclass C(B): pass\nclass D(C): pass\n",
            "class Deep(Mixin, NuSVC): pass\n",
        ],
    ),
    (
        house_rules.code_from_data,
        SOURCES,
        [
            "import pickle\n",
            "from pickle import loads\n",
            "def f():\n    import dill\n",
            "eval('1')\n",
            "exec('x = 1')\n",
            "import joblib\njoblib.load('x')\n",
            "from joblib import load\n",
            "import numpy as np\nnp.load('x', allow_pickle=True)\n",
            "import numpy as np\nnp.load('x', allow_pickle=trusted)\n",
        ],
    ),
    (
        house_rules.addresses,
        LOCKS,
        [
            "--extra-index-url https://mirror.example/simple\n",
            "-i file:///somewhere\n",
            "--find-links /wheels\n",
            "a @ file:///wheels/a.whl\n",
        ],
    ),
    (house_rules.too_complex, SOURCES, ["def f(x):\n" + "    if x: pass\n" * 15]),
    (house_rules.too_many_parameters, SOURCES, ["def f(a, b, c, d, e, f, g, h, i): pass\n"]),
    (house_rules.private_attributes, SOURCES, ["def f(other):\n    return other._hidden\n"]),
    (house_rules.array_types, SOURCES, ["Rows = npt.NDArray[np.intp]\n"]),
    (house_rules.unexplained_constants, SOURCES, ["import math\n\n_MOST = 2**20\n"]),
    (house_rules.untested_modules, SOURCES, ["x = 1\n"]),
    (house_rules.unhashed, LOCKS, ["numpy==2.4.6\n", "numpy>=2 \\\n    --hash=sha256:00\n"]),
]


def test_rules_hold() -> None:
    """All of them in one test: each file is parsed once, and by one worker."""
    assert SOURCES
    assert LOCKS
    of_all = (house_rules.untested_modules, house_rules.deep_inheritance)
    of_one = [rule for rule, files, _ in RULES if files is SOURCES and rule not in of_all]
    found = house_rules.broken(of_one, SOURCES)
    found |= {rule.__name__: rule(files) for rule, files, _ in RULES if rule.__name__ not in found}
    assert len(found) == len(RULES)
    assert {name: complaints for name, complaints in found.items() if complaints} == {}


@pytest.mark.parametrize(
    ("rule", "breach"),
    [pytest.param(rule, breach, id=f"{rule.__name__}-{i}") for rule, _, all_ in RULES for i, breach in enumerate(all_)],
)
def test_rule_can_fail(rule: Rule, breach: str, tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(breach)
    assert any("planted" in complaint for complaint in rule([planted]))


def test_no_import_cycles(tmp_path: Path) -> None:
    assert imports.import_cycles(SOURCES) == []
    (tmp_path / "one.py").write_text("import two\n")
    (tmp_path / "two.py").write_text("def f():\n    from one import x\n")
    assert imports.import_cycles(sorted(tmp_path.glob("*.py"))) == ["one -> two"]


def test_rules_accept_what_is_right(tmp_path: Path) -> None:
    (tmp_path / "_jit.py").write_text(
        "import numba\n\n\ndef njit(f):\n    return numba.njit(nogil=True, parallel=False)(f)\n"
    )
    (tmp_path / "fine.py").write_text("import numpy as np\n\nnp.load('x', allow_pickle=False)\nre.compile('x')\n")
    files = sorted(tmp_path.glob("*.py"))
    for rule in (house_rules.numba_outside_jit, house_rules.parallel_loops, house_rules.code_from_data):
        assert rule(files) == []


def test_pythons_of_the_lock_cover_those_of_the_package() -> None:
    """numpy and scipy of the lock differ by Python version: one of each per version, no gap."""
    for lock in LOCKS:
        text = lock.read_text()
        for package in ("numpy", "scipy"):
            markers = re.findall(rf"^{package}==\S+ *(?:; *(\S.*?))? *\\$", text, re.MULTILINE)
            assert sorted(markers) in ([""], ["python_full_version < '3.12'", "python_full_version >= '3.12'"])


class TestScript:
    """`./mercer` refuses before it installs, and leaves alone what it did not make."""

    @staticmethod
    def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", str(ROOT / "mercer"), *arguments],
            cwd=cwd,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    @pytest.mark.parametrize("argument", ["bogus", "--bogus", "demo test", "; ls", "*", "-"])
    def test_unknown_command(self, argument: str, tmp_path: Path) -> None:
        result = self.run(argument, cwd=tmp_path, MERCER_VENV=str(tmp_path / "venv"))
        assert result.returncode == 2
        assert "no such command" in result.stderr
        assert not (tmp_path / "venv").exists()

    def test_bare(self, tmp_path: Path) -> None:
        result = self.run(cwd=tmp_path, MERCER_VENV=str(tmp_path / "venv"))
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr.startswith("Usage: ./mercer")
        assert not (tmp_path / "venv").exists()

    def test_help_and_version_install_nothing(self, tmp_path: Path) -> None:
        venv = str(tmp_path / "venv")
        assert self.run("--help", cwd=tmp_path, MERCER_VENV=venv).stdout.startswith("Usage: ./mercer")
        version = re.fullmatch('__version__ = "(.*)"\n', (ROOT / "src/mercer/_version.py").read_text())
        assert version is not None
        assert self.run("--version", cwd=tmp_path, MERCER_VENV=venv).stdout == f"mercer {version[1]}\n"
        assert not (tmp_path / "venv").exists()

    def test_foreign_environment_is_left_alone(self, tmp_path: Path) -> None:
        keepsake = tmp_path / "venv" / ".hidden"
        keepsake.parent.mkdir()
        keepsake.write_text("mine")
        result = self.run("demo", cwd=tmp_path, MERCER_VENV="venv", MERCER_PYTHON=sys.executable)
        assert result.returncode == 2
        assert "was not made by this script" in result.stderr
        assert [path.name for path in keepsake.parent.iterdir()] == [".hidden"]

    def test_failed_install_says_why_and_is_not_taken_for_whole(self, tmp_path: Path) -> None:
        venv = tmp_path / "venv"
        venv.mkdir()  # empty: nobody's, so it may be used
        offline = {"MERCER_VENV": str(venv), "MERCER_PYTHON": sys.executable, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}
        result = self.run("demo", cwd=tmp_path, **offline)
        assert result.returncode == 1
        assert "set-up failed: pip install" in result.stderr
        assert "No matching distribution" in result.stderr
        assert (venv / ".mercer-owner").is_file()
        assert list(venv.glob(".mercer-ready-*")) == []
        # The second run starts again from nothing; it is interrupted there.
        again = subprocess.Popen(
            ["sh", str(ROOT / "mercer"), "demo"],
            env=os.environ | offline,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert again.stderr is not None
        assert "setting up with Python" in again.stderr.readline()
        os.killpg(again.pid, signal.SIGINT)
        again.communicate(timeout=60)
        assert again.returncode != 0
        assert (venv / ".mercer-owner").is_file()
        assert list(venv.glob(".mercer-ready-*")) == []

    def test_unsuitable_python(self, tmp_path: Path) -> None:
        result = self.run("demo", cwd=tmp_path, MERCER_VENV="venv", MERCER_PYTHON="false")
        assert result.returncode == 2
        assert "MERCER_PYTHON=false" in result.stderr
        assert not (tmp_path / "venv").exists()

    def test_commands_are_those_of_the_command_line(self) -> None:
        """The list in the script is a copy, so that unknown commands are refused before any install."""
        listed = re.search(r'^commands="(.*)"$', (ROOT / "mercer").read_text(), re.MULTILINE)
        assert listed is not None
        own = {"test", "docs"}  # the script's own
        assert set(listed[1].split()) == own | {command.__name__ for command in COMMANDS}
        for command in set(listed[1].split()) - own:
            assert app.run([command, "--help"]) == 0


UNEXPECTED = [
    "def test_a():\n    pytest.skip('rdkit is missing')",
    "@pytest.mark.skip(reason='later')\ndef test_a(): pass",
    "pytest.importorskip('no_such_module_at_all')",
    "@pytest.fixture\ndef gone():\n    pytest.skip('no data')\n\ndef test_a(gone): pass",
]
ALLOWED = [
    "def test_a():\n    pytest.skip('no-run: needs a cluster')",
    "@pytest.mark.xfail\ndef test_a(): assert False",
]
RUNS_OF_PYTEST = """
import contextlib, io, json, os, sys
import pytest

told = []
for folder, fail in json.loads(sys.argv[1]):
    os.environ["MERCER_FAIL_ON_SKIP"] = fail
    root = os.path.dirname(folder)  # so that each conftest is a module of its own
    options = ["-q", "-c", os.devnull, "--rootdir", root, "--import-mode=importlib", "-p", "no:cacheprovider"]
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        code = pytest.main([*options, folder])
    told.append((int(code), shown.getvalue()))
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], tuple[int, str]]:
    """Exit code and output of a run with our conftest, by the test in it and whether skips are to fail."""
    runs = [(body, fail) for body in (*UNEXPECTED, *ALLOWED) for fail in ("1", "")]
    folders = []
    for body, fail in runs:
        folder = tmp_path_factory.mktemp("planted")
        (folder / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
        (folder / "test_planted.py").write_text(f"import pytest\n\n{body}\n\n\ndef test_passes():\n    pass\n")
        folders.append((str(folder), fail))
    told = subprocess.run(
        [sys.executable, "-c", RUNS_OF_PYTEST, json.dumps(folders)],
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    return dict(zip(runs, json.loads(told.stdout), strict=True))


def test_fail_on_skip(outcomes: dict[tuple[str, str], tuple[int, str]]) -> None:
    """An unexpected skip fails the run when asked to, at either level; an allowed one never does."""
    for body in UNEXPECTED:
        code, shown = outcomes[body, "1"]
        assert code != 0, body
        assert "unexpected skips" in shown, body
        code, shown = outcomes[body, ""]
        assert code in (0, 5), body
        assert "unexpected skips" not in shown, body
    for body in ALLOWED:
        assert outcomes[body, "1"][0] == outcomes[body, ""][0] == 0, body

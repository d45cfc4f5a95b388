"""What every test may rely on: the hypothesis profiles, the real data beside the checkout, and skips that are meant.

With MERCER_FAIL_ON_SKIP=1 (set in the continuous checks, where every extra is installed) a skip whose reason does not
start with one of `ALLOWED_SKIPS` fails the run: a test that silently stopped running is a test that was lost.
"""

import gc
import importlib.util
import os
import signal
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# With a worker per core, more threads of linear algebra only wait for each other, which took a third of all time: one
# for each, unless the environment says otherwise. Read when numpy is loaded, hence here; child processes inherit it.
if "PYTEST_XDIST_WORKER" in os.environ:
    for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("MERCER_NUM_THREADS", "2")  # which would be one by the last of these, and hide mistakes

# Why a test may be skipped even where everything is installed. Each entry is the beginning of a skip reason.
ALLOWED_SKIPS = ("no-run: ",)  # a code block of the docs that says itself why it is not run

# `./mercer test` uses this one: the same examples on every machine, and no deadline for the first compilation to miss.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("dev")

# A shell that starts the tests in the background has them, and all that they start, ignore Ctrl-C: some are about it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# In this order two workers, each of which starts with one half, compile different loops: those of the kernels and those
# of the solvers. What takes every kernel comes last, when all are compiled.
KERNELS_FIRST = ("conformance", "kernels", "inputs", "readers", "datasets")
EVERY_KERNEL = ("storage", "fingerprints")

unexpected_skips: list[str] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def turn(item: pytest.Item) -> tuple[int, int]:
        room = item.nodeid.split("/")[1] if item.nodeid.startswith("tests/") else ""
        if room in KERNELS_FIRST:
            return 0, KERNELS_FIRST.index(room)
        return (2, EVERY_KERNEL.index(room)) if room in EVERY_KERNEL else (1, 0)

    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=turn)


def pytest_collection() -> None:
    """Tests that are collected stay: the collector of garbage need not look at thousands of them again and again."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Nor while they run."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets (MERCER_DATA, or ../shared/data beside the checkout)."""
    folder = Path(os.environ.get("MERCER_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set MERCER_DATA")
    return folder


@pytest.fixture(scope="session")
def real_data(shared_data: Path) -> Any:
    """The module that reads the real data sets, which lies beside them."""
    spec = importlib.util.spec_from_file_location("shared_data_load", shared_data / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def load(real_data: Any) -> Callable[[str], dict[str, tuple[Any, Any]]]:
    """``load("strings/splice_junction")``: the parts of a real data set, each as objects and labels."""

    def loaded(name: str) -> dict[str, tuple[Any, Any]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts: dict[str, tuple[Any, Any]] = real_data.load(name)
        return parts

    return loaded


def note_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = reason.removeprefix("Skipped: ")
    if not reason.startswith(ALLOWED_SKIPS):
        unexpected_skips.append(f"{report.nodeid}: {reason}")


pytest_runtest_logreport = note_skip
pytest_collectreport = note_skip


def pytest_sessionfinish(session: pytest.Session) -> None:
    if os.environ.get("MERCER_FAIL_ON_SKIP") == "1" and unexpected_skips and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if os.environ.get("MERCER_FAIL_ON_SKIP") == "1" and unexpected_skips:
        terminalreporter.section("unexpected skips: these fail the run", red=True)
        for line in unexpected_skips:
            terminalreporter.write_line(line)

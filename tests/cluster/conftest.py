"""Real clusters for tests: a scheduler and workers as processes of their own, which talk over TCP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")

ROOT = Path(__file__).resolve().parents[2]
STARTING = 120.0


class Processes:
    """A scheduler and its workers, each started by Dask's own command line."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._file, self._log, self._options = folder / "scheduler.json", folder / "log.txt", options
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", self._file)
        self._until(lambda: self._file.exists() and self._file.read_text().endswith("}"))

    def _start(self, what: str, *options: object, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", what, *map(str, options), "--no-dashboard", *self._options]
        # Workers have as many threads as a user's would, whatever this run of the tests was told.
        plain = {name: value for name, value in os.environ.items() if name != "MERCER_NUM_THREADS"}
        variables = {**plain, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", **(env or {})}
        with self._log.open("ab") as log:
            return subprocess.Popen(command, env=variables, stdout=log, stderr=log)

    @property
    def address(self) -> str:
        return str(json.loads(self._file.read_text())["address"])

    def add(self, *options: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        """One more worker, with one thread and no nanny, unless the options say otherwise."""
        given = ("--nthreads", "1", *(() if "--nanny" in options else ("--no-nanny",)), *options)
        self.workers.append(self._start("worker", "--scheduler-file", self._file, *given, env=env))
        return self.workers[-1]

    def client(self, workers: int, **options: Any) -> Any:
        client = distributed.Client(self.address, set_as_default=False, **options)
        if workers:
            client.wait_for_workers(workers, timeout=STARTING)
        return client

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()

    def _until(self, condition: Any) -> None:
        deadline = time.monotonic() + STARTING
        while not condition():
            assert time.monotonic() < deadline, self._log.read_text()
            assert self.scheduler.poll() is None, self._log.read_text()
            time.sleep(0.02)

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
        for process in (*self.workers, self.scheduler):
            process.wait()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """A scheduler of its own for one test, without workers."""
    made = Processes(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="package")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """A scheduler and two workers that tests share, as users of a cluster do."""
    made = Processes(tmp_path_factory.mktemp("cluster"))
    made.add()
    made.add()
    yield made
    made.close()


@pytest.fixture
def client(two_workers: Processes) -> Iterator[Any]:
    """A client of the two workers."""
    with two_workers.client(2) as opened:
        yield opened

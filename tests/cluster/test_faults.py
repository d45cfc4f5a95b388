"""What happens when parts of a cluster fail, with real processes that are really killed."""

from __future__ import annotations

import contextlib
import operator
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer import SVC, KernelSearchCV
from mercer.cluster import use
from mercer.cluster.executor import Workers
from mercer.errors import ClusterError
from mercer.gram.executors import Threads
from tests.cluster.conftest import Processes
from tests.cluster.gates import LONG, Cubes, Gate, soon


@contextlib.contextmanager
def meanwhile(gate: Gate, process: int, act: Callable[[], object]) -> Iterator[None]:
    """Act when a process is held in the middle of a task, and let it go then."""
    held: list[bool] = []

    def wait_and_act() -> None:
        held.append(gate.holds(process))
        act()
        gate.open()

    acting = threading.Thread(target=wait_and_act)
    acting.start()
    yield
    acting.join()
    assert held == [True]


def test_a_lost_scheduler_is_said_in_words(processes: Processes, tmp_path: Path) -> None:
    worker, gate = processes.add(), Gate.in_folder(tmp_path / "gate")
    client = processes.client(1, timeout=3)
    try:
        with (
            use(client) as session,
            meanwhile(gate, worker.pid, lambda: processes.kill(processes.scheduler)),
            pytest.raises(ClusterError, match="connection to the scheduler was lost"),
        ):
            Workers(session).reduce(Cubes(gate), range(60), operator.add)
    finally:
        client.close(timeout=1)


def test_a_closed_client_is_said_in_words(processes: Processes, tmp_path: Path) -> None:
    worker, gate = processes.add(), Gate.in_folder(tmp_path / "gate")
    client = processes.client(1)
    with use(client) as session:
        with meanwhile(gate, worker.pid, client.close), pytest.raises(ClusterError, match="the cluster is closed"):
            Workers(session).reduce(Cubes(gate), range(60), operator.add)
        with pytest.raises(ClusterError, match="Open a new one"):
            Workers(session).reduce(Cubes(gate), range(3), operator.add)
    with pytest.raises(ClusterError, match="closed"), use(client):
        pass


def test_a_worker_without_mercer_is_named(processes: Processes, tmp_path: Path) -> None:
    processes.add()
    processes.add("--name", "bare", env={"PYTHONPATH": str(tmp_path)})
    with processes.client(2) as client:
        address = next(where for where, info in _workers(client).items() if info["name"] == "bare")
        with (
            pytest.raises(ClusterError, match=rf"worker at {address} has no Mercer.*Install mercer\[dask\]"),
            use(client),
        ):
            pass


def test_a_worker_with_another_version_is_named(processes: Processes, tmp_path: Path) -> None:
    package = tmp_path / "other" / "mercer"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "_version.py").write_text('__version__ = "0.0.1"\n')
    processes.add(env={"PYTHONPATH": str(package.parent)})
    with processes.client(1) as client, pytest.raises(ClusterError, match=r"has Mercer 0\.0\.1, not"), use(client):
        pass


def test_a_worker_that_comes_later_with_another_version_is_no_silent_help(client: Any) -> None:
    from mercer.cluster import tasks

    with use(client), pytest.raises(ClusterError, match=r"but the work comes from Mercer 0\.0\.1"):
        client.submit(tasks.call, "0.0.1", operator.add, 1, 2).result()


def _workers(client: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    return found


@dataclass(frozen=True)
class Greedy:
    """Takes more memory than its worker may have."""

    def __call__(self, number: int) -> Any:
        kept = [np.ones(2**20) for _ in range(100)]
        time.sleep(LONG)  # until it is killed
        return len(kept)


def test_workers_without_memory_are_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE", "False")
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__MEMORY__SPILL", "False")
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__MEMORY__TARGET", "False")
    made = Processes(tmp_path)
    try:
        made.add("--nanny", "--memory-limit", "600MB")
        with (
            made.client(1) as client,
            use(client) as session,
            pytest.raises(ClusterError, match=r"each of them died\. Most often they ran out of memory"),
        ):
            Workers(session).reduce(Greedy(), range(1), operator.add)
    finally:
        made.close()


def out_of_memory(number: int) -> Any:
    raise MemoryError(f"no room for {number}")


def test_a_task_without_memory_is_said_in_words(client: Any) -> None:
    with use(client) as session, pytest.raises(ClusterError, match=r"too little memory.*smaller"):
        Workers(session).reduce(out_of_memory, range(4), operator.add)


LOST = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""For tests that press Ctrl-C: what Dask's callback for garbage makes of it."""


@contextlib.contextmanager
def interrupted(once: Callable[[], bool]) -> Iterator[None]:
    """Ctrl-C, once something has happened; pressed again if it is lost, as it is in Dask's callback for garbage."""
    happened: list[bool] = []
    over = threading.Event()

    def press() -> None:
        happened.append(once())
        while not over.is_set():
            os.kill(os.getpid(), signal.SIGINT)
            over.wait(10.0)

    interrupting = threading.Thread(target=press)
    interrupting.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        over.set()
    interrupting.join()
    assert happened == [True]


@dataclass(frozen=True)
class Slow:
    """Items that take long once the gate is open: a task that was cancelled has time to notice it."""

    gate: Gate

    def __call__(self, number: int) -> float:
        self.gate.enter(number)
        time.sleep(1.0 if self.gate.is_open else 0.0)
        return 1.0


@LOST
def test_ctrl_c_cancels_tasks_and_frees_memory(client: Any, two_workers: Processes, tmp_path: Path) -> None:
    before = set(client.who_has())  # of other tests
    gate, both = Gate.in_folder(tmp_path / "gate"), [worker.pid for worker in two_workers.workers]
    with use(client) as session, interrupted(lambda: gate.holds(*both)):
        Workers(session).reduce(Slow(gate), range(400), operator.add)  # 16 in a task
    assert soon(lambda: not any(client.processing().values()) and set(client.who_has()) <= before)
    assert len(gate.begun()) == 2 * gate.most
    gate.open()
    assert soon(lambda: not any(client.run(_executing).values()))
    assert soon(lambda: set().union(*client.run(_in_memory).values()) <= before)
    assert len(gate.begun()) < 2 * 16, "tasks that had begun end before their time, and no other begins"


@dataclass(frozen=True)
class Scored:
    """Leaves a note of each fit that came to its end."""

    gate: Gate

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        self.gate.enter(estimator.C)
        return 0.0


@LOST
def test_ctrl_c_ends_a_search_and_its_fits(client: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 2)), rng.integers(0, 2, size=1500)  # noise: each fit takes about a second
    gate = Gate.in_folder(tmp_path / "gate")
    gate.open()
    search = KernelSearchCV(SVC(gamma=1.0), {"C": np.geomspace(1e6, 1e9, 60)}, scoring=Scored(gate), cv=3)
    with use(client), interrupted(lambda: soon(gate.begun)):
        search.fit(X, y)
    assert soon(lambda: not any(client.processing().values()))
    assert soon(lambda: not any(client.run(_executing).values())), "fits go on that nobody waits for"
    assert len(gate.begun()) < 60


def _in_memory(dask_worker: Any) -> set[Any]:
    return set(dask_worker.data)


def _executing(dask_worker: Any) -> int:
    return int(dask_worker.state.executing_count)


def test_tls(tmp_path: Path) -> None:
    from distributed.security import Security

    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    wanted = f"-x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout {key} -out {certificate}"
    subprocess.run(["openssl", "req", *wanted.split()], check=True, capture_output=True)
    options = ("--tls-ca-file", str(certificate), "--tls-cert", str(certificate), "--tls-key", str(key))
    gate = Gate.in_folder(tmp_path / "gate")
    gate.open()
    made = Processes(tmp_path, *options, "--protocol", "tls")
    try:
        made.add()
        security = Security(
            tls_ca_file=str(certificate),
            tls_client_cert=str(certificate),
            tls_client_key=str(key),
            require_encryption=True,
        )
        with made.client(1, security=security) as client, use(client) as session:
            assert client.scheduler.address.startswith("tls://")
            found = Workers(session).reduce(Cubes(gate), range(5), operator.add)
            assert all(address.startswith("tls://") for address in _workers(client))
        assert found.tobytes() == Threads(1).reduce(Cubes(gate), range(5), operator.add).tobytes()
    finally:
        made.close()


def test_without_the_extra_the_error_names_it() -> None:
    code = (
        "import sys\n"
        "sys.modules['distributed'] = None\n"
        "import mercer\n"
        "from mercer.cluster import use\n"
        "try:\n"
        "    with use('local:2'): pass\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert "pip install 'mercer[dask]'" in done.stdout

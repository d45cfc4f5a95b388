"""What happens when parts of a cluster fail, with real processes that are really killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
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


@dataclass(frozen=True)
class Noted:
    """A slow task that leaves a note of each time that it is run, at its end or at its beginning."""

    folder: str
    seconds: float = 0.15
    begun: bool = False

    def __call__(self, number: int) -> Any:
        time.sleep(0.0 if self.begun else self.seconds)
        with open(f"{self.folder}/{number}-{os.getpid()}-{time.monotonic_ns()}", "w"):
            pass
        time.sleep(self.seconds if self.begun else 0.0)
        return np.random.default_rng(number).normal(size=(50, 50)) ** 3


def notes(folder: Path) -> Counter[int]:
    return Counter(int(name.split("-")[0]) for name in os.listdir(folder))


def add(first: Any, second: Any) -> Any:
    return first + second


def soon(condition: Any, seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_a_killed_worker_costs_its_own_tasks_and_no_bit(processes: Processes, tmp_path: Path) -> None:
    items = 24
    first, _ = processes.add(), processes.add()
    folder = tmp_path / "notes"
    folder.mkdir()
    with processes.client(2) as client, use(client) as session:
        before: set[int] = set()

        def begun() -> int:
            return sum(name.split("-")[1] == str(first.pid) for name in os.listdir(folder))

        def kill() -> None:
            soon(lambda: begun() > 2)
            so_far = begun()
            soon(lambda: begun() > so_far)  # so that it is in the middle of a task
            processes.kill(first)
            before.update(notes(folder))

        killer = threading.Thread(target=kill)
        killer.start()
        found = Workers(session).reduce(Noted(str(folder), 0.4, begun=True), range(items), add)
        killer.join()
        assert first.poll() is not None
    expected = Threads(2).reduce(Noted(str(folder), 0.0), range(items), add)
    assert found.tobytes() == expected.tobytes()
    runs = [name.split("-") for name in os.listdir(folder)]
    times = Counter(int(number) for number, process, _ in runs if process != str(os.getpid()))
    again = {number for number, count in times.items() if count > 1}
    assert again <= before, "only what was in sums that the killed worker had is computed again"
    assert max(times.values()) == 2
    assert len(again) < items / 2


def test_a_lost_scheduler_is_said_in_words(processes: Processes, tmp_path: Path) -> None:
    processes.add()
    folder = tmp_path / "notes"
    folder.mkdir()
    client = processes.client(1, timeout=3)
    try:
        with use(client) as session:
            killer = threading.Thread(target=lambda: (soon(lambda: notes(folder)), processes.kill(processes.scheduler)))
            killer.start()
            began = time.monotonic()
            with pytest.raises(ClusterError, match="connection to the scheduler was lost"):
                Workers(session).reduce(Noted(str(folder), 0.2), range(60), add)
        assert time.monotonic() - began < 30
    finally:
        client.close(timeout=1)


def test_a_closed_client_is_said_in_words(processes: Processes, tmp_path: Path) -> None:
    processes.add()
    tmp_path = tmp_path / "notes"
    tmp_path.mkdir()
    client = processes.client(1)
    with use(client) as session:
        closer = threading.Thread(target=lambda: (soon(lambda: notes(tmp_path)), client.close()))
        closer.start()
        with pytest.raises(ClusterError, match="client of the cluster is closed"):
            Workers(session).reduce(Noted(str(tmp_path)), range(60), add)
        closer.join()
        with pytest.raises(ClusterError, match="Open one"):
            Workers(session).reduce(Noted(str(tmp_path)), range(3), add)
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
        client.submit(tasks.call, "0.0.1", add, 1, 2).result()


def _workers(client: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    return found


@dataclass(frozen=True)
class Greedy:
    """Takes more memory than its worker may have."""

    def __call__(self, number: int) -> Any:
        kept = [np.ones(2**20) for _ in range(100)]
        time.sleep(3.0)
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
            Workers(session).reduce(Greedy(), range(1), add)
    finally:
        made.close()


def out_of_memory(number: int) -> Any:
    raise MemoryError(f"no room for {number}")


def test_a_task_without_memory_is_said_in_words(client: Any) -> None:
    with use(client) as session, pytest.raises(ClusterError, match=r"too little memory.*smaller"):
        Workers(session).reduce(out_of_memory, range(4), add)


@contextlib.contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        yield
    timer.join()


def test_ctrl_c_cancels_tasks_and_frees_memory(client: Any, tmp_path: Path) -> None:
    before = set(client.who_has())  # of other tests
    with use(client) as session, interrupted_after(1.0):
        Workers(session).reduce(Noted(str(tmp_path), 0.3), range(400), add)
    assert soon(lambda: not any(client.processing().values()) and set(client.who_has()) <= before, 5.0)
    assert soon(lambda: not any(client.run(_executing).values()))
    done = sum(notes(tmp_path).values())
    time.sleep(0.7)
    assert sum(notes(tmp_path).values()) == done  # nobody works on
    assert done < 40


def test_ctrl_c_ends_a_search_and_its_fits(client: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = rng.integers(0, 2, size=4000)  # noise: fits take long
    search = KernelSearchCV(SVC(C=1e5, gamma=5.0), {"gamma": [1.0, 5.0, 20.0]}, cv=3)
    with use(client), interrupted_after(3.0):
        search.fit(X, y)
    assert soon(lambda: not any(client.processing().values()), 5.0)
    assert soon(lambda: not any(client.run(_executing).values()), 15.0), "fits go on that nobody waits for"


def _executing(dask_worker: Any) -> int:
    return int(dask_worker.state.executing_count)


def test_tls(tmp_path: Path) -> None:
    from distributed.security import Security

    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    wanted = f"-x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout {key} -out {certificate}"
    subprocess.run(["openssl", "req", *wanted.split()], check=True, capture_output=True)
    options = ("--tls-ca-file", str(certificate), "--tls-cert", str(certificate), "--tls-key", str(key))
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
            found = Workers(session).reduce(Noted(str(tmp_path), 0.0), range(5), add)
            assert all(address.startswith("tls://") for address in _workers(client))
        assert found.tobytes() == Threads(1).reduce(Noted(str(tmp_path), 0.0), range(5), add).tobytes()
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

"""Which cluster: clients, clusters, addresses, processes of this machine, and what is none of them."""

from __future__ import annotations

import signal
import sys
from typing import Any

import pytest

from mercer.cluster import connection, use
from mercer.cluster.executor import Workers
from mercer.errors import ClusterError, MissingExtraError, ParameterError
from mercer.gram.executors import elsewhere
from tests.cluster.conftest import Processes


def test_an_address_is_enough(two_workers: Processes) -> None:
    with use(two_workers.address) as session:
        assert session.threads == 2
        executor = elsewhere()
        assert isinstance(executor, Workers)
        assert executor.session is session
    assert elsewhere() is None
    assert session.client.status == "closed"  # its own, not the user's


def test_a_client_stays_open(client: Any) -> None:
    with use(client) as session:
        assert session.client is client
    assert client.status == "running"


def test_processes_of_this_machine_end_with_the_block() -> None:
    with use("local:1") as session:
        made = session.client.cluster
        assert session.threads == 1
        # Ctrl-C in a terminal goes to all processes: those that are ended anyway would only show tracebacks.
        assert list(session.client.run(signal.getsignal, signal.SIGINT).values()) == [signal.SIG_IGN]
    assert made.status.name == "closed"


def test_processes_that_do_not_start_say_what_a_script_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**_: Any) -> None:  # as in a script whose lines are run again by each process that imports it
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(connection.distributed(), "LocalCluster", fails)
    with pytest.raises(ClusterError, match=r"did not start.*__main__"), use("local:1"):
        pass


@pytest.mark.parametrize("number", ["", "0", "many", "-1", "1.5", "100000"])
def test_a_wrong_number_of_processes_is_refused(number: str) -> None:
    with pytest.raises(ParameterError, match="needs a number of processes, such as 'local:2'"), use(f"local:{number}"):
        pass


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"^mercer.cluster needs dask.distributed, .* 'mercer\[dask\]'"):
        connection.distributed()


def test_the_session_in_use_is_the_current_one(client: Any) -> None:
    with use(client) as session:
        assert connection.current() is session
        assert connection.session_of(client) is session


def test_what_is_no_cluster_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"must be a client of dask\.distributed"), use(3):
        pass


def test_where_there_is_no_scheduler_nobody_waits_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_SECONDS_TO_CONNECT", 0.5)
    said = "There is no scheduler at tcp://127.0.0.1:1.*dask scheduler"
    with pytest.raises(ClusterError, match=said), use("tcp://127.0.0.1:1"):
        pass


def test_the_reason_ends_before_the_advice_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_SECONDS_TO_CONNECT", 0.5)
    with pytest.raises(ClusterError, match=r"[^.]\. Start one with"), use("tcp://127.0.0.1:1"):
        pass


@pytest.mark.parametrize("address", ["nonsense", "tcp://host", "tls://", "host:port", "http://host:80"])
def test_an_address_without_a_port_is_refused_at_once(address: str) -> None:
    with pytest.raises(ParameterError, match=r"not the address of a scheduler: .*'tcp://host:8786'"), use(address):
        pass


def test_a_cluster_without_workers_is_refused(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mercer.cluster.members._SECONDS_FOR_WORKERS", 0.3)
    with (
        processes.client(0) as opened,
        pytest.raises(ClusterError, match=r"no worker for .*wait_for_workers"),
        use(opened),
    ):
        pass

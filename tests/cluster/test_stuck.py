"""Values that cannot go from one worker to another: Dask would wait for ever, and disturb who comes after."""

from __future__ import annotations

import operator
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from mercer.cluster import under_way, use
from mercer.cluster.executor import Workers
from mercer.cluster.stuck import stuck, stuck_among
from mercer.errors import ClusterError
from mercer.gram.executors import Threads
from tests.cluster.conftest import Processes
from tests.cluster.gates import soon
from tests.cluster.test_executor import Squares


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_way, "_SECONDS_OF_SILENCE", 0.3)


class Locked:
    """What cannot be pickled."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __len__(self) -> int:
        return 3


def locked() -> Any:
    return Locked()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A client of two workers that no other tests have."""
    made = Processes(tmp_path_factory.mktemp("stuck"))
    made.add()
    made.add()
    with made.client(2) as client:
        yield client
    made.close()


def disturb(client: Any) -> list[Any]:
    """Each of two workers asks the other for something that cannot be sent, for somebody who waits."""
    first, second = client.scheduler_info(n_workers=-1)["workers"]
    waiting = []
    for here, there in ((first, second), (second, first)):
        value = client.submit(locked, workers=[here], pure=False)
        waiting.append(client.submit(len, value, workers=[there], pure=False))
    keys = {future.key for future in waiting}
    assert soon(lambda: {key for found in client.run(stuck).values() for key in found} >= keys)
    return waiting


@pytest.fixture
def disturbed(opened: Any) -> Iterator[Any]:
    """Workers that somebody else has disturbed."""
    waiting = disturb(opened)
    yield opened
    assert {future.status for future in waiting} == {"pending"}  # nobody else's tasks are touched
    opened.cancel(waiting, force=True)


@pytest.mark.parametrize("seed", range(3))
def test_innocent_work_is_sent_again(disturbed: Any, seed: int) -> None:
    with use(disturbed) as session:
        found = Workers(session).reduce(Squares(seed), range(40), operator.add)
    assert found.tobytes() == Threads(1).reduce(Squares(seed), range(40), operator.add).tobytes()


def slow(number: int) -> int:
    time.sleep(0.8)
    return number


def mend(session: Any) -> None:
    """Send something from each of two workers to the other, again and again until it arrives."""
    client = session.client
    pair = list(client.scheduler_info(n_workers=-1)["workers"])

    def across(here: int) -> Any:
        value = client.submit(abs, here, workers=[pair[here]], pure=False)
        return client.submit(abs, value, workers=[pair[1 - here]], pure=False)

    assert dict(session.each(range(2), across, lambda: None, 2)) == {0: 0, 1: 1}


def test_nobody_else_s_tasks_hold_up_long_ones(disturbed: Any) -> None:
    with use(disturbed) as session:
        mend(session)
        before = session.traffic.tasks
        assert Workers(session).gather(slow, range(4)) == [0, 1, 2, 3]
        assert session.traffic.tasks - before == 5  # each was sent once


def test_a_cluster_full_of_them_is_said_in_words(disturbed: Any) -> None:
    waiting = disturb(disturbed)
    with use(disturbed) as session, pytest.raises(ClusterError, match=r"Nothing gets done .* 4 tasks .*restart\(\)"):
        Workers(session).reduce(Squares(0), range(40), operator.add)
    disturbed.cancel(waiting, force=True)


def test_one_look_at_the_workers_is_not_enough_to_say_so(disturbed: Any) -> None:
    with use(disturbed) as session:  # whose work has just been finished, or did not arrive yet
        assert soon(lambda: session.client.processing())
        assert stuck_among([], session, looks=1) == {}


def test_what_can_never_be_sent_is_said_in_words(opened: Any) -> None:
    here, there = opened.scheduler_info(n_workers=-1)["workers"]

    def send(place: int) -> Any:
        value = opened.submit(locked, workers=[here], pure=False)
        return opened.submit(len, value, workers=[there], pure=False)

    with use(opened) as session, pytest.raises(ClusterError, match=r"from one worker to another: .*(Locked|get_data)"):
        list(session.each(range(2), send, lambda: None, 2))

"""Values held on a cluster: each sent once, the large parts of records by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.cluster import use
from tests.cluster.gates import soon


@dataclass(frozen=True, eq=False)
class Pass:
    landmarks: Any
    weights: Any
    inner: Any = None


def test_equal_values_are_one(client: Any) -> None:
    with use(client) as session:
        first = session.hold(np.arange(20_000.0))
        sent = session.traffic.sent
        assert 160_000 <= sent < 162_000
        assert session.hold(np.arange(20_000.0)).key == first.key
        assert session.traffic.sent == sent
        assert session.hold(np.arange(20_000.0).reshape(200, 100)).key != first.key
        assert (first.result() == np.arange(20_000.0)).all()


def test_what_stays_the_same_from_pass_to_pass_is_sent_once(client: Any) -> None:
    landmarks = np.random.default_rng(0).normal(size=(200, 200))
    with use(client) as session:
        before = session.traffic.sent
        held = [session.hold(Pass(landmarks, np.full(10, float(number)))) for number in range(4)]
        assert session.traffic.sent - before < landmarks.nbytes + 20_000
        for number, future in enumerate(held):
            found = future.result()
            assert found.landmarks.tobytes() == landmarks.tobytes()
            assert (found.weights == number).all()
        nested = session.hold(Pass(None, None, Pass(landmarks, 3))).result()
        assert nested.inner.landmarks.tobytes() == landmarks.tobytes()
        assert session.traffic.sent - before < landmarks.nbytes + 30_000


def test_nothing_stays_behind(client: Any) -> None:
    before = set(client.who_has())  # of other tests
    with use(client) as session:
        held = session.hold(np.arange(20_000.0))
        held.result()
        assert set(client.who_has()) - before
    del session, held
    assert soon(lambda: set(client.who_has()) <= before)

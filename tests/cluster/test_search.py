"""Searches whose fits are spread over a cluster: the numbers of one machine, to the last bit."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelRidge, KernelSearchCV, kernels, nested_cross_validate
from mercer.cluster import use
from mercer.errors import TimeLimitError
from mercer.gram.executors import working_elsewhere
from mercer.selection import cross_validation
from tests.cluster.conftest import Processes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = (X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=120) > 0).astype(int)
WORDS = ["".join(RNG.choice(list("acgt"), size=12)) for _ in range(60)]
KINDS = [int(word.count("ac") > 0) for word in WORDS]

SEARCHES: dict[str, tuple[Any, Any, Any, Any]] = {
    "shared": (SVC(), {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}, X, Y),
    "fitted per fold": (SVC(kernel=kernels.Centred(kernels.RBF())), {"C": [1.0, 10.0]}, X, Y),
    "strings": (SVC(kernel=kernels.Spectrum(2)), {"kernel__p": [1, 2, 3], "C": [1.0, 10.0]}, WORDS, KINDS),
    "pipeline": (
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": [1.0, 10.0], "standardscaler__with_mean": [True, False]},
        X,
        Y,
    ),
    "numbers": (KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0], "gamma": [0.1, 0.5]}, X, X[:, 0] ** 2),
}


def same(left: dict[str, Any], right: dict[str, Any]) -> None:
    assert list(left) == list(right)
    for name, values in left.items():
        if "time" in name:
            continue
        if name == "params":
            assert values == right[name]
        elif np.asarray(values).dtype.kind == "f":
            assert np.asarray(values).tobytes() == np.asarray(right[name]).tobytes(), name


@pytest.mark.parametrize("racing", [False, True])
@pytest.mark.parametrize("name", list(SEARCHES))
def test_results_are_those_of_one_machine(client: Any, name: str, racing: bool) -> None:
    estimator, grid, objects, y = SEARCHES[name]

    def searched() -> KernelSearchCV:
        return KernelSearchCV(estimator, grid, cv=4, racing=racing, held_out="predict").fit(objects, y)

    here = searched()
    with use(client) as session:
        there = searched()
        assert session.traffic.tasks > 4  # nothing of it happened here
    same(here.cv_results_, there.cv_results_)
    assert here.best_params_ == there.best_params_
    assert (here.held_out_values() == there.held_out_values()).all()


def test_nested_scores_are_those_of_one_machine(client: Any) -> None:
    search = KernelSearchCV(SVC(), {"C": [1.0, 10.0], "gamma": [0.1, 1.0]}, cv=3)
    here = nested_cross_validate(search, X, Y, cv=3)
    with use(client) as session:
        there = nested_cross_validate(search, X, Y, cv=3)
        assert session.traffic.tasks > 9
    assert here.scores.tobytes() == there.scores.tobytes()
    assert here.best_scores.tobytes() == there.best_scores.tobytes()
    assert here.params == there.params


def test_warnings_come_back(client: Any) -> None:
    search = KernelSearchCV(SVC(max_iter=2), {"C": [1.0]}, cv=3, refit=False)
    with use(client), pytest.warns(UserWarning, match="did not converge"):
        search.fit(X, Y)


def test_errors_come_back(client: Any) -> None:
    search = KernelSearchCV(SVC(C=-1.0), {"gamma": [1.0]}, cv=3, error_score="raise")
    with use(client), pytest.raises(ValueError, match="The 'C' parameter of SVC must be"):
        search.fit(X, Y)


def slow(a: Any, b: Any) -> Any:
    time.sleep(0.02 * len(a) * len(b))
    return np.asarray(a) @ np.asarray(b).T


class Unhurried(KernelRidge):
    """A learner that a group of settings cannot share anything for, and takes its time."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        time.sleep(0.05)
        return super().fit(X, y, sample_weight)


def test_time_that_runs_out_leaves_what_is_done(client: Any) -> None:
    search = KernelSearchCV(Unhurried(kernel="rbf"), {"gamma": np.geomspace(0.1, 1.0, 300)}, cv=2, time_limit=3.0)
    with use(client) as session:
        before = session.traffic.tasks
        search.fit(X, X[:, 0])
        assert session.traffic.tasks - before < 300  # of 600 and more: none was sent after the end
    assert not search.complete_
    assert sum(search.cv_results_["splits_done"]) > 0
    assert search.best_estimator_.predict(X).shape == (120,)


@dataclass(frozen=True)
class Late:
    """A cluster whose results come when time is over."""

    seconds: float

    def results(self, work: Any, items: Any, shared: Any, *, watch: Any, **options: Any) -> Iterator[tuple[int, Any]]:
        arrived = [work(item, work.prepared(item), threading.Event()) for item in items]
        while time.time() < items[0].until + self.seconds:
            watch()
            time.sleep(0.01)
        yield from enumerate(arrived)


def test_the_first_result_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_validation, "_GRACE", 0.0)
    search = KernelSearchCV(SVC(), {"C": [1.0]}, cv=2, time_limit=1.5, refit=False)
    with working_elsewhere(Late(0.1)):
        assert search.fit(X, Y).complete_
    with working_elsewhere(Late(60.0)), pytest.raises(TimeLimitError, match=r"before the first of 2 fits .* Raise"):
        search.fit(X, Y)


def test_workers_are_ready_before_the_clock_starts(tmp_path: Path) -> None:
    made = Processes(tmp_path)
    made.add()
    with made.client(1) as client, use(client):
        assert all(client.run(_knows_fits).values())
    made.close()


def _knows_fits() -> bool:
    return "mercer.selection.fold_work" in sys.modules


def test_a_time_limit_holds(client: Any) -> None:
    n = 60  # a matrix takes more than half a minute, a task of a worker about two seconds
    search = KernelSearchCV(SVC(kernel=slow), {"C": [1.0]}, cv=3, time_limit=2.0)
    began = time.monotonic()
    with use(client), pytest.raises(TimeoutError, match="two thirds"):
        search.fit(X[:n], Y[:n])
    assert time.monotonic() - began < 15.0

"""What takes long is said before it begins, and what would take hours is refused."""

import contextlib
import time
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import kernels
from mercer.errors import CostError, CostWarning, MemoryBudgetError, TimeLimitError
from mercer.gram import effort
from mercer.gram.contract import Gram
from mercer.gram.effort import Effort
from mercer.gram.make import gram_of

MANY = np.random.default_rng(0).normal(size=(100_000, 3))
RBF = {"kernel": "rbf", "memory": 100.0}


def slow(x: Any, z: Any) -> float:
    time.sleep(0.001)
    return float(x @ z)


@pytest.mark.parametrize(
    "act",
    [
        lambda: mercer.KernelKMeans(8, n_init=300, **RBF).fit(MANY),
        lambda: mercer.KernelPCA(**RBF).fit(MANY),
        lambda: mercer.KernelFisherDiscriminant(**RBF).fit(MANY, MANY[:, 0] > 0),
        lambda: mercer.KernelCCA(2, **RBF).fit(MANY, MANY[:, :1]),
        lambda: mercer.mmd_test(MANY[:50_000], MANY[50_000:], kernels.RBF(), permutations=10**6, memory=100.0),
        lambda: kernels.RBF().fit(MANY)(MANY),
    ],
    ids=["KernelKMeans", "KernelPCA", "KernelFisherDiscriminant", "KernelCCA", "mmd_test", "kernel"],
)
def test_absurd_work_is_refused_at_once(act: Any) -> None:
    began = time.monotonic()
    with pytest.raises((CostError, MemoryBudgetError), match=r"objects|one piece") as refused:
        act()
    assert time.monotonic() - began < 20.0
    assert any(word in str(refused.value) for word in ("Nystrom", "parts", "by tiles", "approximation"))


def test_products_with_many_vectors_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """To multiply the kernel values of 200,000 objects by 200 permutations takes ten minutes of a core."""
    monkeypatch.setattr(effort, "SAID", 320.0)
    monkeypatch.setattr(effort, "default_threads", lambda: 1)
    twice = np.concatenate([MANY, MANY])
    gram = gram_of(kernels.RBF(gamma=1.0).fit(twice), twice, memory=100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Effort("mmd_test", 1e-3).announce(gram)
    with pytest.warns(CostWarning, match="mmd_test on 200,000 objects will take about 1[01]"):
        Effort("mmd_test", 1e-3, columns=200.0).announce(gram)


def test_a_moment_in_which_the_machine_is_busy_is_not_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    gram = gram_of(kernels.RBF(gamma=1.0).fit(MANY), MANY, memory=100.0)
    timed, calls = Gram._took, []

    def busy_at_first(self: Any, side: int, place: int) -> float:
        calls.append(side)
        return timed(self, side, place) * (1.0 if len(calls) > 12 else 1000.0)

    monkeypatch.setattr(Gram, "_took", busy_at_first)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Effort("Someone", 2.0).announce(gram)  # which takes seconds
    assert len(calls) > 12


@pytest.mark.parametrize("seconds", ["said", "refused"])
def test_slow_functions_are_judged_by_a_few_calls(monkeypatch: pytest.MonkeyPatch, seconds: str) -> None:
    objects = np.zeros((800, 2))
    gram = gram_of(kernels.FromFunction(slow, symmetric=True, psd=True).fit(objects), objects)
    assert 0.5 * 320 < gram.seconds < 30 * 320  # 320,000 pairs of a millisecond
    monkeypatch.setattr(effort, "REFUSED", np.inf if seconds == "said" else 200.0)
    kind: Any = CostWarning if seconds == "said" else CostError
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kind, match=r"Someone on 800 objects will take about .*: 640,000 kernel values\. "):
            Effort("Someone").announce(gram)


def test_a_time_limit_is_leave_to_begin() -> None:
    learner = mercer.KernelKMeans(8, n_init=300, time_limit=0.5, **RBF)
    with warnings.catch_warnings(), contextlib.suppress(TimeLimitError):  # but no CostError
        warnings.simplefilter("ignore", ConvergenceWarning)  # clusters of a part, if there was time for one
        learner.fit(MANY)


def test_small_and_stored_work_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "SAID", 0.0)
    small = gram_of(kernels.RBF().fit(MANY[:50]), MANY[:50])
    Effort("Someone").announce(small)
    Effort("Someone").announce(small.stored())


def test_passes_over_what_does_not_fit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "SAID", 0.0)
    gram = gram_of(kernels.RBF().fit(MANY[:12_000]), MANY[:12_000], memory=10.0)
    with pytest.warns(CostWarning, match="each about 30 times, since they do not fit into memory"):
        Effort("Someone", 30.0).announce(gram)


@pytest.mark.parametrize("learner", [mercer.SVC, mercer.SVR, mercer.KernelRidge, mercer.KernelLogisticRegression])
def test_supervised_learners_say_and_refuse_it_too(monkeypatch: pytest.MonkeyPatch, learner: Any) -> None:
    objects = np.random.default_rng(0).normal(size=(400, 2))
    y = (objects[:, 0] > 0).astype(int)
    model = learner(kernel=kernels.FromFunction(slow, symmetric=True, psd=True))
    monkeypatch.setattr(effort, "SAID", 10.0)
    monkeypatch.setattr(effort, "REFUSED", 40.0)  # 80,000 pairs of a millisecond
    began = time.monotonic()
    with pytest.raises(CostError, match=rf"{learner.__name__} on 400 objects will take .*Remembered.*time_limit"):
        model.fit(objects, y)
    assert time.monotonic() - began < 10.0

    def quick(x: Any, z: Any) -> float:
        return float(x @ z)

    monkeypatch.setattr(effort, "SAID", 1e-6)
    with pytest.warns(CostWarning, match="400 objects will take about"):
        learner(kernel=kernels.FromFunction(quick, symmetric=True, psd=True)).fit(objects, y)

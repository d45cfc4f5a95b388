"""Steps that crawl are given up for weights, after as much work as these cost."""

import threading

import numpy as np
import pytest

from mercer import kernels
from mercer.gram.make import gram_of
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO
from mercer.solvers.drive import Limits, Stopped
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Status
from mercer.training.train import train

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(150, 6)) * 10.0 ** RANDOM.uniform(-2, 2, 6)
LABELS = np.where(RANDOM.normal(size=150) > 0, 1.0, -1.0)
GRAM = gram_of(kernels.Linear().fit(X), X)


def problem(C, loss=None, y=LABELS):
    return LossProblem(loss or Hinge(), y, np.full(len(y), C))


def solve(p, *, gram=GRAM, limits=None, on_chunk=None):
    return train(gram, p, tol=1e-3, limits=limits, on_chunk=on_chunk)


def test_easy_problems_are_solved_by_steps_alone():
    p = problem(1e-3)
    found, stepped = solve(p), SMO().solve(GRAM, BoxProblem.of(p))
    assert np.array_equal(found.coefficients, stepped.coefficients)
    assert found.certificate.iterations == stepped.stats.iterations


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive()], ids=repr)
def test_hard_problems_end(loss):
    p = problem(1e5, loss)
    seen = []
    found = solve(p, on_chunk=seen.append)
    assert found.status is Status.CONVERGED
    box = BoxProblem.of(p)
    assert box.violation(found.coefficients, -(GRAM.exact() @ found.coefficients + box.linear)) <= 1e-3
    assert found.certificate.kkt_violation <= 1e-3
    assert found.certificate.iterations < 60_000
    iterations = [chunk.iterations for chunk in seen]
    assert iterations == sorted(iterations)


def test_limits_hold_for_both_ways_together():
    p = problem(1e5)
    found = solve(p, limits=Limits(max_iter=500))
    assert found.status is Status.OUT_OF_ITERATIONS
    assert found.certificate.iterations <= 500
    assert solve(p, limits=Limits(time_limit=0.0)).status is Status.OUT_OF_TIME
    stop = threading.Event()
    stop.set()
    with pytest.raises(Stopped):
        solve(p, limits=Limits(stop=stop))


def test_a_hard_margin_and_a_small_memory_leave_steps_alone():
    apart = np.where(X[:, 0] > 0, 1.0, -1.0)
    p = problem(np.inf, y=apart)
    found, stepped = solve(p), SMO().solve(GRAM, BoxProblem.of(p))
    assert np.array_equal(found.coefficients, stepped.coefficients)
    narrow = gram_of(kernels.Linear().fit(X), X, memory=0.5)
    p = problem(1e5)
    assert solve(p, gram=narrow, limits=Limits(max_iter=30_000)).certificate.iterations == 30_000

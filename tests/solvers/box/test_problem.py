"""The solvers of box problems against a slow one, and against the optimality conditions themselves."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import kernels
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of
from mercer.solvers.box.large import WorkingSetRun
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO, DenseRun, feasible, worth_storing
from mercer.solvers.box.step_rules import Pairs, Singles
from mercer.solvers.drive import Limits, Stopped, drive
from mercer.solvers.solution import Status
from tests.oracles import qp

KERNELS = [kernels.RBF(gamma=0.5), kernels.Linear(), kernels.Polynomial(degree=2), kernels.RBF(gamma=5.0)]


def sample(seed, n, kernel=KERNELS[0], C=1.0, weights=False, total=0.0, dtype=None, spread=1.0, **options):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * spread
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=n) > 0.6, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    bounds = C * (rng.uniform(0.0, 2.0, size=n) if weights else np.ones(n))
    gram = gram_of(kernel.fit(X), X, dtype=dtype, **options)
    return gram, BoxProblem(-y, np.where(y > 0, 0.0, -bounds), np.where(y > 0, bounds, 0.0), total)


def checked(gram, problem, solution, tol):
    """Feasible, and optimal to `tol` in float64, judged without the solver's own gradient."""
    K, b = gram.dense().astype(np.float64), solution.coefficients
    assert (b >= problem.lower).all()
    assert (b <= problem.upper).all()
    if problem.total is not None:
        assert b.sum() == pytest.approx(problem.total, abs=1e-9 * max(1.0, np.abs(b).sum()))
    worst = qp.violation(K, problem.linear, problem.lower, problem.upper, problem.total, b)
    assert worst <= 1.05 * tol + 1e-6 * (K.dtype == np.float32)
    np.testing.assert_allclose(solution.outputs, K @ b, atol=1e-4 if gram.dtype is np.float32 else 1e-9)
    assert solution.objective == pytest.approx(qp.objective(K, problem.linear, b), rel=1e-6, abs=1e-6)
    return worst


def in_small_sets(gram, problem, tol, moves, start=None, smallest=8, largest=24):
    run = WorkingSetRun(gram, problem, feasible(problem) if start is None else start, tol, moves, smallest, largest)
    return drive(run, tol, Limits(), None, time.monotonic())


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(KERNELS),
    C=st.sampled_from([0.01, 1.0, 10.0]),
    weights=st.booleans(),
    total=st.sampled_from([0.0, None]),
)
def test_agrees_with_projected_gradient(seed, kernel, C, weights, total):
    gram, problem = sample(seed, 24, kernel, C, weights, total)
    K = gram.dense()
    b = qp.minimise(K, problem.linear, problem.lower, problem.upper, total, iterations=4000)
    best = qp.objective(K, problem.linear, b)
    solution = SMO().solve(gram, problem, tol=1e-6)
    assert solution.converged
    checked(gram, problem, solution, 1e-6)
    assert solution.objective <= best + 1e-5 * max(1.0, abs(best))
    parts = in_small_sets(gram, problem, 1e-6, Pairs() if total == 0.0 else Singles(), smallest=6, largest=12)
    checked(gram, problem, parts, 1e-6)
    assert parts.objective == pytest.approx(solution.objective, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("total", [0.0, None])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_working_sets_equal_the_whole(C, dtype, total):
    gram, problem = sample(3, 400, C=C, total=total, dtype=dtype)
    whole = SMO().solve(gram, problem, tol=1e-3)
    for stored in (False, True):
        if stored:
            gram = gram.stored()
        parts = in_small_sets(gram, problem, 1e-3, Singles() if total is None else Pairs(), smallest=32, largest=128)
        assert parts.converged
        checked(gram, problem, parts, 1e-3)
        assert parts.objective == pytest.approx(whole.objective, rel=1e-3)
        assert parts.intercept == pytest.approx(whole.intercept, abs=1e-2)


@pytest.mark.parametrize("C", [100.0, 1000.0])
def test_large_penalties(C):
    gram, problem = sample(5, 300, C=C)
    solution = SMO().solve(gram, problem, tol=1e-3)
    assert solution.converged
    checked(gram, problem, solution, 1e-3)


def test_working_sets_larger_than_any_matrix_block():
    gram, problem = sample(11, 3000, C=10.0)
    solution = SMO().solve(gram, problem, tol=1e-3)
    assert solution.converged
    checked(gram, problem, solution, 1e-3)


@pytest.mark.parametrize("total", [0.0, None])
def test_duplicates_and_conflicting_labels(total):
    gram, problem = sample(7, 40, total=total)
    ids = np.concatenate((np.arange(40), np.arange(40), np.arange(40)))
    signs = np.concatenate((-problem.linear, problem.linear, -problem.linear))
    doubled = BoxProblem(-signs, np.where(signs > 0, 0.0, -3.0), np.where(signs > 0, 3.0, 0.0), total)
    solution = SMO().solve(gram.view(ids), doubled, tol=1e-4)
    assert solution.converged
    checked(gram.view(ids), doubled, solution, 1e-4)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), factor=st.floats(0.1, 10.0), total=st.sampled_from([0.0, None]))
def test_warm_starts_reach_the_same_optimum(seed, factor, total):
    gram, problem = sample(seed, 60, C=2.0, total=total)
    cold = SMO().solve(gram, problem, tol=1e-5)
    wider = BoxProblem(problem.linear, factor * problem.lower, factor * problem.upper, total)
    start = np.clip(factor * cold.coefficients, wider.lower, wider.upper)
    warm = SMO().solve(gram, wider, start=start, tol=1e-5)
    checked(gram, wider, warm, 1e-5)
    assert warm.objective == pytest.approx(SMO().solve(gram, wider, tol=1e-5).objective, rel=1e-4, abs=1e-6)
    small = in_small_sets(gram, wider, 1e-5, Singles() if total is None else Pairs(), start=start)
    checked(gram, wider, small, 1e-5)
    again = SMO().solve(gram, wider, start=warm.coefficients, tol=1e-5)
    assert again.stats.iterations == 0


@pytest.mark.parametrize("total", [4.5, -3.0])
def test_other_totals(total):
    gram, problem = sample(1, 30)
    problem = BoxProblem(np.zeros(30), np.full(30, -1.0), np.full(30, 1.0), total)
    assert feasible(problem).sum() == pytest.approx(total)
    solution = SMO().solve(gram, problem, tol=1e-6)
    checked(gram, problem, solution, 1e-6)
    with pytest.raises(ValueError, match="no point of the box sums to 31"):
        SMO().solve(gram, BoxProblem(np.zeros(30), np.full(30, -1.0), np.full(30, 1.0), 31.0))


def test_without_a_total_there_is_no_intercept():
    gram, problem = sample(1, 30, total=None)
    assert SMO().solve(gram, problem, tol=1e-8).intercept == 0.0


@pytest.mark.parametrize("total", [0.0, None])
def test_gaps_below_the_resolution_of_single_precision(total):
    gram, problem = sample(2, 80, C=5.0, total=total)
    for solution in (
        SMO().solve(gram, problem, tol=1e-11),
        in_small_sets(gram, problem, 1e-11, Singles() if total is None else Pairs()),
    ):
        assert solution.converged
        checked(gram, problem, solution, 2e-11)


def test_results_do_not_depend_on_threads_or_on_chunks():
    results = []
    for executor in (Threads(1), Threads(2), Threads(3)):
        gram, problem = sample(4, 3000, C=10.0, executor=executor)
        results.append(SMO().solve(gram, problem, tol=1e-3).coefficients)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    gram, problem = sample(4, 3000, C=10.0)
    run = WorkingSetRun(gram, problem, feasible(problem), 1e-3, Pairs())
    while not run.done:
        run.step(7)
    np.testing.assert_array_equal(results[0], run.finish(Status.CONVERGED, None).coefficients)


@pytest.mark.parametrize("n", [200, 2500])
def test_limits(n):
    gram, problem = sample(6, n, C=100.0)
    few = SMO().solve(gram, problem, tol=1e-6, limits=Limits(max_iter=10))
    assert few.status is Status.OUT_OF_ITERATIONS
    assert few.stats.iterations == 10
    K = gram.dense().astype(np.float64)
    np.testing.assert_allclose(few.outputs, K @ few.coefficients, atol=1e-4)
    none = SMO().solve(gram, problem, limits=Limits(max_iter=0))
    assert not none.coefficients.any()
    short = SMO().solve(gram, problem, tol=1e-12, limits=Limits(time_limit=0.0))
    assert short.status is Status.OUT_OF_TIME
    over = Limits(time_limit=60.0, since=time.monotonic() - 61.0)  # what came before under the same limits took it all
    assert SMO().solve(gram, problem, tol=1e-12, limits=over).status is Status.OUT_OF_TIME
    stop = threading.Event()
    seen = []

    def on_chunk(chunk):
        seen.append(chunk)
        stop.set()

    with pytest.raises(Stopped):
        SMO().solve(gram, problem, tol=1e-12, limits=Limits(stop=stop), on_chunk=on_chunk)
    assert len(seen) == 1


def test_steps_are_short():
    gram, problem = sample(8, 4000, C=1000.0)
    SMO().solve(gram, problem, limits=Limits(max_iter=50))  # compiled
    ticks = [time.monotonic()]
    SMO().solve(gram, problem, limits=Limits(time_limit=2.0), on_chunk=lambda chunk: ticks.append(time.monotonic()))
    assert np.median(np.diff(ticks)) < 0.2


def test_interrupts_pass_through():
    gram, problem = sample(8, 2500, C=1000.0)

    def interrupt(chunk):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SMO().solve(gram, problem, on_chunk=interrupt)


def test_views_of_a_stored_matrix_and_of_none():
    gram, problem = sample(9, 300)
    ids = np.random.default_rng(0).permutation(300)[:150]
    part = BoxProblem(problem.linear[ids], problem.lower[ids], problem.upper[ids])
    loose = SMO().solve(gram.view(ids), part)
    stored = SMO().solve(gram.stored().view(ids), part)
    np.testing.assert_allclose(loose.coefficients, stored.coefficients, atol=1e-12)


def test_little_memory_is_enough():
    plenty, problem = sample(10, 1500, C=10.0, dtype=np.float32)
    scarce = gram_of(*_again(plenty, 10, 1500), dtype=np.float32, memory=1.0)
    solution = in_small_sets(scarce, problem, 1e-3, Pairs(), smallest=64, largest=256)
    assert solution.converged
    checked(plenty, problem, solution, 1e-3)


def _again(gram, seed, n):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return KERNELS[0].fit(X), X


def test_dense_run_stalls_rather_than_loops():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    gram = gram_of((1e8 * kernels.RBF(gamma=1.0)).fit(X), X)
    problem = BoxProblem(-y, np.where(y > 0, 0.0, -1e8), np.where(y > 0, 1e8, 0.0))
    run = DenseRun(gram, problem, feasible(problem), 1e-14, Pairs())
    solution = drive(run, 1e-14, Limits(max_iter=10**6, time_limit=20.0), None, time.monotonic())
    assert solution.status in (Status.STALLED, Status.CONVERGED)


def test_rounding_that_may_matter_is_recomputed_once(monkeypatch):
    gram, problem = sample(12, 600, C=1000.0, dtype=np.float32)
    anew = []
    begin = WorkingSetRun._begin_anew
    monkeypatch.setattr(WorkingSetRun, "_begin_anew", lambda run: (anew.append(run.iterations), begin(run)))
    solution = in_small_sets(gram, problem, 1e-3, Pairs(), smallest=64, largest=600)
    assert solution.converged
    assert 1 <= len(anew) == len(set(anew)) <= 5
    checked(gram, problem, solution, 1e-3)


@pytest.mark.parametrize(
    ("groups", "stored"), [([100] * 10, False), ([3000] * 10, False), ([4000, *[100] * 50], True), ([500, 500], False)]
)
def test_one_matrix_for_all_pairs_where_a_large_group_is_part_of_many(groups, stored):
    """Of small pairs each entry is computed once anyway; the rows of a large group would be computed for each pair."""
    assert worth_storing(groups) == stored

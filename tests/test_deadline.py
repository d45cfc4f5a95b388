"""Time limits hold for all that is done under them: kernel values, features, every learner, searches and tests."""

import threading
import time
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import _deadline, kernels
from mercer.errors import MercerError, TimeLimitError
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of
from mercer.lectures.run import LectureRun
from mercer.solvers.drive import Limits
from mercer.solvers.solution import Status
from mercer.training.pairs import Members, _shares_of_time
from mercer.training.voting import pairs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = (X[:, 0] + 0.3 * RNG.normal(size=90) > 0).astype(int)
SLOW = kernels.FromFunction(lambda x, z: time.sleep(0.002) or float(np.exp(-((x - z) ** 2).sum())))
SLOW_BLOCKS = kernels.FromBlocks(
    lambda A, B: time.sleep(0.002 * len(A) * len(B)) or np.exp(-((A[:, None] - B[None]) ** 2).sum(2))
)
LIMIT = 0.3

LEARNERS = [
    mercer.SVC(kernel=SLOW),
    mercer.SVC(kernel=SLOW_BLOCKS),
    mercer.NuSVC(kernel=SLOW),
    mercer.SVR(kernel=SLOW),
    mercer.NuSVR(kernel=SLOW),
    mercer.OneClassSVM(kernel=SLOW),
    mercer.KernelLogisticRegression(kernel=SLOW),
    mercer.KernelMachineClassifier(kernel=SLOW),
    mercer.KernelMachineRegressor(kernel=SLOW),
    mercer.KernelQuantileRegressor(kernel=SLOW),
    mercer.KernelRidge(kernel=SLOW),
    mercer.KernelRidgeCV(kernel=SLOW),
    mercer.KernelRidgeClassifier(kernel=SLOW),
    mercer.KernelPCA(2, kernel=SLOW),
    mercer.KernelCCA(2, kernel=SLOW),
    mercer.KernelFisherDiscriminant(kernel=SLOW),
    mercer.KernelKMeans(2, kernel=SLOW),
    mercer.SpectralClustering(2, kernel=SLOW),
    mercer.KernelPerceptron(kernel=SLOW),
    mercer.GradientKernelMachine(kernel=SLOW),
    mercer.KernelSearchCV(mercer.SVC(kernel=SLOW), {"C": [1.0, 10.0]}),
]


def in_time(act: Any, limit: float = LIMIT) -> None:
    """It ends in time, with an error that says how far it came."""
    began = time.monotonic()
    with pytest.raises(TimeLimitError, match=r"time_limit.* \d[\d.]* % of .* done.*would take about"):
        act()
    assert time.monotonic() - began < limit + 1.0


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_kernel_values_count(learner: Any) -> None:
    model = learner.set_params(time_limit=LIMIT)
    before = set(vars(model))
    in_time(lambda: model.fit(X, Y))
    assert set(vars(model)) == before


@pytest.mark.parametrize(
    "act",
    [
        lambda: mercer.check_mercer(SLOW, X, time_limit=LIMIT),
        lambda: mercer.mmd_test(X[:40], X[40:], SLOW, time_limit=LIMIT),
        lambda: mercer.hsic_test(X, X, SLOW, time_limit=LIMIT),
        lambda: mercer.diagnose(SLOW, X, Y, time_limit=LIMIT),
    ],
    ids=["check_mercer", "mmd_test", "hsic_test", "diagnose"],
)
def test_functions_of_kernels_keep_it(act: Any) -> None:
    in_time(act)


def test_the_error_estimates_the_whole() -> None:
    with pytest.raises(TimeLimitError, match="would take about") as caught:
        mercer.SVC(kernel=SLOW, time_limit=LIMIT).fit(X, Y)
    assert 0.001 < caught.value.done < 0.3
    assert isinstance(caught.value, (MercerError, TimeoutError))


@pytest.mark.parametrize(
    ("before", "expected", "said"),
    [
        (0.0, 0.0, "All of it would take about 21 s."),
        (9.5, 0.0, "To the end of this, it would take about 12 s, and longer after that."),
        (9.5, 600.0, "All of the work would take about 10.0 minutes."),
        (0.0, 5.0, "All of it would take about 21 s."),
    ],
)
def test_an_error_says_what_all_of_the_work_would_take(
    monkeypatch: pytest.MonkeyPatch, before: float, expected: float, said: str
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(_deadline.time, "monotonic", lambda: clock[0])
    with _deadline.limited(10.0):
        _deadline.expect(expected)
        _deadline.expect(0.5 * expected)  # a part of it
        clock[0] += before
        work = _deadline.Work("two things", 2)
        clock[0] = 1010.6
        with pytest.raises(TimeLimitError, match=r"with 50 % of two things done\. " + said):
            work.advance()


def test_learning_the_weights_of_kernels_counts() -> None:
    machine = mercer.MultipleKernelMachine(mercer.SVC(time_limit=LIMIT), [SLOW, kernels.Linear()])
    in_time(lambda: machine.fit(X, Y))
    with pytest.raises(mercer.errors.ParameterError, match="time_limit"):
        mercer.MultipleKernelMachine(mercer.SVC(time_limit=-1.0), ["rbf", "linear"]).fit(X, Y)


def test_steps_of_the_lectures_are_counted_by_the_clock() -> None:
    class Slow(LectureRun):
        steps = 1000

        def one_step(self) -> None:
            time.sleep(0.02)
            self.iterations += 1
            self.record(self.iterations, 0.0)

        def point(self) -> Any:
            return np.zeros(1), 0.0

    run = Slow()
    run.__post_init__()
    began = time.monotonic()
    found = run.fit(Limits(time_limit=0.1))
    assert time.monotonic() - began < 0.5
    assert found.status is Status.OUT_OF_TIME


def test_time_is_shared_among_pairs_of_classes() -> None:
    limits = Limits(time_limit=8.0)
    assert limits.share(1.0) is limits
    assert 1.9 < limits.share(0.25).time_limit <= 2.0
    assert Limits().share(0.25).time_limit == np.inf
    members = Members(np.repeat([0, 1, 2], [10, 10, 40]), np.ones(60), 3)
    shares = _shares_of_time(members, pairs(3), 1)
    np.testing.assert_allclose(shares, [400 / 5400, 0.5, 1.0])
    assert (_shares_of_time(members, pairs(3), 2) == np.minimum(1.0, 2 * shares)).all()


HARD = {"C": 1e7, "gamma": 0.01, "tol": 1e-12}


@pytest.mark.parametrize(
    "learner",
    [
        mercer.SVC(**HARD),
        mercer.SVR(**HARD),
        mercer.KernelLogisticRegression(**HARD),
        mercer.KernelMachineRegressor(**HARD),
        mercer.KernelKMeans(5, n_init=1_000_000, max_iter=2),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_where_one_can_be_had(learner: Any) -> None:
    rng = np.random.default_rng(1)
    objects = rng.normal(size=(1000, 5))
    labels = rng.integers(0, 2, 1000)
    short = {"max_iter": 2, "n_init": 1, "time_limit": None}
    known = learner.get_params()
    learner.set_params(**{name: value for name, value in short.items() if name in known})
    learner.fit(objects, labels).set_params(**known)  # compiles
    began = time.monotonic()
    with pytest.warns(ConvergenceWarning, match=r"time.limit"):
        model = learner.set_params(time_limit=0.05).fit(objects, labels)
    assert time.monotonic() - began < 0.05 + 1.0
    assert np.isfinite(model.predict(objects[:10])).all()


def test_without_time_for_a_proof_nothing_is_claimed() -> None:
    from mercer.losses.logistic import Logistic
    from mercer.solvers.problem import LossProblem
    from mercer.training.certificate import certify

    problem = LossProblem(Logistic(), np.array([1.0, -1.0]), np.ones(2))
    found = certify(problem, np.array([0.5, -0.5]), np.zeros(0), 0.0, iterations=0, dtype="float64")
    assert (found.primal, found.dual, found.relative_gap) == (np.inf, -np.inf, np.inf)


def test_the_clock_is_carried_into_threads() -> None:
    seen: list[float] = []
    with _deadline.limited(100.0):
        Threads(3).each(lambda _: seen.append(_deadline.left()), range(6))
    assert len(seen) == 6
    assert all(90.0 < seconds <= 100.0 for seconds in seen)
    seen.clear()
    Threads(3).each(lambda _: seen.append(_deadline.left()), range(6))
    assert set(seen) == {np.inf}  # threads are kept, their limits are not


def test_the_shorter_limit_holds() -> None:
    with _deadline.limited(5.0), _deadline.limited(100.0):
        assert _deadline.left() <= 5.0
        with _deadline.limited(None), _deadline.limited(np.inf):
            assert _deadline.left() <= 5.0
    assert not _deadline.is_limited()


def test_what_is_nearly_done_may_be_a_little_late() -> None:
    with _deadline.limited(1e-9):
        _deadline.Work("two steps", 2).advance()
    with _deadline.limited(-1.0), pytest.raises(TimeLimitError, match="50 % of two steps"):
        _deadline.Work("two steps", 2).advance()
    assert _deadline.Deadline(0.0, 100.0).last == 5.0


def test_what_is_complete_is_never_late() -> None:
    with _deadline.limited(1e-9):
        _deadline.Work("one step", 1).advance()
        assert gram_of(kernels.Linear().fit(X), X).dense().shape == (90, 90)


def test_decompositions_are_refused_beforehand() -> None:
    began = time.monotonic()
    with _deadline.limited(0.5), pytest.raises(TimeLimitError, match="decomposing a matrix of 100,000 x 100,000"):
        _deadline.refuse_decomposition(100_000, 8.0)
    _deadline.refuse_decomposition(100_000, 8.0)  # no limit, no word
    assert time.monotonic() - began < 1.0


def test_slow_features_are_refused_beforehand() -> None:
    calls = []

    class SlowFeatures(kernels.Linear):
        def features(self, objects: Any, state: Any, dtype: Any) -> Any:
            calls.append(len(objects))
            time.sleep(0.001 * len(objects))
            return super().features(objects, state, dtype)

    objects = np.zeros((5000, 2))
    with _deadline.limited(1.0), pytest.raises(TimeLimitError, match="the features of 5,000 objects"):
        gram_of(SlowFeatures().fit(objects), objects)
    assert max(calls) < 100


def test_a_shorter_test_is_still_exact() -> None:
    import mercer.theory.samples as samples

    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(500, 2)), rng.normal(1.0, 1.0, size=(500, 2))
    samples.mmd_test(A, B, permutations=300)  # compiles
    with pytest.warns(ConvergenceWarning, match=r"after \d+ of 10000000 permutations"):
        found = samples.mmd_test(A, B, permutations=10_000_000, random_state=0, time_limit=0.3)
    assert found.p_value == pytest.approx(1 / (1 + len(found.null)))
    assert 100 < len(found.null) < 1_000_000


def test_work_in_several_threads_is_counted_once() -> None:
    with _deadline.limited(60.0):
        work = _deadline.Work("steps", 4000)
        threads = [threading.Thread(target=lambda: [work.advance() for _ in range(1000)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert work.over().done == 1.0


@pytest.mark.parametrize(("seconds", "text"), [(0.5, "0.5 s"), (90, "90 s"), (600, "10.0 minutes"), (1e6, "11.6 days")])
def test_shown_seconds(seconds: float, text: str) -> None:
    assert _deadline.shown_seconds(seconds) == text

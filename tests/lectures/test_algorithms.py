"""The algorithms of the slides: first steps by hand, slow twins, and the exact minimum."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import SVC, KernelMachineClassifier, kernels
from mercer.gram.make import gram_of
from mercer.lectures.gradient_descent import GradientDescent
from mercer.lectures.perceptron_updates import KernelUpdates, WeightUpdates
from mercer.lectures.subgradient_descent import BatchSubgradient, StochasticSubgradient
from mercer.losses.logistic import Logistic
from mercer.losses.smooth_hinge import SmoothHinge
from mercer.solvers import drive
from mercer.solvers.solution import Status
from mercer.theory.bounds import novikoff_bound
from mercer.theory.margins import margin
from tests.oracles import lecture

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
Y = np.where(X @ [1, 2, -1] + 0.5 + 0.7 * RANDOM.normal(size=60) > 0, 1.0, -1.0)


def linear(points):
    return gram_of(kernels.Linear().fit(points), points)


# ------------------------------------------------------------------------------------------------------- perceptron


def test_first_updates_by_hand():
    # The first has y = -1, and score 0 predicts +1: a mistake. The second then has score -(x1.x2) + b = -1: another.
    points = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    y = np.array([-1.0, 1.0, 1.0])
    one = WeightUpdates(points, y, epochs=1, learning_rate=0.5).fit()
    assert one.coefficients.tolist() == [-0.5, 0.5]
    assert one.intercept == 0.0
    assert one.updates.tolist() == [1, 1, 0]
    assert one.trace.values.tolist() == [2]
    # The means over the three objects shown: w was (-.5, 0), (-.5, .5), (-.5, .5); b was -.5, 0, 0.
    mean = WeightUpdates(points, y, epochs=1, learning_rate=0.5, averaged=True).fit()
    assert mean.coefficients == pytest.approx([-0.5, 1 / 3])
    assert mean.intercept == pytest.approx(-0.5 / 3)
    assert WeightUpdates(points, y, epochs=9).fit().trace.last == 0


def test_score_zero_predicts_plus_one():
    found = WeightUpdates(np.array([[0.0], [0.0]]), np.array([1.0, -1.0]), epochs=1).fit()
    assert found.updates.tolist() == [0, 1]


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([0.0, 0.7]))
def test_kernel_perceptron_is_its_slow_twin(seed, bias, margin):
    rng = np.random.default_rng(seed)
    points = rng.integers(-3, 4, size=(12, 2)).astype(float)
    y = rng.choice([-1.0, 1.0], 12)
    K = (points @ points.T + 1) ** 2
    alpha, b, mean_alpha, mean_b, mistakes = lecture.perceptron(K, y, 7, bias=bias, margin=margin)
    rows = gram_of(kernels.Polynomial(degree=2).fit(points), points).dense()
    found = KernelUpdates(rows, y, epochs=7, intercept=bias, margin=margin).fit()
    assert found.updates.tolist() == alpha.tolist()
    assert found.coefficients.tolist() == (alpha * y).tolist()
    assert found.intercept == b
    mean = KernelUpdates(rows, y, epochs=7, intercept=bias, margin=margin, averaged=True).fit()
    assert np.allclose(mean.coefficients, mean_alpha * y)
    assert mean.intercept == pytest.approx(mean_b)
    assert mean.updates.tolist() == alpha.tolist()
    assert found.trace.values.tolist() == mistakes


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("bias", [True, False])
def test_novikoff(seed, bias):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(80, 3))
    score = points @ [1.0, -2.0, 0.5] + (0.4 if bias else 0.0)
    keep = np.abs(score) > 0.3
    points, y = points[keep], np.sign(score[keep])
    # A bias is the weight of a further feature 1.
    lifted = np.column_stack([points, np.ones(len(points))]) if bias else points
    gamma = margin(*([[1.0, -2.0, 0.5, 0.4], 0.0] if bias else [[1.0, -2.0, 0.5], 0.0]), lifted, y)
    bound = novikoff_bound(np.linalg.norm(lifted, axis=1).max(), gamma)
    found = WeightUpdates(points, y, epochs=10_000, intercept=bias).fit()
    assert found.trace.last == 0
    assert found.trace.values.sum() <= bound
    assert (np.sign(points @ found.coefficients + found.intercept) == y).all()


# ------------------------------------------------------------------------------------------------------ representers


def test_the_lectures_weight_vector():
    """w = 1 [1, 0, 0] + 1 [0, 0, 1] = [1, 0, 1]: an expansion with alpha = (1, 0, 1), and scores from K alone."""
    points, y = np.eye(3), np.ones(3)
    alpha = np.array([1.0, 0.0, 1.0])
    w = (alpha * y) @ points
    assert w.tolist() == [1, 0, 1]
    assert (linear(points).dense() @ (alpha * y)).tolist() == (points @ w).tolist()
    # The perceptron ends with minus this vector when both have the label -1: each is a mistake once.
    both = np.array([[1.0, 0, 0], [0, 0, 1.0]])
    found = WeightUpdates(both, np.array([-1.0, -1.0]), epochs=3, intercept=False).fit()
    assert found.coefficients.tolist() == [-1, 0, -1]
    assert found.updates.tolist() == [1, 1]


def test_primal_and_both_expansions_give_the_same_weights():
    points = RANDOM.normal(size=(40, 2))
    y = np.where(points[:, 0] * points[:, 1] + 0.5 > 0, 1.0, -1.0)
    a, b = points.T
    phi = np.column_stack([a**2, b**2, np.sqrt(2) * a * b])  # the lecture's feature map of (x.z)^2
    gram = gram_of(kernels.Polynomial(degree=2, coef0=0.0).fit(points), points)
    assert np.allclose(gram.dense(), phi @ phi.T)
    primal = WeightUpdates(phi, y, epochs=50).fit()
    dual = KernelUpdates(gram.dense(), y, epochs=50).fit()
    assert primal.updates.tolist() == dual.updates.tolist()
    assert np.allclose(primal.coefficients, (dual.updates * y) @ phi)  # the expansion in alpha
    # The expansion in z: minimising over w on phi and over z on K gives the same w = sum z_i phi_i.
    on_phi = KernelMachineClassifier(Logistic(), kernel=kernels.Linear(), tol=1e-10).fit(phi, y)
    w = on_phi.expansion_.coefficients[:, 0] @ phi[on_phi.support_]
    square = kernels.Polynomial(degree=2, coef0=0.0)
    on_k = KernelMachineClassifier(Logistic(), kernel=square, tol=1e-10).fit(points, y)
    assert np.allclose(on_k.expansion_.coefficients[:, 0] @ phi[on_k.support_], w, atol=1e-6)
    z = GradientDescent(gram, y, Logistic(), ridge=1.0, C=1.0, steps=2000).fit()
    assert np.allclose(z.coefficients @ phi, w, atol=1e-5)


# -------------------------------------------------------------------------------------------------------- subgradient


def test_first_batch_step_by_hand():
    # E = |w|^2 + 2 sum hinge at w = 0, b = 0: all inside; slope_w = -2 (1*[1,0] - 1*[0,2]) = [-2, 4], slope_b = 0.
    points, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    one = BatchSubgradient(points, y, 2.0, steps=1, learning_rate=0.1, constant=True, printed=True).fit()
    assert one.coefficients == pytest.approx([0.2, -0.4])
    assert one.intercept == 0
    # E(0) = 4; E(w1) = 0.04 + 0.16 + 2 ((1 - 0.2) + (1 - 0.8)) = 2.2
    assert one.trace.values == pytest.approx([4.0, 2.2])
    # Corrected: the same direction, of length 0.1.
    corrected = BatchSubgradient(points, y, 2.0, steps=1, learning_rate=0.1).fit()
    assert corrected.coefficients == pytest.approx(0.1 * np.array([2, -4]) / np.sqrt(20))
    # Second step of the printed form: both still inside, so w2 = w1 + 0.1 (2 [1, -2] - 2 w1).
    two = BatchSubgradient(points, y, 2.0, steps=2, learning_rate=0.1, constant=True, printed=True).fit()
    assert two.coefficients == pytest.approx([0.2 + 0.2 - 0.04, -0.4 - 0.4 + 0.08])


def test_printed_indicator_sums_over_all_objects():
    # After a step of 1/2 only the second is inside; printed still pulls by the first as well.
    points, y = np.array([[4.0], [-0.1]]), np.array([1.0, -1.0])
    first = BatchSubgradient(points, y, 1.0, steps=1, learning_rate=0.25, constant=True, printed=True).fit()
    w = first.coefficients[0]
    assert w == pytest.approx(0.25 * 4.1)
    second = BatchSubgradient(points, y, 1.0, steps=2, learning_rate=0.25, constant=True, printed=True).fit()
    assert second.coefficients[0] == pytest.approx(w + 0.25 * (4.1 - 2 * w))
    # What the slide means: the second alone pulls.
    meant = BatchSubgradient(points, y, 1.0, steps=2, learning_rate=0.25, constant=True).fit()
    assert meant.coefficients[0] == pytest.approx(w + 0.25 * (0.1 - 2 * w))


@pytest.mark.parametrize("C", [0.3, 1.0, 10.0])
def test_corrected_batch_reaches_the_exact_minimum(C):
    # |w|^2 + C sum is twice 1/2 |w|^2 + C/2 sum.
    exact = 2 * SVC(kernel="linear", C=C / 2, tol=1e-7).fit(X, Y).certificate_.primal
    found = BatchSubgradient(X, Y, C, steps=1000, learning_rate=1.0).fit()
    assert exact * (1 - 1e-6) <= found.trace.best <= 1.01 * exact
    value = (
        found.coefficients @ found.coefficients
        + C * np.maximum(0, 1 - Y * (X @ found.coefficients + found.intercept)).sum()
    )
    assert value == pytest.approx(found.trace.best)


def test_first_stochastic_steps_by_hand():
    points, y = np.array([[2.0, 1.0]]), np.array([-1.0])
    options = {"learning_rate": 1.0, "record_every": 1, "random_state": np.random.default_rng(0)}
    # t = 1: w = 0 - (0 + C [2, 1]); t = 2: y w.x = 5C >= 1, so w halves. The mean of the second half is the last.
    found = StochasticSubgradient(points, y, 3.0, steps=2, **options).fit()
    assert found.coefficients == pytest.approx([-3.0, -1.5])
    # F(0) = 3, F(w1) = 1/2 (36 + 9), F(w2) = 1/2 (9 + 2.25)
    assert found.trace.values == pytest.approx([3.0, 22.5, 5.625])


def test_printed_stochastic_step_has_c_over_n():
    points, y = np.array([[2.0, 1.0], [2.0, 1.0]]), np.array([-1.0, -1.0])
    options = {"learning_rate": 1.0, "record_every": 1, "random_state": np.random.default_rng(0)}
    assert StochasticSubgradient(points, y, 3.0, steps=1, printed=True, **options).fit().coefficients == pytest.approx(
        [-3, -1.5]
    )
    assert StochasticSubgradient(points, y, 3.0, steps=1, **options).fit().coefficients == pytest.approx([-6, -3])


@pytest.mark.parametrize("C", [1.0, 30.0])
def test_corrected_stochastic_reaches_the_exact_minimum_and_printed_does_not(C):
    n = len(Y)
    exact = lecture.svm_without_bias(X @ X.T, Y, C / n)

    def value(w):
        return 0.5 * w @ w + C / n * np.maximum(0, 1 - Y * (X @ w)).sum()

    options = {"learning_rate": 1.0, "record_every": n, "steps": 200 * n}
    right = StochasticSubgradient(X, Y, C, random_state=np.random.default_rng(1), **options).fit()
    assert value(right.coefficients) <= 1.01 * exact
    printed = StochasticSubgradient(X, Y, C, random_state=np.random.default_rng(1), printed=True, **options).fit()
    assert value(printed.coefficients) > 1.2 * exact
    # What the printed step does minimise: the same with C/N for C.
    w, shrunk = printed.coefficients, lecture.svm_without_bias(X @ X.T, Y, C / n**2)
    assert 0.5 * w @ w + C / n**2 * np.maximum(0, 1 - Y * (X @ w)).sum() <= 1.01 * shrunk


# ---------------------------------------------------------------------------------------------------------- gradient


def test_first_gradient_step_by_hand():
    # K = [[1, 0], [0, 4]], y = (1, -1): slopes at 0 are -1/2 and 1/2; gradient K s = (-1/2, 2), of b: 0.
    points, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    found = GradientDescent(linear(points), y, Logistic(), ridge=0.5, C=1.0, steps=1, rate=0.1, constant=True).fit()
    assert found.coefficients == pytest.approx([0.05, -0.2])
    assert found.intercept == 0
    after = 0.25 * (0.05**2 + 4 * 0.2**2) + np.log1p(np.exp(-0.05)) + np.log1p(np.exp(-0.8))
    assert found.trace.values == pytest.approx([2 * np.log(2), after])
    # The smooth SVM: slopes are -C y e / (1 + e).
    share = np.e / (1 + np.e)
    svm = GradientDescent(linear(points), y, SmoothHinge(), ridge=1.0, C=3.0, steps=1, rate=1.0, constant=True).fit()
    assert svm.coefficients == pytest.approx([3 * share, -12 * share])
    assert svm.trace.values[0] == pytest.approx(6 * np.log1p(np.e))


@pytest.mark.parametrize(
    ("loss", "ridge", "C"), [(Logistic(), 0.5, 1.0), (SmoothHinge(), 1.0, 5.0)], ids=["soft", "svm"]
)
@pytest.mark.parametrize("gamma", [0.2, 2.0])
def test_corrected_gradient_reaches_the_exact_minimum(loss, ridge, C, gamma):
    exact = KernelMachineClassifier(loss, C=C / ridge, kernel=kernels.RBF(gamma), tol=1e-7).fit(X, Y)
    gram = gram_of(kernels.RBF(gamma).fit(X), X)
    found = GradientDescent(gram, Y, loss, ridge=ridge, C=C, steps=1000).fit()
    best = ridge * exact.certificate_.primal
    assert best * (1 - 1e-6) <= found.trace.last <= 1.01 * best
    assert (np.diff(found.trace.values) <= 0).all()


def test_printed_smooth_svm_diverges_and_stays_finite():
    gram = gram_of(kernels.RBF(0.2).fit(X), X)
    found = GradientDescent(gram, Y, SmoothHinge(), ridge=1.0, C=5.0, steps=1000, rate=1.0, constant=True).fit()
    assert found.trace.diverged
    assert np.isfinite(found.coefficients).all()
    assert found.trace.last > 1e100


# ------------------------------------------------------------------------------------------------------------- limits


def runs(limits=None, on_chunk=None):
    gram = gram_of(kernels.RBF(0.2).fit(X), X)
    random = np.random.default_rng(0)
    order = np.array([random.permutation(60) for _ in range(40)])
    yield KernelUpdates(linear(X).dense(), Y, epochs=40, order=order).fit(limits, on_chunk)
    yield WeightUpdates(X, Y, epochs=40, order=order).fit(limits, on_chunk)
    yield BatchSubgradient(X, Y, 1.0, steps=300, learning_rate=1.0).fit(limits, on_chunk)
    yield StochasticSubgradient(X, Y, 1.0, steps=2000, learning_rate=1.0, record_every=150, random_state=random).fit(
        limits, on_chunk
    )
    yield GradientDescent(gram, Y, Logistic(), ridge=0.5, C=1.0, steps=300).fit(limits, on_chunk)


def test_chunks_change_nothing(monkeypatch):
    chunks = []
    whole = list(runs(on_chunk=chunks.append))
    assert all(found.status is Status.CONVERGED for found in whole)
    assert chunks[-1].iterations > 0
    monkeypatch.setattr(drive, "_next_size", lambda *_: 7)
    for cut, found in zip(runs(), whole, strict=True):
        assert cut.trace.steps.tolist() == found.trace.steps.tolist()
        assert cut.trace.values.tolist() == found.trace.values.tolist()
        assert cut.intercept == found.intercept


def test_limits_end_them_early():
    for found in runs(limits=drive.Limits(max_iter=10)):
        assert found.status is Status.OUT_OF_ITERATIONS
        assert len(found.trace) >= 1
        assert np.isfinite(found.trace.values).all()
    for found in runs(limits=drive.Limits(time_limit=-1.0)):
        assert found.status is Status.OUT_OF_TIME
    stop = threading.Event()
    stop.set()
    with pytest.raises(drive.Stopped):
        next(runs(limits=drive.Limits(stop=stop)))

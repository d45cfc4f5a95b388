"""Bounds on the excess over the exact machine, beside the true excess."""

import numpy as np
import pytest

from mercer import (
    SVC,
    SVR,
    KernelLogisticRegression,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelQuantileRegressor,
    KernelRidge,
    OneClassSVM,
    kernels,
)
from mercer.errors import KernelError
from mercer.training.full_kernel import Excess

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
NUMBERS = np.sin(X[:, 0]) + 0.2 * RNG.normal(size=300)
SIGNS = (np.sin(2 * X[:, 0]) + 0.4 * RNG.normal(size=300) > 0).astype(int)
CLASSES = SIGNS + (X[:, 1] > 0.7)
FULL = kernels.RBF(gamma=0.5)

MACHINES = {
    "squared": (KernelRidge(alpha=0.5), NUMBERS),
    "squared, intercept": (KernelRidge(alpha=0.5, fit_intercept=True), NUMBERS),
    "hinge": (SVC(tol=1e-7), SIGNS),
    "hinge, pairs": (SVC(tol=1e-7), CLASSES),
    "squared hinge": (KernelMachineClassifier("squared_hinge", tol=1e-7), SIGNS),
    "logistic": (KernelLogisticRegression(tol=1e-7), SIGNS),
    "multinomial": (KernelLogisticRegression(tol=1e-7), CLASSES),
    "squared hinge, one against the rest": (KernelMachineClassifier("squared_hinge", tol=1e-7), CLASSES),
    "smooth hinge": (KernelMachineClassifier("smooth_hinge", tol=1e-7), SIGNS),
    "huber": (KernelMachineRegressor("huber", tol=1e-7), NUMBERS),
    "squared epsilon": (KernelMachineRegressor("squared_epsilon_insensitive", tol=1e-7), NUMBERS),
    "epsilon": (SVR(tol=1e-7), NUMBERS),
    "quantile": (KernelQuantileRegressor(tol=1e-7), NUMBERS),
}


@pytest.mark.parametrize("name", MACHINES)
def test_the_bound_is_above_the_true_excess_and_falls_with_landmarks(name):
    learner, y = MACHINES[name]
    exact = learner.set_params(kernel=FULL).fit(X, y).certificate_
    slack = 1e-6 * exact.primal + exact.duality_gap
    bounds = []
    for m in (20, 80, 299):
        model = learner.set_params(kernel=kernels.Nystrom(FULL, m=m)).fit(X, y)
        found = model.excess(X, y)
        assert found.primal == pytest.approx(model.certificate_.primal, rel=1e-6)
        true = found.primal - exact.primal
        assert -slack <= true <= found.excess + slack
        assert found.bound <= exact.primal + slack
        bounds.append(found.excess)
    assert bounds[0] > bounds[1] > bounds[2]
    assert bounds[2] < 1e-2 * exact.primal
    assert not found.sampled_rows


def test_the_bound_is_of_the_size_of_the_true_excess():
    exact = SVC(kernel=FULL, tol=1e-6).fit(X, SIGNS).certificate_.primal
    model = SVC(kernel=kernels.Nystrom(FULL, m=60), tol=1e-6).fit(X, SIGNS)
    found = model.excess(X, SIGNS)
    assert found.excess < 4 * (found.primal - exact)


def test_weights_of_objects_count():
    weights = RNG.uniform(0.5, 2.0, size=300)
    model = KernelRidge(alpha=0.5, kernel=kernels.Nystrom(FULL, m=40)).fit(X, NUMBERS, sample_weight=weights)
    found = model.excess(X, NUMBERS, sample_weight=weights)
    assert found.primal == pytest.approx(model.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("name", ["squared", "hinge", "hinge, pairs"])
def test_sampled_rows_come_near_the_pass_over_all(name):
    learner, y = MACHINES[name]
    model = learner.set_params(kernel=kernels.Nystrom(FULL, m=60)).fit(X, y)
    exact, sampled = model.excess(X, y), model.excess(X, y, exact_rows=0)
    assert sampled.sampled_rows == 300
    assert model.excess(X, y, exact_rows=len(X)).sampled_rows == 0
    assert model.excess(X, y, exact_rows=len(X) - 1).sampled_rows == 300
    assert exact.excess <= sampled.excess < 1.5 * exact.excess
    assert sampled.primal == exact.primal


def test_the_trace_left_is_that_of_all_objects():
    model = KernelRidge(kernel=kernels.Nystrom(FULL, m=40)).fit(X, NUMBERS)
    wanted = 1 - np.trace(model.kernel_(X)) / 300
    assert model.excess(X, NUMBERS).trace_left == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("region", ["plane", "ball"])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_class_machines(region, weighted):
    weights = RNG.uniform(0.5, 2.0, size=300) if weighted else None
    grown = FULL if region == "plane" else FULL + kernels.Polynomial(degree=2) * 0.05  # diagonals that differ
    exact = OneClassSVM(nu=0.2, region=region, kernel=grown, tol=1e-7).fit(X, sample_weight=weights).certificate_
    slack, bounds = 1e-6 * abs(exact.primal) + exact.duality_gap, []
    for m in (20, 80, 299):
        learner = OneClassSVM(nu=0.2, region=region, kernel=kernels.Nystrom(grown, m=m), tol=1e-7)
        found = learner.fit(X, sample_weight=weights).excess(X, None, sample_weight=weights)
        assert -slack <= found.primal - exact.primal <= found.excess + slack
        bounds.append(found)
    assert bounds[0].excess > bounds[1].excess > bounds[2].excess
    assert bounds[2].share < 1e-3
    assert str(bounds[1]).startswith("At most")


def test_the_verdict_is_a_sentence():
    assert str(Excess(101.0, 100.0, 0.031)) == (
        "At most 1 % above the exact machine's objective; the landmarks leave 0.031 of the trace."
    )
    assert "99 % probability (2,048 rows sampled)" in str(Excess(101.0, 100.0, 0.031, 2048))
    assert str(Excess(5.0, -1.0, 0.5)).startswith("Nothing useful is known")


def test_refusals():
    with pytest.raises(KernelError, match="not a projection of another kernel"):
        SVC(kernel=FULL).fit(X, SIGNS).excess(X, SIGNS)
    with pytest.raises(KernelError, match="not a projection of another kernel"):
        OneClassSVM(kernel=FULL).fit(X).excess(X, None)


@pytest.mark.parametrize("name", ["squared", "hinge"])
def test_what_the_machine_is_worth_on_objects_held_out_stands_beside_the_bound(name):
    learner, y = MACHINES[name]
    model = learner.set_params(kernel=kernels.Nystrom(FULL, m=80)).fit(X[:200], y[:200])
    found = model.excess(X[:200], y[:200], held_out=(X[200:], y[200:]))
    assert (found.held_out, found.score) == (100, model.score(X[200:], y[200:]))
    said = f"right for {100 * found.score:.3g} %" if name == "hinge" else f"score is {found.score:.3g}"
    assert str(found).endswith(f"on 100 objects held out, it{'s' if name == 'squared' else ' is'} {said}.")
    assert str(found).startswith("At most")
    assert found.excess == model.excess(X[:200], y[:200]).excess
    assert "held out" not in str(model.excess(X[:200], y[:200]))

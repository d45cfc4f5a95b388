"""Solutions on float32 matrices are solutions, and proofs, for the kernel in float64."""

from __future__ import annotations

import numpy as np
import pytest

import mercer
from mercer import kernels
from mercer.gram.make import gram_of
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.solvers.box import refined
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO
from mercer.solvers.drive import Limits
from mercer.solvers.problem import LossProblem
from mercer.solvers.solution import Status
from mercer.training.certificate import certify

N = 2100  # more than 2,048: float32


def classes(seed=0, n=N, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1.0, -1.0)


def exact(X, gamma):
    squares = ((X[:, None, :2] - X[None, :, :2]) ** 2).sum(-1) + ((X[:, None, 2:] - X[None, :, 2:]) ** 2).sum(-1)
    return np.exp(-gamma * squares)


@pytest.mark.parametrize(("C", "tol"), [(1.0, 1e-3), (1.0, 1e-6), (1e3, 1e-3)])
def test_the_tolerance_is_met_for_the_kernel_in_float64(C, tol):
    X, y = classes()
    gram = gram_of(kernels.RBF(gamma=0.3).fit(X), X)
    assert gram.dtype is np.float32
    problem = LossProblem(Hinge(), y, np.full(N, C))
    box = BoxProblem.of(problem)
    found = refined.solve(gram, box, tol=tol, limits=Limits(max_iter=3_000_000))
    assert found.status is Status.CONVERGED
    outputs = exact(X, 0.3) @ found.coefficients
    assert box.violation(found.coefficients, -(outputs + box.linear)) <= tol * (1 + 1e-6)
    assert (np.abs(outputs - found.outputs) <= found.off + 1e-9 * C).all()
    proof = certify(
        problem, found.coefficients, found.outputs, found.intercept, iterations=0, dtype="float32", off=found.off
    )
    truth = certify(problem, found.coefficients, outputs, found.intercept, iterations=0, dtype="float64")
    rounding = 1e-12 * abs(truth.primal)
    assert proof.dual <= truth.dual + rounding
    assert truth.primal <= proof.primal + rounding
    assert truth.kkt_violation <= proof.kkt_violation + 1e-9


def test_without_refinement_a_large_penalty_misses_the_tolerance():
    """What the test above would not notice if float32 were good enough."""
    X, y = classes()
    gram = gram_of(kernels.RBF(gamma=0.3).fit(X), X)
    box = BoxProblem.of(LossProblem(Hinge(), y, np.full(N, 1e3)))
    found = SMO().solve(gram, box, tol=1e-3, limits=Limits(max_iter=3_000_000))
    outputs = exact(X, 0.3) @ found.coefficients
    assert box.violation(found.coefficients, -(outputs + box.linear)) > 1.05e-3


def test_a_tube_and_a_problem_without_intercept():
    X, y = classes(3)
    y = 1000 * np.sin(X[:, 0]) + 100 * y
    gram = gram_of(kernels.RBF(gamma=0.2).fit(X), X)
    for intercept in (True, False):
        problem = LossProblem(EpsilonInsensitive(10.0), y, np.full(N, 100.0), intercept=intercept)
        box = BoxProblem.of(problem)
        found = refined.solve(gram.stored(), box, tol=1e-3, limits=Limits(max_iter=1_000_000))
        assert found.converged
        outputs = exact(X, 0.2) @ found.coefficients
        assert box.violation(found.coefficients, -(outputs + box.linear)) <= 1e-3 * (1 + 1e-6)


def test_limits_leave_a_true_proof():
    X, y = classes(1)
    gram = gram_of(kernels.RBF(gamma=0.3).fit(X), X)
    problem = LossProblem(Hinge(), y, np.full(N, 100.0))
    found = refined.solve(gram, BoxProblem.of(problem), tol=1e-3, limits=Limits(max_iter=50))
    assert found.status is Status.OUT_OF_ITERATIONS
    assert found.stats.iterations <= 50
    outputs = exact(X, 0.3) @ found.coefficients
    assert (np.abs(outputs - found.outputs) <= found.off + 1e-9).all()


def test_matrices_in_float64_are_solved_as_they_are():
    X, y = classes(n=200)
    gram = gram_of(kernels.RBF(gamma=0.3).fit(X), X)
    box = BoxProblem.of(LossProblem(Hinge(), y, np.ones(200)))
    one, other = refined.solve(gram, box, tol=1e-4), SMO().solve(gram, box, tol=1e-4)
    assert np.array_equal(one.coefficients, other.coefficients)
    assert one.off == 0.0


@pytest.mark.parametrize(
    ("learner", "regression"),
    [
        (mercer.SVC(C=100.0, gamma=0.3), False),
        (mercer.NuSVC(nu=0.4, gamma=0.3), False),
        (mercer.OneClassSVM(nu=0.1, gamma=0.3, region="ball"), False),
        (mercer.NuSVR(nu=0.3, C=50.0, gamma=0.3), True),
        (mercer.KernelLogisticRegression(C=10.0, gamma=0.3), False),
        (mercer.SVC(C=1.0, gamma=0.3, dtype="float64"), False),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, bool) else "",
)
def test_every_learner_claims_what_can_be_verified(learner, regression):
    X, y = classes(5)
    y = 10 * X[:, 1] + y if regression else y
    model = learner.fit(X, y)
    claimed = model.certificate_
    assert claimed.dtype == ("float64" if model.dtype == "float64" else "float32")
    truth = model.verify(X) if isinstance(learner, mercer.OneClassSVM) else model.verify(X, y)
    rounding = 1e-11 * abs(truth.primal)
    assert claimed.dual <= truth.dual + rounding
    assert truth.primal <= claimed.primal + rounding
    assert truth.kkt_violation <= claimed.kkt_violation + 1e-8
    if not isinstance(learner, mercer.NuSVR | mercer.OneClassSVM):  # their tolerance is one of a problem that is scaled
        assert truth.kkt_violation <= model.tol * (1 + 1e-6)


def test_the_worst_pair_of_classes_is_shown():
    X, _ = classes(n=90)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    proof = mercer.SVC().fit(X, y).certificate_
    assert proof.worst in proof.parts
    assert proof.worst.relative_gap == max(part.relative_gap for part in proof.parts)
    alone = mercer.SVC().fit(X, y > 0).certificate_
    assert alone.worst is alone


def test_only_precisions_that_exist_can_be_asked_for():
    X, y = classes(n=20)
    with pytest.raises(ValueError, match="'dtype' parameter of SVC must be one of 'auto', 'float64'"):
        mercer.SVC(dtype="float16").fit(X, y)

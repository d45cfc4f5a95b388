"""Every solver keeps its promises: on box problems of several shapes, and each on a problem that suits it."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.smo import SMO
from mercer.testing import kkt_violation, solver_checks
from mercer.testing.checks import run_all
from mercer.testing.minimisers import check_minimiser
from mercer.testing.solvers import sample_problems, stored_gram
from tests.conformance.solver_subjects import SUBJECTS


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("problem", sample_problems(True))
def test_boxes(problem, intercept):
    run_all(problem, (check for check in solver_checks(SMO(), intercept=intercept) if check.name.endswith(problem)))


@pytest.mark.parametrize("name", SUBJECTS)
def test_solvers(name):
    check_minimiser(SUBJECTS[name]())


@pytest.mark.parametrize("name", sorted(set(sample_problems(True)) - {"hard"}))
def test_against_a_general_optimiser(name):
    K, problem = sample_problems(True)[name]
    solution = SMO().solve(stored_gram(K), problem, tol=1e-6)
    found = minimize(
        lambda b: 0.5 * b @ K @ b + problem.linear @ b,
        np.zeros(len(K)),
        jac=lambda b: K @ b + problem.linear,
        method="SLSQP",
        bounds=list(zip(problem.lower, problem.upper, strict=True)),
        constraints=LinearConstraint(np.ones((1, len(K))), 0, 0),
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert solution.objective == pytest.approx(found.fun, abs=1e-5)


def box(total=0.0):
    return BoxProblem(np.array([-1.0, 1.0]), np.array([0.0, -2.0]), np.array([2.0, 0.0]), total)


@pytest.mark.parametrize(
    ("b", "violation"),
    [
        ([0.5, -0.5], 0.0),
        ([0.0, 0.0], 2.0),  # both could still move, and want to
        ([0.25, -0.25], 1.0),
        ([1.0, -1.0], 2.0),  # too far
        ([0.5, -0.25], 0.5),  # F = (0.25, -0.25) gives 0.5; the missing sum is 0.25
    ],
)
def test_kkt_violation_by_hand(b, violation):
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert kkt_violation(K, box(), b) == pytest.approx(violation)


def test_kkt_violation_of_the_sum():
    assert kkt_violation(np.eye(2), box(), [2.0, 0.0]) == pytest.approx(2.0)


def test_kkt_violation_outside_the_box():
    assert kkt_violation(np.zeros((2, 2)), box(None), [2.5, -2.0]) == pytest.approx(0.5)


@pytest.mark.parametrize(("b", "violation"), [([0.5, -0.5], 0.0), ([0.0, 0.0], 1.0), ([1.0, -1.0], 1.0)])
def test_kkt_violation_without_the_sum_constraint(b, violation):
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert kkt_violation(K, box(None), b) == pytest.approx(violation)

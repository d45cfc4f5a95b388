"""Many small problems in one compiled call are those that the ordinary solver solves one by one."""

import numpy as np
import pytest

from mercer import SVC, kernels
from mercer.gram.make import gram_of
from mercer.losses.hinge import Hinge
from mercer.solvers.box import small_pairs
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.small_pairs import SmallPairs
from mercer.solvers.box.smo import SMO
from mercer.solvers.problem import LossProblem

SIDES = Hinge().dual(np.array((1.0, -1.0)), np.ones(2))


def made(sizes, seed=0):
    """Shuffled groups of objects, a Gram matrix, and bounds that differ from object to object."""
    random = np.random.default_rng(seed)
    codes = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = random.normal(size=(len(codes), 3)) + codes[:, None] * 0.3
    gram = gram_of(kernels.RBF(gamma=0.5).fit(X), X)
    groups = [np.flatnonzero(codes == label) for label in range(len(sizes))]
    return gram, groups, random.uniform(0.5, 20.0, len(codes))


@pytest.mark.parametrize("sizes", [(20, 25), (1, 7), (6, 9, 12), (5, 1, 8, 3)])
def test_each_pair_is_what_the_ordinary_solver_finds(sizes):
    gram, groups, bounds = made(sizes)
    found = SmallPairs.of(groups)
    found.solve(gram.exact(), gram.diagonal(), bounds, SIDES, 1e-6, slice(0, len(found)))
    pairs = [(a, b) for a in range(len(sizes)) for b in range(a + 1, len(sizes))]
    assert len(found) == len(pairs)
    for number, (a, b) in enumerate(pairs):
        own = found.part(number)
        ids, signs = found.ids[own], found.signs[own]
        assert set(ids[signs > 0]) == set(groups[a])
        assert set(ids[signs < 0]) == set(groups[b])
        problem = BoxProblem.of(LossProblem(Hinge(), signs, bounds[ids]))
        expected = SMO().solve(gram.view(ids), problem, tol=1e-6)
        assert found.gaps[number] <= 1e-6
        np.testing.assert_allclose(found.coefficients[own], expected.coefficients, atol=1e-4)
        np.testing.assert_allclose(found.outputs[own], expected.outputs, atol=1e-5)
        assert found.intercepts[number] == pytest.approx(expected.intercept, abs=1e-5)
        assert found.coefficients[own].sum() == pytest.approx(0.0, abs=1e-9)


def test_outputs_and_gaps_are_computed_anew():
    gram, groups, bounds = made((8, 9, 10))
    found = SmallPairs.of(groups)
    found.solve(gram.exact(), gram.diagonal(), bounds, SIDES, 1e-3, slice(0, 3))
    for number in range(3):
        own = found.part(number)
        ids, b = found.ids[own], found.coefficients[own]
        outputs = gram.exact()[np.ix_(ids, ids)] @ b
        np.testing.assert_allclose(found.outputs[own], outputs, atol=1e-12)
        problem = BoxProblem.of(LossProblem(Hinge(), found.signs[own], bounds[ids]))
        assert found.gaps[number] == pytest.approx(problem.violation(b, -(outputs + problem.linear)), abs=1e-12)


def test_some_pairs_leave_the_others_alone():
    gram, groups, bounds = made((4, 5, 6))
    found = SmallPairs.of(groups)
    found.solve(gram.exact(), gram.diagonal(), bounds, SIDES, 1e-3, slice(1, 2))
    assert np.isinf(found.gaps[[0, 2]]).all()
    assert not found.coefficients[found.part(0)].any()
    assert found.coefficients[found.part(1)].any()


def test_what_is_not_solved_is_left_to_the_ordinary_solver(monkeypatch):
    """A matrix that float32 comparisons cannot solve, and a batch that solves nothing, give the same machines."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(40, 2)), np.repeat([0, 1, 2, 3], 10)
    expected = SVC(C=10.0, tol=1e-6).fit(X, y)
    monkeypatch.setattr(SmallPairs, "solve", lambda *_: None)
    found = SVC(C=10.0, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(found.dual_coef_, expected.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-5)
    assert found.certificate_.primal == pytest.approx(expected.certificate_.primal, rel=1e-9)
    assert len(found.certificate_.parts) == 6


def test_compiled_once_wherever_the_diagonal_comes_from():
    """Compiling takes seconds, and every further kind of array would take them again."""
    gram, groups, bounds = made((6, 9))
    K = gram.exact()
    for diagonal in (gram.diagonal(), K.diagonal(), K.copy().reshape(-1)[:: len(K) + 1]):
        found = SmallPairs.of(groups)
        found.solve(K, diagonal, bounds, SIDES, 1e-6, slice(0, 1))
        assert found.gaps[0] <= 1e-6
    assert len(small_pairs._solve_pairs.signatures) == 1

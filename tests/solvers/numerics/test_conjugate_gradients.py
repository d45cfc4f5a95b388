"""Conjugate gradients, one product at a time."""

import numpy as np
import pytest

from mercer.solvers.numerics.conjugate_gradients import ConjugateGradients


def system(n=12, seed=0, columns=()):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    return root @ root.T + np.eye(n), rng.normal(size=(n, *columns))


@pytest.mark.parametrize("preconditioned", [False, True])
def test_as_many_steps_as_unknowns_solve_a_system(preconditioned):
    A, right = system()
    scale = np.diagonal(A) if preconditioned else np.ones(12)
    found = ConjugateGradients(lambda v: A @ v, lambda r: r / scale, right)
    before = right.copy()
    for _ in range(12):
        found.step()
    np.testing.assert_allclose(found.x, np.linalg.solve(A, right), rtol=1e-8)
    np.testing.assert_allclose(found.residual, right - A @ found.x, atol=1e-9)
    assert np.array_equal(right, before)
    assert found.products == 12


def test_columns_are_systems_of_their_own():
    A, right = system(columns=(3,))
    right[:, 2] = 0.0
    together = ConjugateGradients(lambda v: A @ v, lambda r: r, right, by_column=True)
    for _ in range(5):
        together.step()
    for column in range(2):
        alone = ConjugateGradients(lambda v: A @ v, lambda r: r, right[:, column])
        for _ in range(5):
            alone.step()
        np.testing.assert_allclose(together.x[:, column], alone.x, rtol=1e-10)
    assert not together.x[:, 2].any()


def test_every_step_brings_the_error_down_in_the_norm_of_the_matrix():
    A, right = system(seed=1)
    best = np.linalg.solve(A, right)
    found, errors = ConjugateGradients(lambda v: A @ v, lambda r: r, right), []
    for _ in range(8):
        errors.append((found.x - best) @ A @ (found.x - best))
        found.step()
    assert (np.diff(errors) < 0).all()


def test_nothing_is_left_where_the_matrix_is_not_positive():
    found = ConjugateGradients(lambda v: -v, lambda r: r, np.ones(3))
    assert found.step() == 0.0
    assert found.exhausted
    assert found.direction @ np.ones(3) > 0  # still downhill
    solved = ConjugateGradients(lambda v: v, lambda r: r, np.zeros(3))
    solved.step()
    assert solved.exhausted

"""The choice of landmarks and their whitening."""

import numpy as np
import pytest

from mercer import kernels
from mercer.kernels.base import State
from mercer.kernels.features.landmarks import chosen, whiten

X = np.random.default_rng(0).normal(size=(500, 2))
GAUSS = kernels.RBF(gamma=1.0)


@pytest.mark.parametrize("pivots", [True, False])
def test_the_triangle_is_that_of_the_landmarks(pivots):
    objects = GAUSS.coerce(X)
    state = GAUSS.resolve(objects)
    found = chosen(GAUSS, objects, state, 12, 0, pivots=pivots)
    assert len(set(found.places.tolist())) == 12
    K = GAUSS.fit(X)(X[found.places])
    np.testing.assert_allclose(found.triangle @ found.triangle.T, K, atol=1e-12)
    assert not np.triu(found.triangle, 1).any()


def test_many_objects_are_chosen_from_a_sample_that_the_seed_fixes():
    objects = GAUSS.coerce(X)
    state = GAUSS.resolve(objects)
    one, again, other = (chosen(GAUSS, objects, state, 5, seed, pivots=True).places for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(np.sort(one), np.sort(other))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_whitening_solves_in_place(dtype):
    triangle = np.asfortranarray([[2.0, 0.0], [1.0, 3.0]])
    similar = np.array([[4.0, 8.0], [2.0, 1.0], [0.0, 3.0]], dtype=dtype)
    wanted = np.linalg.solve(triangle, similar.T).T
    got = whiten(similar, triangle)
    assert got is similar
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_nothing_to_see():
    objects = kernels.Linear().coerce(np.zeros((4, 2)))
    found = chosen(kernels.Linear(), objects, State(), 3, 0, pivots=True)
    assert found.left == 0.0
    assert len(found.places) == len(found.triangle) <= 1


@pytest.mark.parametrize("scale", [1.0, 1e-4])
def test_what_landmarks_leave_has_no_unit(scale):
    objects = kernels.Linear().coerce(scale * np.eye(4))  # one landmark sees a quarter of four directions
    assert chosen(kernels.Linear(), objects, State(), 1, 0, pivots=True).left == pytest.approx(0.75)

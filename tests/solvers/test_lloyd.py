"""Lloyd's algorithm on rows of numbers."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from mercer import _deadline
from mercer.solvers.lloyd import kmeans


def inertia(rows, labels):
    return sum(((rows[labels == c] - rows[labels == c].mean(axis=0)) ** 2).sum() for c in np.unique(labels))


@pytest.mark.parametrize(("n", "k", "width"), [(30, 2, 1), (200, 4, 3), (90, 9, 2)])
def test_is_as_good_as_scikit_learns(n, k, width):
    random = np.random.default_rng(n)
    rows = random.normal(size=(n, width)) + 3.0 * random.integers(0, 3, size=(n, 1))
    labels = kmeans(rows, k, runs=10, rng=np.random.default_rng(0))
    reference = KMeans(k, n_init=10, random_state=0).fit(rows)
    assert set(labels) == set(range(k))
    assert inertia(rows, labels) <= 1.05 * reference.inertia_


def test_finds_clouds_that_lie_apart():
    random = np.random.default_rng(1)
    truth = np.repeat(np.arange(4), 25)
    rows = random.normal(size=(100, 2)) + 20.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[truth]
    assert adjusted_rand_score(truth, kmeans(rows, 4, runs=5, rng=random)) == 1.0


def test_the_same_seed_gives_the_same_labels():
    rows = np.random.default_rng(2).normal(size=(50, 3))
    once, again = (kmeans(rows, 5, runs=3, rng=np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(once, again)


def test_fewer_places_than_clusters():
    rows = np.repeat([[0.0], [1.0]], 3, axis=0)
    labels = kmeans(rows, 4, runs=2, rng=np.random.default_rng(0))
    assert len(labels) == 6
    assert set(labels) <= set(range(4))
    assert not set(labels[:3]) & set(labels[3:])


def test_one_run_at_least_is_done_when_time_is_over():
    rows = np.random.default_rng(3).normal(size=(40, 2))
    with _deadline.limited(1e-9):
        assert set(kmeans(rows, 3, runs=1000, rng=np.random.default_rng(0))) == {0, 1, 2}

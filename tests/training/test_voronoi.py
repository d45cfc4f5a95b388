"""Cells of the kernel's geometry against distances worked out one by one."""

import numpy as np
import pytest

from mercer import kernels
from mercer.training.voronoi import divide, nearest

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(scale=0.05, size=(900, 2)), RNG.normal(scale=2.0, size=(300, 2))])
WORDS = ["".join(RNG.choice(list("ACGT"), RNG.integers(3, 12))) for _ in range(80)]


@pytest.mark.parametrize(
    ("kernel", "objects"), [(kernels.RBF(gamma=2.0), X), (kernels.Linear(), X), (kernels.Spectrum(p=2), WORDS)]
)
def test_the_nearest_centre_is_the_one_at_the_least_distance_in_feature_space(kernel, objects):
    fitted = kernel.fit(objects)
    batch = kernel.coerce(objects)
    K, centres = fitted(batch), np.array([3, 17, 40, 66])
    squared = K.diagonal()[:, None] - 2 * K[:, centres] + K.diagonal()[centres]
    found = nearest(fitted, batch, batch.take(centres))
    np.testing.assert_allclose(squared[np.arange(len(K)), found], squared.min(axis=1), atol=1e-9)


def test_objects_far_from_any_centre_of_a_narrow_kernel_go_to_the_nearest():
    fitted = kernels.RBF(gamma=1.0).fit(X)
    far, centres = fitted.coerce([[10.0, 0.0], [-10.0, 0.0]]), fitted.coerce([[-1.0, 0.0], [1.0, 0.0]])
    assert nearest(fitted, far, centres).tolist() == [1, 0]  # both similarities are below 1e-35


@pytest.mark.parametrize("size", [60, 200])
def test_cells_are_about_as_large_as_asked_for_however_uneven_the_data(size):
    kernel = kernels.RBF(gamma=2.0)
    found = divide(kernel.fit(X), kernel.coerce(X), size, np.random.default_rng(1))
    counts = np.bincount(found.labels)
    assert counts.sum() == len(X)
    assert len(counts) == len(found.centres)
    assert counts.min() > 0
    assert counts.max() <= 2 * size
    np.testing.assert_array_equal(found.labels[found.centres], np.arange(len(counts)))


def test_objects_that_look_alike_cannot_be_divided():
    kernel, same = kernels.RBF(gamma=1.0), np.ones((50, 2))
    found = divide(kernel.fit(same), kernel.coerce(same), 10, np.random.default_rng(0))
    assert len(found.centres) == 1
    assert not found.labels.any()

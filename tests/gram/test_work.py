"""The work of one tile."""

import pickle

import numpy as np

from mercer import kernels
from mercer.gram.tiles import Tile
from mercer.gram.work import ExactWork, StoredWork, TileWork, gathered

X = np.random.default_rng(0).normal(size=(37, 3))
FITTED = kernels.RBF(gamma=0.5).fit(X)
K = FITTED(X)


def test_work_can_be_shipped():
    left, right = FITTED.align(FITTED.features(FITTED.kernel.coerce(X)), FITTED.features(FITTED.kernel.coerce(X)))
    work = pickle.loads(pickle.dumps(TileWork(FITTED, left, right)))
    out = np.empty((2, 3))
    work(Tile(1, 3, 0, 3), out)
    np.testing.assert_allclose(out, K[1:3, :3], atol=1e-12)


def test_known_values_replace_computed_ones_in_their_tile():
    def zeros(tile, out):
        out[...] = 0.0

    work = ExactWork(zeros, hits=np.array([0, 2, 2, 5]), places=np.array([1, 0, 4, 2]), values=np.arange(1.0, 5.0))
    out = np.empty((3, 3))
    work(Tile(1, 4, 0, 3), out)
    assert out.tolist() == [[0, 0, 0], [2, 0, 0], [0, 0, 0]]


def test_parts_of_a_stored_matrix():
    rows, columns = np.array([5, 1, 5, 9]), np.array([0, 5, 30])
    assert np.array_equal(gathered(K, rows, columns), K[np.ix_(rows, columns)])
    out = np.empty((2, 1))
    StoredWork(K, rows, columns)(Tile(1, 3, 2, 3), out)
    assert np.array_equal(out, K[np.ix_([1, 5], [30])])

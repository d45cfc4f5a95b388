"""Which matrix is made, and in which precision."""

import numpy as np
import pytest

from mercer import kernels
from mercer.errors import InputError, KernelError
from mercer.gram import make
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of, gram_of_rows, gram_of_values

X = np.random.default_rng(0).normal(size=(37, 3))
K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
FITTED = kernels.RBF(gamma=0.5).fit(X)


def gram(**options):
    return gram_of(FITTED, X, **options)


class TestPrecision:
    def test_small_is_exact(self):
        assert gram().dtype is np.float64

    def test_large_is_single_where_the_kernel_says_so(self, monkeypatch):
        monkeypatch.setattr(make, "DOUBLE_ENTRIES", 100)
        large = gram()
        assert large.dtype is np.float32
        assert large.dense().dtype == np.float32
        np.testing.assert_allclose(large.dense(), K, atol=1e-5)
        assert large.dense(np.float64).dtype == np.float64
        np.testing.assert_allclose(large.matvec(np.ones(37)), K.sum(axis=1), atol=1e-4)

    @pytest.mark.parametrize(
        ("kernel", "objects"),
        [
            (kernels.Polynomial(degree=30), X * 100),  # overflows float32
            (kernels.Spectrum(p=1), ["A" * 5000] * 20),  # counts beyond 2^24
        ],
    )
    def test_large_is_double_where_single_is_not_safe(self, kernel, objects, monkeypatch):
        monkeypatch.setattr(make, "DOUBLE_ENTRIES", 100)
        large = gram_of(kernel.fit(objects), objects)
        assert large.dtype is np.float64
        assert np.isfinite(large.dense()).all()

    def test_asked_for(self):
        assert gram(dtype=np.float32).dense().dtype == np.float32


def test_overflow_is_refused_when_the_matrix_is_made():
    huge = X * 1e100
    with pytest.raises((KernelError, InputError), match="overflow in kernel"):
        gram_of(kernels.Polynomial(degree=3).fit(huge), huge)


def test_few_cheap_entries_are_computed_in_this_thread():
    assert gram().executor == Threads(1)
    expensive = gram_of(kernels.GapWeighted(p=2).fit(["ab", "ba"]), ["ab", "ba"])
    assert expensive.expensive
    assert expensive.executor == Threads()
    assert gram_of_rows(X).executor == Threads()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_given_values_keep_the_precision_of_their_model_and_an_exact_diagonal(dtype):
    like = gram(dtype=dtype, memory=1e-3)
    own = K.diagonal() + 1e-12
    given = gram_of_values(K, own, like)
    assert given.in_memory
    assert given.dense().dtype == dtype
    assert np.array_equal(given.diagonal(), own)
    assert given.fits()
    assert given.entries_computed == 0


def test_rows_of_many_objects_keep_their_precision(monkeypatch):
    assert gram_of_rows(X.astype(np.float32)).dtype is np.float64
    monkeypatch.setattr(make, "DOUBLE_ENTRIES", 100)
    assert gram_of_rows(X.astype(np.float32)).dtype is np.float32
    assert gram_of_rows(X).dtype is np.float64


def test_a_small_matrix_is_computed_at_once_with_the_values_of_its_tiles():
    for options in ({}, {"columns": X[:5]}, {"dtype": np.float32}):
        once, tiled = gram(**options), gram(**options, executor=Threads(1))
        assert once.in_memory
        assert not tiled.in_memory
        assert once.entries_computed == once.shape[0] * once.shape[1]
        assert once.symmetric == tiled.symmetric
        np.testing.assert_allclose(once.dense(), tiled.dense(), rtol=1e-12 if once.dtype is np.float64 else 1e-6)
        np.testing.assert_allclose(once.matvec(np.ones(once.shape[1])), tiled.matvec(np.ones(once.shape[1])), rtol=1e-6)
    assert np.array_equal(gram().dense(), gram().dense().T)
    assert not gram(memory=1e-3).in_memory  # beyond the budget, nothing is stored


def test_an_asymmetric_function_is_refused_at_once_too():
    kernel = kernels.FromFunction(lambda x, z: float(x[0]), objects="vectors")
    with pytest.raises(KernelError, match="not symmetric"):
        gram_of(kernel.fit(X), X).dense()

"""Computed matrices against plain NumPy: whole, in parts, as a product."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import kernels
from mercer.errors import KernelError, MemoryBudgetError
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(37, 3))
NEW = RANDOM.normal(size=(11, 3))
K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
K_NEW = np.exp(-0.5 * ((NEW[:, None] - X[None]) ** 2).sum(axis=2))
FITTED = kernels.RBF(gamma=0.5).fit(X)
TILES = Threads(1)
"""Who says how tiles are to be computed wants tiles, however small the matrix."""

index_arrays = st.lists(st.integers(0, 36), min_size=1, max_size=12).map(lambda x: np.array(x, dtype=np.intp))


def gram(**options):
    return gram_of(FITTED, X, **{"executor": TILES, **options})


def test_dense_and_diagonal():
    got = gram().dense()
    np.testing.assert_allclose(got, K, atol=1e-12)
    assert np.array_equal(got, got.T)
    assert np.array_equal(np.diagonal(got), np.ones(37))
    assert np.array_equal(gram().diagonal(), np.ones(37))


def test_new_against_training():
    got = gram_of(FITTED, NEW, X, executor=TILES)
    assert got.shape == (11, 37)
    np.testing.assert_allclose(got.dense(), K_NEW, atol=1e-12)
    assert not got.symmetric
    with pytest.raises(KernelError, match="no diagonal"):
        got.diagonal()


@pytest.mark.parametrize("stored", [False, True])
@given(rows=index_arrays, columns=index_arrays)
def test_views_and_rows(stored, rows, columns):
    whole = gram().stored() if stored else gram()
    wanted = K[np.ix_(rows, columns)]
    np.testing.assert_allclose(whole.view(rows, columns).dense(), wanted, atol=1e-12)
    np.testing.assert_allclose(whole.rows(rows, columns), wanted, atol=1e-12)
    np.testing.assert_allclose(whole.view(rows).dense(), K[np.ix_(rows, rows)], atol=1e-12)
    np.testing.assert_allclose(whole.view(rows).diagonal(), np.ones(len(rows)))
    vectors = np.arange(2.0 * len(columns)).reshape(-1, 2)
    np.testing.assert_allclose(whole.view(rows, columns).matvec(vectors), wanted @ vectors, atol=1e-10)


@given(index_arrays, st.data())
def test_views_of_views(rows, data):
    inner = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=5)))
    chosen = rows[inner]
    got = gram().view(rows).view(inner).dense()
    np.testing.assert_allclose(got, K[np.ix_(chosen, chosen)], atol=1e-12)


@pytest.mark.parametrize("index", [slice(3, 20, 4), np.arange(37) % 3 == 0, [5, 1]], ids=["slice", "mask", "list"])
def test_indices_of_every_kind(index):
    np.testing.assert_allclose(gram().view(index).dense(), K[index][:, index], atol=1e-12)
    np.testing.assert_allclose(gram().rows(index), K[index], atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_object_meets_itself_exactly_wherever_it_is(dtype):
    far = X * 1e3 + 1e5  # far from the origin, where distances by products are inexact
    whole = gram_of(kernels.RBF(gamma=50.0).fit(far), far, dtype=dtype)
    rows, columns = np.array([5, 1, 36, 5]), np.array([0, 36, 5])
    same = np.equal.outer(rows, columns)
    assert (whole.rows(rows, columns)[same] == 1.0).all()
    assert (whole.view(rows, columns).dense()[same] == 1.0).all()
    assert np.array_equal(np.diagonal(whole.dense()), np.ones(37))
    picked = np.zeros(3)
    picked[2] = 1.0
    assert whole.view(rows, columns).matvec(picked)[0] == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(rows=index_arrays, columns=index_arrays)
def test_repeated_objects_meet_themselves_exactly(dtype, rows, columns):
    whole = gram_of(kernels.Linear().fit(X), X, dtype=dtype)
    diagonal = whole.diagonal().astype(dtype)
    for others, block in ((columns, whole.rows(rows, columns)), (rows, whole.view(rows).dense())):
        i, j = np.nonzero(np.equal.outer(rows, others))
        assert np.array_equal(block[i, j], diagonal[rows[i]])


def test_matvec_of_one_vector_and_of_the_wrong_length():
    np.testing.assert_allclose(gram().matvec(np.ones(37)), K.sum(axis=1), atol=1e-10)
    with pytest.raises(ValueError, match="matvec needs 37 rows"):
        gram().matvec(np.ones(36))


class TestMemory:
    def test_refused_before_allocating(self, monkeypatch):
        big = gram_of(FITTED, X, memory=1).view(np.zeros(200_000, dtype=np.intp))
        monkeypatch.setattr(np, "empty", lambda *a, **k: pytest.fail("allocated before refusing"))
        with pytest.raises(
            MemoryBudgetError, match=r"200,000 x 200,000 objects needs 298\.0 GiB; the budget is 1\.0 MiB"
        ):
            big.dense()

    def test_fits(self):
        small = gram_of(FITTED, X, memory=37 * 37 * 8 / 2**20)
        assert small.fits()
        assert not gram_of(FITTED, X, memory=37 * 37 * 7 / 2**20).fits()
        small.dense()

    def test_a_product_needs_no_memory_for_the_matrix(self):
        tiny = gram_of(FITTED, X, memory=1e-3)
        np.testing.assert_allclose(tiny.matvec(np.ones(37)), K.sum(axis=1), atol=1e-10)
        with pytest.raises(MemoryBudgetError):
            tiny.dense()


class TestUserKernels:
    def test_asymmetric_functions_are_refused_with_the_place(self):
        kernel = kernels.FromBlocks(lambda left, right: left @ right.T + left[:, :1])
        with pytest.raises(KernelError, match=r"not symmetric: entries \(\d+, \d+\) and \(\d+, \d+\) are .* apart by"):
            gram_of(kernel.fit(X), X).dense()

    def test_rounding_is_averaged_away(self):
        kernel = kernels.FromBlocks(lambda left, right: left @ right.T + 1e-9 * left[:, :1])
        got = gram_of(kernel.fit(X), X).dense()
        assert np.array_equal(got, got.T)

    def test_a_precomputed_matrix_that_is_not_symmetric(self):
        wrong = K.copy()
        wrong[3, 7] += 0.5
        with pytest.raises(KernelError, match=r"\(3, 7\) and \(7, 3\)"):
            gram_of(kernels.Precomputed().fit(wrong), wrong).dense()


@pytest.mark.parametrize("kernel", [kernels.RBF(), kernels.Linear(), kernels.Polynomial()], ids=str)
def test_bit_equal_for_any_number_of_threads(kernel):
    rows = np.random.default_rng(1).normal(size=(700, 5))
    fitted = kernel.fit(rows)
    vector = np.linspace(-1, 1, 700)
    alone = gram_of(fitted, rows, executor=Threads(1))
    for executor in (Threads(1), Threads(2), Threads(5)):
        other = gram_of(fitted, rows, executor=executor)
        assert np.array_equal(alone.dense(), other.dense())
        assert np.array_equal(alone.matvec(vector), other.matvec(vector))

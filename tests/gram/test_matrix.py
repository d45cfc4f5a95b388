"""The Gram matrix against plain NumPy: whole, in parts, as a product, stored and not."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import kernels
from mercer.errors import InputError, KernelError, MemoryBudgetError
from mercer.gram import matrix
from mercer.gram.executors import Serial, Threads
from mercer.gram.expansion import Expansion
from mercer.gram.folds import folds
from mercer.gram.matrix import Gram
from mercer.gram.tiles import Tile
from mercer.gram.work import TileWork

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(37, 3))
NEW = RANDOM.normal(size=(11, 3))
K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
K_NEW = np.exp(-0.5 * ((NEW[:, None] - X[None]) ** 2).sum(axis=2))
FITTED = kernels.RBF(gamma=0.5).fit(X)

index_arrays = st.lists(st.integers(0, 36), min_size=1, max_size=12).map(lambda x: np.array(x, dtype=np.intp))


def gram(**options):
    return Gram.of(FITTED, X, **options)


def test_dense_and_diagonal():
    got = gram().dense()
    np.testing.assert_allclose(got, K, atol=1e-12)
    assert np.array_equal(got, got.T)
    assert np.array_equal(np.diagonal(got), np.ones(37))
    assert np.array_equal(gram().diagonal(), np.ones(37))


def test_new_against_training():
    got = Gram.of(FITTED, NEW, X)
    assert got.shape == (11, 37)
    np.testing.assert_allclose(got.dense(), K_NEW, atol=1e-12)
    assert not got.symmetric
    with pytest.raises(KernelError, match="no diagonal"):
        got.diagonal()


@pytest.mark.parametrize("stored", [False, True])
@given(rows=index_arrays, columns=index_arrays)
def test_views_and_rows(stored, rows, columns):
    whole = gram()
    if stored:
        whole.store()
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
    whole = Gram.of(kernels.RBF(gamma=50.0).fit(far), far, dtype=dtype)
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
    whole = Gram.of(kernels.Linear().fit(X), X, dtype=dtype)
    diagonal = whole.diagonal().astype(dtype)
    for others, block in ((columns, whole.rows(rows, columns)), (rows, whole.view(rows).dense())):
        i, j = np.nonzero(np.equal.outer(rows, others))
        assert np.array_equal(block[i, j], diagonal[rows[i]])


def test_matvec_of_one_vector_and_of_the_wrong_length():
    np.testing.assert_allclose(gram().matvec(np.ones(37)), K.sum(axis=1), atol=1e-10)
    with pytest.raises(ValueError, match="matvec needs 37 rows"):
        gram().matvec(np.ones(36))


def test_storing_computes_once():
    whole = gram()
    whole.store()
    computed = whole.entries_computed
    assert computed > 0
    whole.store()
    whole.dense()
    whole.view(np.arange(9)).dense()
    whole.matvec(np.ones(37))
    whole.rows([1, 2])
    assert whole.entries_computed == computed


def test_cached_rows():
    whole = gram()
    cache = whole.cached_rows(np.array([3, 8]))
    np.testing.assert_allclose(cache.buffer[cache.slots[8]], K[8], atol=1e-12)
    assert cache.buffer[cache.slots[8]][8] == 1.0
    assert whole.cached_rows(np.array([8])) is cache
    assert cache.computed == 2


class TestMemory:
    def test_refused_before_allocating(self, monkeypatch):
        big = Gram.of(FITTED, X, memory=1).view(np.zeros(200_000, dtype=np.intp))
        monkeypatch.setattr(np, "empty", lambda *a, **k: pytest.fail("allocated before refusing"))
        with pytest.raises(
            MemoryBudgetError, match=r"200,000 x 200,000 objects needs 298\.0 GiB; the budget is 1\.0 MiB"
        ):
            big.dense()

    def test_fits(self):
        small = Gram.of(FITTED, X, memory=37 * 37 * 8 / 2**20)
        assert small.fits()
        assert not small.fits(2)
        small.dense()

    def test_a_product_needs_no_memory_for_the_matrix(self):
        tiny = Gram.of(FITTED, X, memory=1e-3)
        np.testing.assert_allclose(tiny.matvec(np.ones(37)), K.sum(axis=1), atol=1e-10)
        with pytest.raises(MemoryBudgetError):
            tiny.dense()


class TestPrecision:
    def test_small_is_exact(self):
        assert gram().dtype is np.float64

    def test_large_is_single_where_the_kernel_says_so(self, monkeypatch):
        monkeypatch.setattr(matrix, "DOUBLE_ENTRIES", 100)
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
        monkeypatch.setattr(matrix, "DOUBLE_ENTRIES", 100)
        large = Gram.of(kernel.fit(objects), objects)
        assert large.dtype is np.float64
        assert np.isfinite(large.dense()).all()

    def test_asked_for(self):
        assert gram(dtype=np.float32).dense().dtype == np.float32


class TestUserKernels:
    def test_asymmetric_functions_are_refused_with_the_place(self):
        kernel = kernels.FromBlocks(lambda left, right: left @ right.T + left[:, :1])
        with pytest.raises(KernelError, match=r"not symmetric: entries \(\d+, \d+\) and \(\d+, \d+\) are .* apart by"):
            Gram.of(kernel.fit(X), X).dense()

    def test_rounding_is_averaged_away(self):
        kernel = kernels.FromBlocks(lambda left, right: left @ right.T + 1e-9 * left[:, :1])
        got = Gram.of(kernel.fit(X), X).dense()
        assert np.array_equal(got, got.T)

    def test_a_precomputed_matrix_that_is_not_symmetric(self):
        wrong = K.copy()
        wrong[3, 7] += 0.5
        with pytest.raises(KernelError, match=r"\(3, 7\) and \(7, 3\)"):
            Gram.of(kernels.Precomputed().fit(wrong), wrong).dense()


@pytest.mark.parametrize("kernel", [kernels.RBF(), kernels.Linear(), kernels.Polynomial()], ids=str)
def test_bit_equal_for_any_number_of_threads(kernel):
    rows = np.random.default_rng(1).normal(size=(700, 5))
    fitted = kernel.fit(rows)
    vector = np.linspace(-1, 1, 700)
    alone = Gram.of(fitted, rows, executor=Serial())
    for executor in (Threads(1), Threads(2), Threads(5)):
        other = Gram.of(fitted, rows, executor=executor)
        assert np.array_equal(alone.dense(), other.dense())
        assert np.array_equal(alone.matvec(vector), other.matvec(vector))


def test_overflow_is_refused_when_the_matrix_is_made():
    huge = X * 1e100
    with pytest.raises((KernelError, InputError), match="overflow in kernel"):
        Gram.of(kernels.Polynomial(degree=3).fit(huge), huge)


def test_work_can_be_shipped():
    left, right = FITTED.align(FITTED.features(FITTED.kernel.coerce(X)), FITTED.features(FITTED.kernel.coerce(X)))
    work = pickle.loads(pickle.dumps(TileWork(FITTED, left, right)))
    out = np.empty((2, 3))
    work(Tile(1, 3, 0, 3), out)
    np.testing.assert_allclose(out, K[1:3, :3], atol=1e-12)


def test_folds_are_views_of_one_matrix():
    whole = gram()
    whole.store()
    computed = whole.entries_computed
    splits = [(np.arange(37) % 3 != part, np.arange(37) % 3 == part) for part in range(3)]
    splits = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in splits]
    for fold, (train, test) in zip(folds(whole, splits), splits, strict=True):
        np.testing.assert_allclose(fold.gram.dense(), K[np.ix_(train, train)], atol=1e-12)
        np.testing.assert_allclose(fold.validation.dense(), K[np.ix_(test, train)], atol=1e-12)
        assert fold.gram.symmetric
        assert not fold.validation.symmetric
    assert whole.entries_computed == computed


def test_expansion():
    coefficients = RANDOM.normal(size=(37, 2))
    machine = Expansion(FITTED, FITTED.kernel.coerce(X), coefficients, np.array([1.0, -1.0]))
    np.testing.assert_allclose(machine(NEW), K_NEW @ coefficients + [1.0, -1.0], atol=1e-10)
    nobody = Expansion(FITTED, FITTED.kernel.coerce(X).take(slice(0, 0)), np.zeros((0, 1)), np.array([2.0]))
    assert nobody(NEW).tolist() == [[2.0]] * 11

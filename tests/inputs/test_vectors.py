"""Rows of numbers: what is refused and how, what is accepted, and that nothing is written to."""

import hashlib

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.vectors import Vectors
from mercer.kernels import RBF, Linear

X = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 4.0], [3.0, 0.5, 1.0]])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.array, sp.csr_array, lambda x: x.astype(np.float32), lambda x: x.tolist()])
def test_non_finite_values_are_counted_and_located(bad, form):
    broken = X.copy()
    broken[1, 2] = bad
    broken[2, 0] = bad
    with pytest.raises(InputError, match="2 entries not finite, the first at row 1, column 2") as caught:
        Vectors.coerce(form(broken))
    assert ("contains NaN" if np.isnan(bad) else "contains infinity") in str(caught.value)


def test_one_bad_entry_is_singular():
    with pytest.raises(InputError, match="1 entry not finite, the first at row 0, column 1"):
        Vectors.coerce([[0.0, np.nan]])


def test_large_finite_values_are_not_taken_for_infinite():
    assert len(Vectors.coerce(np.full((4, 4), 1e308))) == 4  # their sum is infinite, they are not


def test_overflow_to_float32():
    with np.errstate(over="ignore"), pytest.raises(InputError, match="too large for its dtype"):
        Vectors.coerce(np.array([[1e39]]).astype(np.float32))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (sp.csr_array((0, 3)), r"0 sample\(s\)"),
        (np.empty((3, 0)), r"0 feature\(s\)"),
        ([1.0, 2.0], r"Expected 2D array, got 1D array instead: shape \(2,\).*reshape\(-1, 1\)"),
        ([], "Expected 2D array, got 1D"),
        (3.0, "Expected 2D array, got 0D"),
        (np.zeros((2, 2, 2)), r"Expected 2D array, got 3D array instead: shape \(2, 2, 2\)"),
        ([[1j]], "Complex data not supported"),
        (sp.csr_array([[1j]]), "Complex data not supported"),
        ([["gattaca"]], r"must hold numbers.*gattaca.*kernel on strings"),
        (np.ma.masked_array([[1.0, 2.0]], mask=[[False, True]]), "row 0, column 1 is masked"),
    ],
    ids=str,
)
def test_refusals(raw, message):
    with pytest.raises(InputError, match=message):
        Vectors.coerce(raw)


@pytest.mark.parametrize("raw", ["gattaca", b"gattaca"])
def test_one_string(raw):
    with pytest.raises(InputTypeError, match=r"got one string\. Pass a list"):
        Vectors.coerce(raw)


def test_ragged_rows():
    with pytest.raises(InputTypeError, match="lengths differ"):
        Vectors.coerce([[1.0], [1.0, 2.0]])


def test_objects_that_are_no_numbers():
    with pytest.raises(InputTypeError, match="must hold numbers"):
        Vectors.coerce(np.array([[{}]], dtype=object))


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.int64, np.uint8, bool, object, np.longdouble])
def test_other_numbers_become_float64(dtype):
    got = Vectors.coerce(np.array([[1, 0], [0, 1]]).astype(dtype))
    assert got.values.dtype == np.float64
    assert got.values.tolist() == [[1, 0], [0, 1]]


def test_float32_stays():
    assert Vectors.coerce(X.astype(np.float32)).values.dtype == np.float32
    assert Vectors.coerce(sp.csr_array(X.astype(np.float32))).values.dtype == np.float32


def test_a_mask_that_masks_nothing_is_fine():
    assert Vectors.coerce(np.ma.masked_array(X)).values.tolist() == X.tolist()


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: x[::-1][::-1],
        lambda x: x.tolist(),
        lambda x: x.astype(">f8"),
        sp.csr_matrix,
        sp.csc_array,
        sp.coo_array,
        sp.lil_array,
    ],
)
def test_memory_layouts_give_the_same_values(form):
    wanted = RBF(gamma=0.5).fit(X)(X)
    np.testing.assert_allclose(RBF(gamma=0.5).fit(form(X))(form(X)), wanted, rtol=0, atol=1e-12)


def test_read_only_memory_map(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    mapped = np.load(path, mmap_mode="r")
    assert np.array_equal(Linear().fit(mapped)(mapped), X @ X.T)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_values_cannot_be_written_through():
    mine = X.copy()
    objects = Vectors.coerce(mine)
    with pytest.raises(ValueError, match="read-only"):
        objects.values[0, 0] = 9.0
    mine[0, 0] = 9.0  # mine stays mine


def test_wide_indices_are_narrowed():
    csr = sp.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    got = Vectors.coerce(csr).values
    assert got.indices.dtype == got.indptr.dtype == np.int32
    assert np.array_equal(got.toarray(), X)


def test_duplicate_sparse_entries_are_summed_in_a_copy():
    parts = (np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2]))
    raw = sp.csr_array(parts, shape=(1, 3))
    assert Vectors.coerce(raw).values.toarray().tolist() == [[0, 3, 0]]
    assert raw.data.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_take_and_storage(form):
    objects = Vectors.coerce(form(X))
    for index in (slice(1, 3), np.array([2, 0])):
        part = objects.take(index)
        again = Vectors.from_arrays(part.to_arrays())
        for one in (part, again):
            values = one.values.toarray() if one.is_sparse else one.values
            assert np.array_equal(values, X[index])


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"values": np.array([[np.nan]])},
        {"values": np.array(["a"])},
        {"data": np.ones(1), "indices": np.array([7]), "indptr": np.array([0, 1]), "shape": np.array([1, 2])},
        {"data": np.ones(1), "indices": np.array([0]), "indptr": np.array([0, 9]), "shape": np.array([1, 2])},
        {"data": np.ones(1), "indices": np.array([-1]), "indptr": np.array([0, 1]), "shape": np.array([1, 2])},
    ],
)
def test_stored_arrays_that_do_not_fit(arrays):
    with pytest.raises(ModelFileError):
        Vectors.from_arrays(arrays)


def test_overflow_in_the_kernel_is_told_in_words():
    fitted = Linear().fit([[1.0]])
    with pytest.raises(InputError, match=r"overflow in kernel: the squared length of row 1.*StandardScaler"):
        fitted([[1.0], [1e300]])


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_are_chosen_like_those_of_an_array(sparse):
    from sklearn.model_selection import cross_val_score, train_test_split

    import mercer

    values = np.round(np.random.default_rng(0).normal(size=(40, 3)), 1)
    X = Vectors.coerce(sp.csr_array(values) if sparse else values)
    assert X.shape == (40, 3)
    assert (X[3] == values[3]).all()
    assert (X[-1] == values[-1]).all()
    for index in (slice(2, 9), [5, 1, 5], values[:, 0] > 0, np.array([], dtype=int), np.arange(4)):
        assert (X[index].dense() == values[index]).all()
        assert type(X[index]) is Vectors
    assert (X[[1, 2], ...].dense() == values[[1, 2]]).all()
    for wrong, message in (("a", "chosen by a slice"), ([0.5], "chosen by a slice"), ([True], "The mask has shape")):
        with pytest.raises((InputError, TypeError), match=message):
            X[wrong]
    y = values[:, 0] > 0
    train, test, _, _ = train_test_split(X, y, random_state=0)
    assert (len(train), len(test)) == (30, 10)
    assert cross_val_score(mercer.SVC(kernel="linear"), X, y, cv=3).mean() > 0.8

"""Rows of a Gram matrix, and arbitrary objects."""

import numpy as np
import pytest

from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.gram_rows import GramRows
from mercer.inputs.items import Items

K = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])


def test_training_matrix():
    rows = GramRows.coerce(K)
    assert rows.training
    assert rows.self_similarity.tolist() == [2, 3, 4]
    part = rows.take(np.array([2, 0]))
    assert part.index.tolist() == [2, 0]
    assert part.self_similarity.tolist() == [4, 2]


def test_a_matrix_that_is_not_square():
    with pytest.raises(InputError, match=r"must be a square matrix: got shape \(2, 3\)"):
        GramRows.coerce(K[:2])


def test_new_objects_may_be_any_number():
    rows = GramRows.coerce(K[:2], new=True)
    assert not rows.training
    assert rows.self_similarity is None
    own = GramRows.rows(K[:2], self_similarity=[1.0, 2.0])
    assert own.matrix.tolist() == K[:2].tolist()
    assert own.index.tolist() == [0, 1]
    assert own.take(slice(1, 2)).self_similarity.tolist() == [2.0]


def test_rows_with_similarities_of_their_own():
    found = GramRows.rows([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], self_similarity=[1, 2, 3])
    assert found.matrix.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert found.index.tolist() == [0, 1, 2]
    assert not found.training
    assert found.self_similarity.tolist() == [1.0, 2.0, 3.0]


def test_self_similarity_of_the_wrong_length():
    with pytest.raises(InputError, match=r"one finite value per row: expected \(2,\), got \(3,\)"):
        GramRows.rows(K[:2], self_similarity=[1.0, 2.0, 3.0])


def test_nan_is_refused_as_in_vectors():
    with pytest.raises(InputError, match="NaN"):
        GramRows.coerce([[np.nan]])


def test_storage_of_training_rows():
    part = GramRows.coerce(K).take(np.array([2, 0]))
    again = GramRows.from_arrays(part.to_arrays())
    assert again.matrix is None
    assert again.index.tolist() == [2, 0]
    with pytest.raises(ModelFileError, match="Only training objects"):
        GramRows.coerce(K, new=True).to_arrays()


@pytest.mark.parametrize(
    "arrays",
    [
        {"index": np.array([0])},
        {"index": np.array([-1]), "self_similarity": np.array([1.0])},
        {"index": np.array([0.5]), "self_similarity": np.array([1.0])},
        {"index": np.array([0, 1]), "self_similarity": np.array([1.0])},
    ],
)
def test_stored_arrays_that_do_not_fit(arrays):
    with pytest.raises(ModelFileError):
        GramRows.from_arrays(arrays)


def test_items_are_never_taken_apart():
    sets = [{1, 2}, {3}, set()]
    items = Items.coerce(sets)
    assert items.items == sets
    assert items.take(np.array([2, 0])).items == [set(), {1, 2}]
    assert items.take(slice(1, None)).items == [{3}, set()]


@pytest.mark.parametrize("raw", ["text", b"bytes", 3])
def test_one_item(raw):
    with pytest.raises(InputTypeError, match="Pass a list"):
        Items.coerce(raw)


def test_no_items():
    with pytest.raises(InputError, match="0 objects"):
        Items.coerce([])


def test_items_of_nothing_known_are_not_stored():
    with pytest.raises(ModelFileError):
        Items.coerce([object()]).to_arrays()
    with pytest.raises(ModelFileError, match="lack the array"):
        Items.from_arrays({})

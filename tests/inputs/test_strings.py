"""Strings: what is refused and how, Unicode, slicing and storage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.strings import Strings

any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)  # lone surrogates included


@pytest.mark.parametrize(
    ("raw", "kind", "message"),
    [
        ("gattaca", InputTypeError, "got one str. Pass a list"),
        (b"gattaca", InputTypeError, "got one bytes. Pass a list"),
        ([], InputError, "Found 0 strings while a minimum of 1"),
        (np.array([], dtype=object), InputError, "Found 0 strings"),
        (["a", b"b"], InputTypeError, "item 1 is b'b' of type bytes. Decode it first"),
        (["a", None], InputTypeError, "item 1 is None of type NoneType"),
        (["a", float("nan")], InputTypeError, "item 1 is nan of type float"),
        (["b", ["a"]], InputTypeError, r"item 1 is \['a'\] of type list"),
        (7, InputTypeError, "got int"),
        ({"a"}, InputTypeError, "got one set"),
        (np.array([["a", "b"]]), InputTypeError, r"array of shape \(1, 2\)"),
        (["x" * 3, 10**60], InputTypeError, r"item 1 is 1000\d*\.\.\. of type int"),
    ],
    ids=str,
)
def test_refusals(raw, kind, message):
    with pytest.raises(kind, match=message):
        Strings.coerce(raw)


@pytest.mark.parametrize(
    "form", [list, tuple, np.array, lambda x: np.array(x, dtype=object), lambda x: np.array(x)[:, None]]
)
def test_containers(form):
    assert Strings.coerce(form(["CAT", "", "GATTACA"])).tolist() == ["CAT", "", "GATTACA"]


def test_series_of_pandas_and_polars():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for series in (
        pandas.Series(["a", "bc"]),
        pandas.Series(["a", "bc"], dtype="category"),
        polars.Series(["a", "bc"]),
    ):
        assert Strings.coerce(series).tolist() == ["a", "bc"]


@given(st.lists(any_text, min_size=1, max_size=6), st.data())
def test_taking_is_indexing(texts, data):
    objects = Strings.coerce(texts)
    assert objects.tolist() == texts
    assert objects.lengths.tolist() == [len(text) for text in texts]
    index = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8)), dtype=np.intp)
    assert objects.take(index).tolist() == [texts[i] for i in index]
    chosen = slice(*data.draw(st.tuples(*[st.none() | st.integers(-8, 8)] * 2, st.sampled_from([None, 1, 2, -1, -3]))))
    assert objects.take(chosen).tolist() == texts[chosen]
    assert Strings.from_arrays(objects.take(index).to_arrays()).tolist() == objects.take(index).tolist()


def test_symbols_are_code_points_as_they_come():
    composed, combining = Strings.coerce(["é"]), Strings.coerce(["e\u0301"])
    assert composed.lengths.tolist() == [1]
    assert combining.lengths.tolist() == [2]
    odd = ["\U0001f600", "\x00", "\ud800"]
    assert Strings.coerce(odd).lengths.tolist() == [1, 1, 1]
    assert Strings.coerce(odd).symbols.tolist() == [0x1F600, 0, 0xD800]
    assert Strings.coerce(odd).tolist() == odd


@pytest.mark.parametrize(
    ("symbols", "offsets"),
    [
        ([65, 66], [0, 3]),
        ([65, 66], [1, 2]),
        ([65, 66], [0, 2, 1, 2]),
        ([65, -1], [0, 2]),
        ([65, 0x110000], [0, 2]),
        ([[65, 66]], [0, 2]),
        ([65.0, 66.0], [0, 2]),
        ([65, 66], []),
    ],
)
def test_stored_arrays_that_do_not_fit(symbols, offsets):
    with pytest.raises(ModelFileError, match="do not fit together"):
        Strings.from_arrays({"symbols": np.array(symbols), "offsets": np.array(offsets, dtype=np.int64)})


def test_a_missing_array():
    with pytest.raises(ModelFileError, match="lack the array 'offsets'"):
        Strings.from_arrays({"symbols": np.zeros(0, dtype=np.int32)})

"""Rows of categories: what is equal, what is refused, what is stored."""

import importlib
import importlib.util
from typing import Any

import numpy as np
import pytest

from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.categories import Categories
from mercer.inputs.tables import Table

pandas: Any = importlib.import_module("pandas") if importlib.util.find_spec("pandas") else None


def code(value: object) -> int:
    return int(Categories.coerce([[value]]).codes[0, 0])


def test_equal_where_python_says_so() -> None:
    assert code(1) == code(1.0) == code(True) == code(np.int8(1)) == code(np.float32(1)) == code(np.bool_(True))
    assert code("red") == code(np.str_("red"))
    assert len({code(1), code("1"), code("1.0"), code(0.5), code("0.5"), code(0), code(""), code("Red")}) == 8
    assert code(-0.0) == code(0)
    assert code(10**30) == code(1e30) or 10**30 != 1e30


def test_codes_do_not_depend_on_the_batch_or_the_form() -> None:
    rows = [["a", 1], ["b", 2], ["a", 2]]
    codes = Categories.coerce(rows).codes
    np.testing.assert_array_equal(Categories.coerce(rows[1:]).codes, codes[1:])
    np.testing.assert_array_equal(Categories.coerce(np.array(rows, dtype=object)).codes, codes)
    frame = pytest.importorskip("pandas").DataFrame(rows, columns=["letter", "number"])
    np.testing.assert_array_equal(Categories.coerce(frame).codes, codes)
    np.testing.assert_array_equal(Table.coerce(frame).objects(("letter", "number"), Categories).codes, codes)
    named = frame.astype({"letter": "category"})
    np.testing.assert_array_equal(Table.coerce(named).objects(("letter", "number"), Categories).codes, codes)


MISSING = [None, float("nan"), np.nan, *((pandas.NA, pandas.NaT) if pandas else ())]


@pytest.mark.parametrize("missing", MISSING)
def test_missing_values_are_located(missing: object) -> None:
    with pytest.raises(InputError, match=r"row 1, column 0 is missing"):
        Categories.coerce(np.array([["a"], [missing]], dtype=object))
    with pytest.raises(InputError, match=r"row 1, column 'letter' is missing"):
        Table.coerce({"letter": ["a", missing]}).objects(("letter",), Categories)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("red", "got one str"),
        (["red", "blue"], r"got shape \(2,\)"),
        ([], r"got shape \(0,\)"),
        (np.empty((0, 2), dtype=object), "at least 1 row"),
        (np.empty((2, 0), dtype=object), "at least 1 row"),
        ([["a", "b"], ["c"]], "."),
        ([[b"a"]], "row 0, column 0 is of type bytes"),
        ([[{"a"}]], "row 0, column 0 is of type set"),
        (np.ma.masked_array([["a", "b"]], mask=[[False, True]]), "row 0, column 1 is masked"),
    ],
    ids=str,
)
def test_what_is_refused(raw: object, message: str) -> None:
    with pytest.raises((InputError, InputTypeError), match=message):
        Categories.coerce(raw)


def test_arrays_and_back() -> None:
    objects = Categories.coerce([["a", 1], ["b", 2]])
    again = Categories.from_arrays(objects.to_arrays())
    np.testing.assert_array_equal(again.codes, objects.codes)
    table = Table.coerce({"x": ["a", "b"], "y": [1, 2]})
    table.objects(("x", "y"), Categories)
    stored = Table.from_arrays(table.to_arrays())
    np.testing.assert_array_equal(stored.objects(("x", "y"), Categories).codes, objects.codes)


@pytest.mark.parametrize(
    "codes", [None, np.zeros(3, dtype=np.int64), np.zeros((2, 2)), np.zeros((0, 2), dtype=np.int64)]
)
def test_damaged_arrays_are_refused(codes: np.ndarray | None) -> None:
    with pytest.raises(ModelFileError):
        Categories.from_arrays({} if codes is None else {"codes": codes})


def test_objects_are_immutable_and_sliceable() -> None:
    objects = Categories.coerce([["a"], ["b"], ["c"]])
    with pytest.raises(ValueError, match="read-only"):
        objects.codes[0, 0] = 1
    assert len(objects.take(slice(1, 3))) == 2
    assert len(objects.take(np.array([2, 0, 0]))) == 3
    assert Categories.coerce(objects) is objects
    assert objects.n_columns == 1

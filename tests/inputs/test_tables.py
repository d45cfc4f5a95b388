"""Tables of pandas, polars, pyarrow and plain mappings."""

import numpy as np
import pytest

from mercer import kernels
from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.strings import Strings
from mercer.inputs.tables import Table
from mercer.inputs.vectors import Vectors

COLUMNS = {"text": ["GATT", "ATTA", "CC"], "a": [0.0, 1.0, 2.5], "b": [3, 1, 2]}
MIXED = kernels.on("text", kernels.Spectrum(2)) + kernels.on(["a", "b"], kernels.RBF(gamma=0.5))


FRAMES = [
    pytest.param(lambda: COLUMNS, id="mapping"),
    pytest.param(lambda: {name: np.array(values) for name, values in COLUMNS.items()}, id="arrays"),
    pytest.param(lambda: pytest.importorskip("pandas").DataFrame(COLUMNS), id="pandas"),
    pytest.param(lambda: pytest.importorskip("polars").DataFrame(COLUMNS), id="polars"),
    pytest.param(lambda: pytest.importorskip("pyarrow").table(COLUMNS), id="pyarrow"),
]


@pytest.mark.parametrize("make", FRAMES)
def test_every_kind_of_table_gives_the_same_kernel(make):
    frame = make()
    a, b = np.array(COLUMNS["a"]), np.array(COLUMNS["b"], dtype=float)
    far = np.subtract.outer(a, a) ** 2 + np.subtract.outer(b, b) ** 2
    counts = np.array([[3, 2, 0], [2, 3, 0], [0, 0, 1]])
    np.testing.assert_allclose(MIXED.fit(frame)(frame), counts + np.exp(-0.5 * far), atol=1e-12)


@pytest.mark.parametrize("make", FRAMES)
def test_parsed_columns(make):
    table = Table.coerce(make())
    assert len(table) == 3
    assert table.columns == ("text", "a", "b")
    assert table.shape == (3, 3)
    assert table.objects(("text",), Strings).tolist() == COLUMNS["text"]
    assert table.objects(("b", "a"), Vectors).values.tolist() == [[3, 0], [1, 1], [2, 2.5]]


def test_a_column_is_parsed_once():
    table = Table.coerce(COLUMNS)
    first = table.objects(("text",), Strings)
    assert table.objects(("text",), Strings) is first
    assert table[1:].objects(("text",), Strings).tolist() == COLUMNS["text"][1:]


@pytest.mark.parametrize("index", [slice(1, 3), np.array([2, 0]), np.array([True, False, True])])
def test_taking_rows(index):
    table = Table.coerce(COLUMNS)
    table.objects(("text",), Strings)
    wanted = np.array(COLUMNS["text"], dtype=object)[index].tolist()
    assert table[index].objects(("text",), Strings).tolist() == wanted
    assert len(table[index]) == len(wanted)
    assert table[index].objects(("a",), Vectors).values[:, 0].tolist() == np.array(COLUMNS["a"])[index].tolist()


@pytest.mark.parametrize(
    ("raw", "kind", "message"),
    [
        ({}, InputError, "0 columns"),
        ({"a": []}, InputError, "0 rows"),
        ({"a": [1.0], "b": [1.0, 2.0]}, InputError, r"the same length, got \{'a': 1, 'b': 2\}"),
        ({"a": "text"}, InputTypeError, "must be a list or an array, got str"),
        (np.zeros((2, 2)), InputTypeError, r"Expected a table .*got ndarray.*columns with names"),
        (["a", "b"], InputTypeError, "Expected a table"),
    ],
    ids=str,
)
def test_refusals(raw, kind, message):
    with pytest.raises(kind, match=message):
        Table.coerce(raw)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (kernels.on("txt", kernels.Spectrum(2)), "no column 'txt'. Did you mean 'text'. Columns: text, a, b"),
        (kernels.on("text", kernels.RBF()), "Column 'text': row 0 of 'text' holds 'GATT', which is not a number"),
        (kernels.on("a", kernels.Spectrum(2)), "Column 'a': .*item 0 is"),
        (kernels.on(["text", "a"], kernels.Spectrum(2)), "takes one column; add kernels.on"),
    ],
    ids=str,
)
def test_columns_that_do_not_fit_the_kernel(kernel, message):
    with pytest.raises(InputError, match=message):
        kernel.fit(COLUMNS)


def test_missing_numbers_are_located():
    with pytest.raises(InputError, match=r"Columns 'a', 'b': .*NaN.*row 1, column 0"):
        MIXED.fit(COLUMNS | {"a": [0.0, np.nan, 1.0]})


def test_repeated_names():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="unique"):
        Table.coerce(pandas.DataFrame([[1, 2]], columns=["a", "a"]))


def test_storage_keeps_what_kernels_asked_for():
    table = Table.coerce(COLUMNS)
    MIXED.fit(table)
    again = Table.from_arrays(table.to_arrays())
    assert len(again) == 3
    fitted = MIXED.fit(table)
    assert np.array_equal(fitted(table), fitted(again))


def test_stored_arrays_that_do_not_fit():
    table = Table.coerce(COLUMNS)
    MIXED.fit(table)
    arrays = dict(table.to_arrays())
    with pytest.raises(ModelFileError, match="differ in length"):
        Table.from_arrays(arrays | {"length": np.array([7])})
    with pytest.raises(ModelFileError, match="incomplete"):
        Table.from_arrays({name: array for name, array in arrays.items() if name != "length"})


def test_repeated_names_in_pyarrow():
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="unique"):
        Table.coerce(pyarrow.Table.from_arrays([[1], [2]], names=["a", "a"]))

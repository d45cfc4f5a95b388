"""Kernels on columns."""

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.kernels import RBF, Linear, OnColumns, Spectrum, normalise, on

ROWS = {"text": ["GATT", "ATTA", "CC"], "a": [0.0, 1.0, 2.5], "b": [3.0, 1.0, 2.0]}
A = np.array(ROWS["a"])[:, None]
B = np.array(ROWS["b"])[:, None]


def test_a_name_or_several():
    assert on("a", Linear()) == OnColumns(("a",), Linear())
    assert on(["a", "b"], Linear()) == on(("a", "b"), Linear()) == OnColumns(("a", "b"), Linear())


def test_the_order_of_columns_is_that_of_features():
    assert np.array_equal(on(["b", "a"], Linear()).fit(ROWS)(ROWS), A @ A.T + B @ B.T)


def test_sums_and_products_mix_kinds():
    text = Spectrum(2).fit(ROWS["text"])(ROWS["text"])
    kernel = on("text", Spectrum(2)) * on("a", Linear()) + 2.0 * on("b", Linear())
    np.testing.assert_allclose(kernel.fit(ROWS)(ROWS), text * (A @ A.T) + 2 * (B @ B.T))


def test_new_rows_need_only_the_columns_that_are_used():
    fitted = on("a", RBF(gamma=1.0)).fit(ROWS)
    assert fitted({"a": [0.0]}, ROWS)[0, 0] == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: on([], Linear()), "non-empty list of column names"),
        (lambda: on([1], Linear()), "a column name or"),
        (lambda: on("a", "linear"), "'kernel' parameter of on must be a kernel"),
        (lambda: on("a", on("b", Linear())), "not on a table"),
    ],
)
def test_parameters(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_kernels_on_different_kinds_do_not_add_up_without_a_table():
    with pytest.raises(InputError, match=r"kernels on strings and vectors. .*kernels.on\(column, kernel\)"):
        Spectrum() + Linear()


def test_claims_are_those_of_the_kernel_inside():
    assert on("a", RBF(gamma="scale")).data_dependent
    assert not on("a", RBF(gamma=1.0)).data_dependent
    assert str(on(["a", "b"], normalise(Linear()))) == "on(['a', 'b'], normalise(linear()))"

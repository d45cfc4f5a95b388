"""The matching kernel on rows of categories and on columns of tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import kernels
from mercer.errors import InputError
from tests.oracles.vectors import gram, matching

category = st.one_of(
    st.sampled_from(["red", "blue", "1", ""]), st.integers(-2, 2), st.sampled_from([0.5, 1.0]), st.booleans()
)
rows = st.lists(st.lists(category, min_size=3, max_size=3), min_size=1, max_size=6)


@settings(max_examples=60)
@given(rows, rows)
def test_agrees_with_the_formula(left: list, right: list) -> None:
    got = kernels.Categorical().fit(right)(left, right)
    np.testing.assert_allclose(got, gram(matching, left, right), rtol=1e-12)


def test_many_rows_in_both_precisions() -> None:
    X = np.random.default_rng(0).integers(0, 3, size=(601, 5))
    fitted = kernels.Categorical().fit(X)
    wanted = (X[:, None] == X[None]).mean(axis=2)
    for dtype in (np.float32, np.float64):
        kept = fitted.features(fitted.coerce(X), dtype)
        out = np.empty((601, 601), dtype=dtype)
        fitted.tile(kept, kept, out)
        np.testing.assert_allclose(out, wanted, rtol=1e-6)
    assert np.linalg.eigvalsh(fitted(X[:80]))[0] > -1e-10
    assert (fitted.diagonal(kept) == 1).all()


@pytest.mark.parametrize("frame", ["pandas", "polars", "dict"])
def test_on_several_columns_of_a_table(frame: str) -> None:
    make = dict if frame == "dict" else pytest.importorskip(frame).DataFrame
    table = make({"colour": ["red", "red", "blue"], "size": [1, 2, 2], "mass": [0.5, 0.5, 1.5]})
    matches = kernels.on(["colour", "size"], kernels.Categorical())
    wanted = np.array([[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]])
    np.testing.assert_allclose(matches.fit(table)(table), wanted)
    one = kernels.on("colour", kernels.Categorical()) * kernels.on("mass", kernels.RBF(gamma=1.0))
    np.testing.assert_allclose(one.fit(table)(table), [[1, 1, 0], [1, 1, 0], [0, 0, 1]], atol=1e-12)


def test_other_kinds_still_take_one_column() -> None:
    with pytest.raises(InputError, match=r"Columns 'a', 'b': a kernel on strings takes one column"):
        kernels.on(["a", "b"], kernels.Spectrum(2)).fit({"a": ["x"], "b": ["y"]})


def test_rows_of_other_widths_are_refused_in_words() -> None:
    fitted = kernels.Categorical().fit([["a", "b"]])
    with pytest.raises(InputError, match="rows of 1 categories with rows of 2"):
        fitted([["a"]], [["a", "b"]])

"""Every kernel on vectors against its oracle: dense, sparse, float32, in tiles of odd sizes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer import kernels
from mercer.inputs import vectors as inputs
from mercer.kernels.vectors import features
from tests.kernels.vectors.cases import CASES, Case
from tests.oracles.vectors import gram

# Lengths of intervals near zero, as differences of numbers that are not.
NEED_DOUBLE = {f"{name} {how}" for name in ("min", "union complement") for how in ("product", "sum")}

by_name = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def sample(case: Case, rows: int, seed: int = 0) -> np.ndarray:
    """Rows with zeros, repeats and near repeats among them."""
    X = np.random.default_rng(seed).uniform(case.low, case.high, size=(rows, 3))
    X[::3, 1] = 0.0
    if rows > 4:
        X[4] = X[0]
        X[3] = np.clip(X[0] + 1e-9, case.low, case.high)
    return X


def unit(kernel: kernels.Kernel, K: np.ndarray, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """sqrt(k(x, x) k(z, z)), the unit of tolerances; an indefinite kernel has none but the values themselves."""
    if not kernel.psd:
        return np.maximum(np.abs(K), 1e-2)
    fitted = kernel.fit(X)
    own = [np.sqrt(fitted.diagonal(fitted.features(fitted.coerce(rows)))) for rows in (X, Z)]
    return np.outer(*own)


@by_name
@settings(max_examples=25)
@given(data=st.data())
def test_agrees_with_the_formula(case: Case, data: st.DataObject) -> None:
    numbers = st.floats(case.low, case.high).map(lambda value: 0.0 if abs(value) < 1e-6 and case.low <= 0 else value)
    X = data.draw(arrays(np.float64, (3, 3), elements=numbers))
    Z = data.draw(arrays(np.float64, (2, 3), elements=numbers))
    wanted = gram(case.pair, X.tolist(), Z.tolist())
    got = case.kernel.fit(Z)(X, Z)
    np.testing.assert_allclose(got, wanted, atol=1e-9 * max(1.0, np.abs(wanted).max()), rtol=1e-9)


@by_name
def test_the_diagonal_is_the_value_between_an_object_and_itself(case: Case) -> None:
    X = sample(case, 9)
    fitted = case.kernel.fit(X)
    wanted = [case.pair(x, x) for x in X.tolist()]
    np.testing.assert_allclose(fitted.diagonal(fitted.features(fitted.coerce(X))), wanted, rtol=1e-9, atol=1e-12)


@by_name
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 513), (130, 7)])
def test_tiles_of_any_size(case: Case, rows: int, columns: int) -> None:
    X, Z = sample(case, rows), sample(case, columns, seed=1)
    wanted = gram(case.pair, X.tolist(), Z.tolist())
    np.testing.assert_allclose(case.kernel.fit(Z)(X, Z), wanted, atol=1e-9, rtol=1e-9)


@by_name
def test_sparse_rows_give_the_same(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    X, Z = sample(case, 9), sample(case, 7, seed=1)
    wanted = gram(case.pair, X.tolist(), Z.tolist())
    for widest in (4096, 2):  # expanded at once, and as wide rows are
        for module in (features, inputs):
            monkeypatch.setattr(module, "EXPANDED_COLUMNS", widest)
        sparse = case.kernel.fit(sp.csr_array(Z))
        np.testing.assert_allclose(sparse(sp.csr_array(X), sp.csr_array(Z)), wanted, atol=1e-9, rtol=1e-9)
        np.testing.assert_allclose(sparse(X, sp.csr_array(Z)), wanted, atol=1e-9, rtol=1e-9)
        np.testing.assert_allclose(case.kernel.fit(Z)(sp.csr_array(X), Z), wanted, atol=1e-9, rtol=1e-9)


@by_name
@pytest.mark.parametrize("sparse", [False, True])
def test_float32_tiles_hold_five_digits_or_say_that_they_do_not(case: Case, sparse: bool) -> None:
    X = sample(case, 40)
    objects = sp.csr_array(X) if sparse else X
    fitted = case.kernel.fit(objects)
    kept = fitted.features(fitted.coerce(objects), np.float32)
    if not case.kernel.single_precision(kept, fitted.state):
        assert case.name in NEED_DOUBLE
        return
    out = np.empty((40, 40), dtype=np.float32)
    fitted.tile(*fitted.align(kept, kept), out)
    wanted = gram(case.pair, X.tolist(), X.tolist())
    assert (np.abs(out - wanted) <= 1e-5 * unit(case.kernel, wanted, X, X) + 1e-30).all()


@by_name
def test_gram_matrices_are_positive_semi_definite(case: Case) -> None:
    X = sample(case, 40)
    eigenvalues = np.linalg.eigvalsh(case.kernel.fit(X)(X))
    if case.kernel.psd:
        assert eigenvalues[0] >= -1e-9 * eigenvalues[-1]
    else:
        assert case.name == "sigmoid"


@by_name
def test_part_of_a_matrix_is_the_matrix_of_the_parts(case: Case) -> None:
    X = sample(case, 20)
    fitted = case.kernel.fit(X)
    whole, rows, columns = fitted(X, X), np.array([3, 0, 19]), np.arange(5, 18)
    np.testing.assert_allclose(fitted(X[rows], X[columns]), whole[np.ix_(rows, columns)], rtol=1e-9, atol=1e-12)


@by_name
def test_other_widths_are_refused_in_words(case: Case) -> None:
    X = sample(case, 5)
    wider = np.hstack([X, np.abs(X[:, :1])]).clip(case.low, case.high)
    fitted = case.kernel.fit(X)
    with pytest.raises(ValueError, match=r"(4 features with vectors of 3|3 features with vectors of 4)"):
        fitted(wider, X)

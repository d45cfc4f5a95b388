"""Feature maps written out: products of rows are the kernel, names say which product of columns each feature is."""

from math import comb

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import kernels
from mercer.errors import InputError, MemoryBudgetError
from tests.oracles.vectors import monomial_coefficients

X = np.random.default_rng(0).normal(size=(7, 4)) * (np.random.default_rng(1).random((7, 4)) > 0.3)

KERNELS = [
    kernels.AllSubsets(),
    *(kernels.ANOVA(degree=d) for d in range(5)),
    kernels.Polynomial(degree=3, gamma=0.5, coef0=2.0),
    kernels.Polynomial(degree=2, coef0=0.0),
    kernels.Polynomial(degree=0, coef0=0.0),
    kernels.Polynomial(degree=1, gamma="scale"),
    kernels.Polynomial(degree=4, gamma="median", coef0=0.3),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_products_of_rows_are_the_kernel(kernel: kernels.AllSubsets, form: type) -> None:
    features = kernel.feature_matrix(form(X))
    assert sp.issparse(features.matrix) == (form is sp.csr_array)
    assert features.shape == (len(X), len(features.names))
    assert len(set(features.names)) == len(features.names)
    products = features.matrix @ features.matrix.T
    products = products.toarray() if sp.issparse(products) else products
    np.testing.assert_allclose(products, kernel.fit(form(X))(form(X)), rtol=1e-9, atol=1e-9)


@settings(max_examples=30)
@given(
    n=st.integers(1, 3),
    degree=st.integers(0, 4),
    gamma=st.sampled_from([0.5, 1.0, 3.0]),
    coef0=st.sampled_from([0.0, 0.25, 2.0]),
)
def test_weights_are_the_coefficients_of_the_expansion(n: int, degree: int, gamma: float, coef0: float) -> None:
    features = kernels.Polynomial(degree, gamma, coef0).feature_matrix(np.ones((1, n)))
    wanted = monomial_coefficients(n, degree, gamma, coef0)
    named = {
        " ".join(f"x{k}" if m.count(k) == 1 else f"x{k}^{m.count(k)}" for k in sorted(set(m))) or "1": value
        for m, value in wanted.items()
    }
    assert set(features.names) == set(named)
    got = dict(zip(features.names, (features.matrix[0] ** 2).tolist(), strict=True))
    assert got == pytest.approx(named)


def test_names_and_numbers_of_features() -> None:
    assert len(kernels.Polynomial(degree=2).feature_matrix([[1.0, 2.0, 3.0]]).names) == 10
    assert len(kernels.Polynomial(degree=2, coef0=0.0).feature_matrix([[1.0, 2.0, 3.0]]).names) == comb(4, 2)
    pairs = kernels.ANOVA(degree=2).feature_matrix([[2.0, 3.0, 5.0]], names=["mass", "age", "dose"])
    assert pairs.names == ("mass age", "mass dose", "age dose")
    assert pairs.matrix.tolist() == [[6.0, 10.0, 15.0]]
    squares = kernels.Polynomial(degree=2, coef0=0.0).feature_matrix([[2.0, 3.0]], names=["a", "b"])
    assert squares.names == ("a^2", "a b", "b^2")
    np.testing.assert_allclose(squares.matrix, [[4.0, 6.0 * np.sqrt(2), 9.0]])


def test_new_objects_are_mapped_with_what_was_learnt() -> None:
    kernel = kernels.Polynomial(degree=2, gamma="scale")
    fitted = kernel.fit(X)
    new = 3.0 * X[:2]
    left = kernel.feature_matrix(new, state=fitted.state).matrix
    right = kernel.feature_matrix(X, state=fitted.state).matrix
    np.testing.assert_allclose(left @ right.T, fitted(new, X), rtol=1e-9)


@pytest.mark.parametrize(
    "kernel", [kernels.AllSubsets(), kernels.ANOVA(degree=20), kernels.Polynomial(degree=9)], ids=str
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_too_many_features_are_refused_before_any_is_made(kernel: kernels.AllSubsets, form: type) -> None:
    with pytest.raises(
        MemoryBudgetError, match=r"has [\d,]+ features; 5 rows of them need .* GiB.*Use the kernel itself"
    ):
        kernel.feature_matrix(form(np.ones((5, 40))))


def test_names_must_be_as_many_as_columns() -> None:
    with pytest.raises(InputError, match="2 names for 3 columns"):
        kernels.ANOVA().feature_matrix([[1.0, 2.0, 3.0]], names=["a", "b"])

"""Sums, products and multiples of kernels, in trees of any shape."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import KernelError, ParameterError
from mercer.gram.make import gram_of
from mercer.kernels import RBF, Linear, Polynomial, Product, Scaled, Sum, normalise

X = np.random.default_rng(0).normal(size=(12, 3))
x, z = [1.0, 2.0], [3.0, -1.0]
LEAVES = {
    Linear(): X @ X.T,
    Polynomial(degree=2): (X @ X.T + 1) ** 2,
    RBF(gamma=0.1): np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2)),
    RBF(gamma=0.7): np.exp(-0.7 * ((X[:, None] - X[None]) ** 2).sum(axis=2)),
}


def combined(children):
    def with_matrix(kernel, matrix):
        return kernel, matrix

    pairs = st.tuples(children, children)
    return (
        pairs.map(lambda two: with_matrix(two[0][0] + two[1][0], two[0][1] + two[1][1]))
        | pairs.map(lambda two: with_matrix(two[0][0] * two[1][0], two[0][1] * two[1][1]))
        | st.tuples(st.floats(0.1, 3), children).map(lambda two: with_matrix(two[0] * two[1][0], two[0] * two[1][1]))
    )


trees = st.recursive(st.sampled_from(sorted(LEAVES.items(), key=lambda item: repr(item[0]))), combined, max_leaves=8)


@given(trees)
def test_any_tree_against_its_matrices(tree):
    kernel, matrix = tree
    scale = max(1.0, np.abs(matrix).max())
    fitted = kernel.fit(X)
    np.testing.assert_allclose(fitted(X), matrix, atol=1e-9 * scale)
    np.testing.assert_allclose(gram_of(fitted, X[:5], X).dense(), matrix[:5], atol=1e-9 * scale)
    assert kernel.with_params(**kernel.get_params()) == kernel
    assert kernel.psd


@given(trees, trees, trees)
def test_precedence(a, b, c):
    for kernel, matrix in (
        (a[0] + b[0] * c[0], a[1] + b[1] * c[1]),
        ((a[0] + b[0]) * c[0], (a[1] + b[1]) * c[1]),
        (a[0] * b[0] + c[0], a[1] * b[1] + c[1]),
    ):
        np.testing.assert_allclose(kernel.fit(X)(X), matrix, atol=1e-9 * max(1.0, np.abs(matrix).max()))


def test_flattening_joins_what_is_of_one_class_only():
    a, b, c = Linear(), RBF(gamma=1.0), Polynomial()
    assert (a + b) + c == a + (b + c) == Sum((a, b, c))
    assert (a * b) * c == Product((a, b, c))
    assert a + b * c == Sum((a, Product((b, c))))
    assert (a + b) * c == Product((Sum((a, b)), c))


def value(kernel):
    return float(kernel.fit([x])([x], [z])[0, 0])


def test_worked_examples():
    k1, k2 = Linear(), Polynomial(degree=2, coef0=1.0)
    assert value(k1 + k2) == 5
    assert value(k1 * k2) == 4
    assert value(3 * k1) == value(k1 * 3.0) == 3
    assert value(normalise(k2)) == pytest.approx(0.0606060606, abs=1e-9)


def test_one_measure_is_computed_once(monkeypatch):
    from mercer.kernels.vectors.distance import SquaredEuclidean

    calls = []
    tile = SquaredEuclidean.tile
    monkeypatch.setattr(SquaredEuclidean, "tile", lambda self, *rest: (calls.append(1), tile(self, *rest))[1])
    kernel = RBF(gamma=0.1) + RBF(gamma=0.7) + 2.0 * RBF(gamma=0.3)
    kernel.fit(X)(X)
    assert len(calls) == 1


@pytest.mark.parametrize("factor", [0, -1.0, float("nan"), float("inf")])
def test_factors_that_are_no_kernel(factor):
    with pytest.raises(ParameterError, match="'factor' parameter of Scaled"):
        factor * Linear()


@pytest.mark.parametrize("bad", [lambda: Linear() + "1", lambda: Linear() * "2", lambda: "2" * Linear()])
def test_other_operands(bad):
    with pytest.raises(TypeError):
        bad()


@pytest.mark.parametrize("cls", [Sum, Product])
@pytest.mark.parametrize("terms", [(), (Linear(),), (Linear(), 1), [Linear(), Linear()]])
def test_terms(cls, terms):
    with pytest.raises(ParameterError, match="a tuple of at least two kernels"):
        cls(terms)


def test_overflow_in_a_product_is_told():
    kernel = Polynomial(degree=90) * Polynomial(degree=90)
    with pytest.raises(KernelError, match="overflow in kernel"):
        kernel.fit(X * 100)(X * 100)


def test_paths_of_parameters():
    kernel = Linear() + 0.5 * RBF(gamma=0.1)
    assert kernel.get_params()["1__kernel__gamma"] == 0.1
    assert kernel.with_params(**{"1__kernel__gamma": 2.0, "1__factor": 3.0}) == Linear() + 3.0 * RBF(gamma=2.0)
    assert kernel.with_params(**{"0": Polynomial()}) == Polynomial() + 0.5 * RBF(gamma=0.1)
    assert isinstance(kernel.get_params()["1"], Scaled)

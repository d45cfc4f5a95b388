"""Linear, polynomial and Gaussian kernels: worked examples, and agreement with scikit-learn."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import pairwise
from sklearn.svm import SVC as SklearnSVC

from mercer.errors import KernelError, ParameterError
from mercer.gram.make import gram_of
from mercer.kernels import RBF, Linear, Polynomial
from mercer.kernels.loops import epilogues

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(30, 5))
Z = RANDOM.normal(size=(7, 5))
FORMS = [np.array, sp.csr_array, lambda x: x.astype(np.float32).astype(np.float64)]

matrices = arrays(np.float64, st.tuples(st.integers(1, 6), st.just(3)), elements=st.floats(-50, 50, width=32))


def value(kernel, x, z):
    return float(kernel.fit([x])([x], [z])[0, 0])


def test_linear_worked_example():
    assert value(Linear(), (1.0, 2.0), (3.0, -1.0)) == 1.0


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        (Polynomial(degree=3, coef0=1.0), 8.0),
        (Polynomial(degree=2, coef0=0.0), 1.0),
        (Polynomial(degree=0), 1.0),
        (Polynomial(degree=1, gamma=2.0, coef0=0.5), 2.5),
        (2.0 * Polynomial(degree=2, coef0=0.0) + 0.5 * Polynomial(degree=3, coef0=0.0) + Polynomial(degree=0), 3.5),
    ],
    ids=str,
)
def test_polynomial_worked_examples(kernel, wanted):
    assert value(kernel, (1.0, 2.0), (3.0, -1.0)) == pytest.approx(wanted, abs=1e-12)


def test_the_number_of_monomials_is_the_rank():
    points = RANDOM.normal(size=(40, 3))
    gram = Polynomial(degree=2, coef0=1.0).fit(points)(points)
    assert np.linalg.matrix_rank(gram) == math.comb(3 + 2, 2) == 10


@pytest.mark.parametrize(
    ("x", "z", "sigma", "wanted"),
    [
        ([0.0], [1.0], 1.0, 0.6065306597),
        ([1.0], [3.0], 1.0, 0.1353352832),
        ([0.0], [3.0], 1.0, 0.0111089965),
        ([1.0, 2.0, 3.0], [2.0, 0.5, -1.0], 2.0, 0.0901527342),
    ],
)
def test_gaussian_worked_examples(x, z, sigma, wanted):
    assert value(RBF(gamma=1 / (2 * sigma**2)), x, z) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse", "rounded"])
@pytest.mark.parametrize("new", [X, Z], ids=["training", "new"])
def test_against_scikit_learn(form, new):
    rows, others = form(new), form(X)
    for kernel, wanted in (
        (Linear(), pairwise.linear_kernel(rows, others)),
        (Polynomial(degree=3, gamma=0.2, coef0=1.5), pairwise.polynomial_kernel(rows, others, 3, 0.2, 1.5)),
        (Polynomial(degree=7, gamma=0.2, coef0=0.0), pairwise.polynomial_kernel(rows, others, 7, 0.2, 0.0)),
        (RBF(gamma=0.3), pairwise.rbf_kernel(rows, others, 0.3)),
    ):
        got = kernel.fit(others)(rows, others)
        np.testing.assert_allclose(got, wanted, atol=1e-9 * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("form", [np.array, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("rule", ["scale", "auto"])
def test_gamma_rules_are_those_of_scikit_learn(form, rule):
    data = form(np.where(X > 0, X, 0.0) * 3 + 1.0)
    theirs = SklearnSVC(gamma=rule).fit(data, np.arange(30) % 2)._gamma
    for kernel in (RBF(gamma=rule), Polynomial(gamma=rule)):
        assert kernel.fit(data).state.number("gamma") == pytest.approx(theirs, rel=1e-12)


def test_gamma_of_constant_data_is_one():
    for rule in ("scale", "median"):
        assert RBF(gamma=rule).fit(np.ones((4, 3))).state.number("gamma") == 1.0


def test_gamma_of_the_median():
    far = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    wanted = 1 / np.median(far[np.triu_indices(30, 1)])
    assert RBF(gamma="median").fit(X).state.number("gamma") == pytest.approx(wanted, rel=1e-9)
    over = RBF(gamma="median", over=Linear()).fit(X).state.number("gamma")
    assert over == pytest.approx(wanted, rel=1e-9)


def test_gamma_when_most_pairs_are_equal():
    data = np.zeros((9, 1))
    data[0] = 3.0
    assert RBF(gamma="median").fit(data).state.number("gamma") == pytest.approx(1 / (9 * 8 / 36))


def test_over_another_kernel():
    base = Polynomial(degree=2)
    k = base.fit(X)(X)
    far = np.diagonal(k)[:, None] + np.diagonal(k)[None] - 2 * k
    np.testing.assert_allclose(RBF(gamma=0.01, over=base).fit(X)(X), np.exp(-0.01 * far), atol=1e-9)
    np.testing.assert_allclose(RBF(gamma=0.5, over=Linear()).fit(X)(X), RBF(gamma=0.5).fit(X)(X), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(gamma=0), r"'gamma' parameter of RBF must be a float in \(0, inf\). Got 0 instead"),
        (lambda: RBF(gamma=-1.0), "Got -1.0"),
        (lambda: RBF(gamma=math.inf), "Got inf"),
        (lambda: RBF(gamma=math.nan), "Got nan"),
        (lambda: RBF(gamma="scal"), "must be one of 'scale', 'auto', 'median'. Got 'scal'"),
        (lambda: RBF(gamma=None), "'gamma' parameter of RBF"),
        (lambda: RBF(gamma=True), "'gamma' parameter of RBF"),
        (lambda: RBF(over="linear"), "'over' parameter of RBF must be a kernel or None"),
        (lambda: Polynomial(degree=1.5), "'degree' parameter of Polynomial must be an int.*fractional degree"),
        (lambda: Polynomial(degree=-1), "'degree'"),
        (lambda: Polynomial(degree=2**70), "'degree'.*64 bits"),
        (lambda: Polynomial(coef0=-1.0), "'coef0' parameter of Polynomial.*negative coef0 does not give a kernel"),
    ],
)
def test_parameters_out_of_range(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_auto_over_another_kernel_has_no_meaning():
    with pytest.raises(ParameterError, match="'scale' or 'median' over another kernel"):
        RBF(gamma="auto", over=Linear()).fit(X)


def test_overflowing_powers_are_answered_in_words():
    fitted = Polynomial(degree=200).fit(X * 1e3)
    with pytest.raises(KernelError, match=r"overflow in kernel .*object 0.*Rescale the data, lower the degree"):
        fitted(X * 1e3)


def test_far_from_the_origin_float32_keeps_its_digits():
    far = X + 1e4
    wanted = RBF(gamma=0.3).fit(X)(X)
    got = gram_of(RBF(gamma=0.3).fit(far), far, dtype=np.float32).dense()
    np.testing.assert_allclose(got, wanted, atol=1e-5)


def test_new_rows_of_another_width():
    with pytest.raises(ValueError, match=r"mismatch|dimension|features"):
        Linear().fit(X)(Z[:, :4], X)


@given(matrices)
def test_gaussian_values_are_between_zero_and_one(rows):
    got = RBF(gamma=0.7).fit(rows)(rows)
    assert (got >= 0).all()
    assert (got <= 1).all()


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-14), (np.float32, 3e-7)])
def test_exponential_against_numpy(dtype, tolerance):
    values = np.concatenate([np.linspace(0, 80, 4001), [0.0, 1e-30, 1e-8]]).astype(dtype).reshape(1, -1)
    got = values.copy()
    epilogues.exp_of_negative(got, 1.0)
    wanted = np.exp(-values.astype(np.float64))
    assert (np.abs(got - wanted) <= tolerance * wanted).all()
    assert got[0, -3] == 1.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exponential_of_the_very_far(dtype):
    tile = np.array([[1e3, 1e30, 3e38]], dtype=dtype)
    epilogues.exp_of_negative(tile, 1e10)
    assert (tile >= 0).all()
    assert (tile < 1e-37).all()


@given(st.integers(0, 12), st.floats(-3, 3), st.floats(0.1, 2), st.floats(0, 2))
def test_power_against_python(degree, x, gain, offset):
    tile = np.array([[x]])
    epilogues.power(tile, gain, offset, degree)
    assert tile[0, 0] == pytest.approx((gain * x + offset) ** degree, rel=1e-12, abs=1e-12)

"""Vectorised functions on tiles, against NumPy in longer precision."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels.loops import epilogues

PRECISIONS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def values(low: float, high: float, dtype: type) -> np.ndarray:
    spread = np.random.default_rng(0).uniform(low, high, size=(33, 257))
    small = np.geomspace(1e-30, min(high, 1.0), 257)
    return np.vstack([spread, small, np.zeros(257)]).astype(dtype)


def check(
    run: Callable[[np.ndarray], None], wanted: Callable[[np.ndarray], np.ndarray], tile: np.ndarray, units: float
):
    got = tile.copy()
    run(got)
    exact = wanted(tile.astype(np.longdouble))
    assert got.dtype == tile.dtype
    assert (np.abs(got - exact) <= units * np.finfo(tile.dtype).eps * np.abs(exact)).all()


@PRECISIONS
def test_exp(dtype: type) -> None:
    check(lambda t: epilogues.exp(t, 2.0), lambda x: np.exp(2 * x), values(-40, 40, dtype), 2)
    check(lambda t: epilogues.exp_of_negative(t, 0.5), lambda x: np.exp(-x / 2), values(0, 150, dtype), 2)


@PRECISIONS
def test_exp_beyond_the_range_of_floats(dtype: type) -> None:
    tile = np.array([[1e30, -1e30, 0.0]], dtype=dtype)
    epilogues.exp(tile, 1.0)
    assert tile[0, 0] == np.inf
    assert 0 <= tile[0, 1] < 1e-37
    assert tile[0, 2] == 1


@PRECISIONS
def test_tanh(dtype: type) -> None:
    for sign in (1, -1):
        check(lambda t: epilogues.tanh(t, 1.0, 0.0), np.tanh, sign * values(0, 12, dtype), 4)
    check(lambda t: epilogues.tanh(t, 0.5, 1.0), lambda x: np.tanh(x / 2 + 1), values(0, 12, dtype), 4)


@PRECISIONS
@pytest.mark.parametrize("order", [0, 1, 2])
def test_matern(dtype: type, order: int) -> None:
    forms = [lambda x: np.exp(-x), lambda x: (1 + x) * np.exp(-x), lambda x: (1 + x + x * x / 3) * np.exp(-x)]
    check(lambda t: epilogues.matern(t, 1.0, order), forms[order], values(0, 50, dtype), 4)


@PRECISIONS
@pytest.mark.parametrize("exponent", [1.0, 3.0, 8.0, 0.5, 2.25])
def test_rational(dtype: type, exponent: float) -> None:
    check(lambda t: epilogues.rational(t, 1.0, exponent), lambda x: (1 + x) ** -exponent, values(0, 1e3, dtype), 24)


def test_rational_with_a_large_exponent_is_the_exponential() -> None:
    tile = values(0, 3, np.float64)
    got = tile.copy()
    epilogues.rational(got, 1e-12, 1e12)
    np.testing.assert_allclose(got, np.exp(-tile), atol=1e-9)


@PRECISIONS
@settings(max_examples=30)
@given(degree=st.integers(0, 12), gain=st.floats(0.1, 2.0), offset=st.floats(0.0, 2.0))
def test_powers(dtype: type, degree: int, gain: float, offset: float) -> None:
    tile = values(-1, 1, dtype)
    got = tile.copy()
    epilogues.power(got, gain, offset, degree)
    wanted = (dtype(gain) * tile + dtype(offset)).astype(np.float64) ** degree
    np.testing.assert_allclose(got, wanted, rtol=40 * np.finfo(dtype).eps, atol=40 * np.finfo(dtype).eps)

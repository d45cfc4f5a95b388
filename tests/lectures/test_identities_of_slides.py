"""The identities that the lectures on kernel methods state or print."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import SVC
from mercer.kernels import Linear, Polynomial, Spectrum

coordinates = st.floats(-5, 5)
plane = st.tuples(coordinates, coordinates)


def kernel_value(kernel, x, z):
    return float(kernel.fit([x])([x], [z])[0, 0])


@given(plane, plane)
def test_square_of_the_dot_product(x, z):
    """(x.z)^2 is the dot product of (x1^2, x2^2, sqrt(2) x1 x2)."""

    def phi(v):
        return np.array([v[0] ** 2, v[1] ** 2, math.sqrt(2) * v[0] * v[1]])

    got = kernel_value(Polynomial(degree=2, coef0=0.0), x, z)
    assert got == pytest.approx(phi(x) @ phi(z), abs=1e-9)
    assert kernel_value(Linear() * Linear(), x, z) == pytest.approx(got, abs=1e-9)


@given(plane, plane)
def test_square_of_one_plus_the_dot_product(x, z):
    """(1 + x.z)^2 is the dot product of (1, x1^2, x2^2, sqrt(2) x1, sqrt(2) x2, sqrt(2) x1 x2)."""

    def phi(v):
        root = math.sqrt(2)
        return np.array([1, v[0] ** 2, v[1] ** 2, root * v[0], root * v[1], root * v[0] * v[1]])

    assert kernel_value(Polynomial(degree=2, coef0=1.0), x, z) == pytest.approx(phi(x) @ phi(z), abs=1e-9)


@given(coordinates, coordinates, st.floats(0, 5))
def test_square_of_a_product_plus_a_constant(u, v, c):
    """(u v + c)^2 is the dot product of (u^2, sqrt(2 c) u, c)."""

    def phi(t):
        return np.array([t**2, math.sqrt(2 * c) * t, c])

    assert kernel_value(Polynomial(degree=2, coef0=c), [u], [v]) == pytest.approx(phi(u) @ phi(v), abs=1e-9)


def test_statistics_and_computation_share_two_substrings_of_length_three():
    assert kernel_value(Spectrum(p=3), "statistics", "computation") == 2.0


class TestExclusiveOr:
    """The features e^|x - w|^2 around (1, 1) and (0, 0), as printed: with a plus sign in the exponent."""

    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([-1, 1, 1, -1])

    @property
    def features(self):
        centres = np.array([[1.0, 1.0], [0.0, 0.0]])
        return np.exp(((self.X[:, None] - centres[None]) ** 2).sum(axis=2))

    def test_the_printed_table(self):
        e = math.e
        np.testing.assert_allclose(self.features, [(e**2, 1), (e, e), (e, e), (1, e**2)], rtol=1e-14)

    def test_the_features_separate_what_the_inputs_do_not(self):
        plain = SVC(kernel="linear", C=1e3).fit(self.X, self.y)
        assert plain.score(self.X, self.y) < 1.0
        mapped = SVC(kernel="linear", C=1e3).fit(self.features, self.y)
        assert mapped.score(self.features, self.y) == 1.0
        assert (self.y * mapped.decision_function(self.features) >= 1 - 1e-2).all()

    @pytest.mark.parametrize("kernel", ["rbf", "poly"])
    def test_kernels_separate_it_without_the_features(self, kernel):
        model = SVC(kernel=kernel, gamma=1.0, coef0=1.0, degree=2, C=1e3).fit(self.X, self.y)
        assert model.score(self.X, self.y) == 1.0

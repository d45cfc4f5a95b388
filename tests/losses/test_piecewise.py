"""Losses that come from their dual are what their formulas say."""

import numpy as np
import pytest

from mercer.errors import ParameterError
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.losses.huber import Huber
from mercer.losses.perceptron import PerceptronLoss
from mercer.losses.quantile import Quantile
from mercer.losses.squared import Squared
from mercer.losses.squared_epsilon import SquaredEpsilonInsensitive
from mercer.losses.squared_hinge import SquaredHinge


def nothing(y, f):
    return 0.0 * f


FORMULAS = [
    # the loss, its value, its slope and its curvature
    (Hinge(), lambda y, f: np.maximum(0, 1 - y * f), lambda y, f: np.where(y * f < 1, -y, 0), nothing),
    (PerceptronLoss(), lambda y, f: np.maximum(0, -y * f), lambda y, f: np.where(y * f < 0, -y, 0), nothing),
    (
        SquaredHinge(),
        lambda y, f: np.maximum(0, 1 - y * f) ** 2,
        lambda y, f: -2 * y * np.maximum(0, 1 - y * f),
        lambda y, f: 2.0 * (y * f < 1),
    ),
    (
        EpsilonInsensitive(0.3),
        lambda y, f: np.maximum(0, np.abs(y - f) - 0.3),
        lambda y, f: np.sign(f - y) * (np.abs(f - y) > 0.3),
        nothing,
    ),
    (
        SquaredEpsilonInsensitive(0.3),
        lambda y, f: np.maximum(0, np.abs(y - f) - 0.3) ** 2,
        lambda y, f: 2 * np.sign(f - y) * np.maximum(0, np.abs(f - y) - 0.3),
        lambda y, f: 2.0 * (np.abs(f - y) > 0.3),
    ),
    (
        Quantile(0.8),
        lambda y, f: np.maximum(0.8 * (y - f), -0.2 * (y - f)),
        lambda y, f: np.where(f < y, -0.8, np.where(f > y, 0.2, 0.0)),
        nothing,
    ),
    (Squared(), lambda y, f: (y - f) ** 2 / 2, lambda y, f: f - y, lambda y, f: np.ones_like(f)),
    (
        Huber(0.7),
        lambda y, f: np.where(np.abs(y - f) <= 0.7, (y - f) ** 2 / 2, 0.7 * (np.abs(y - f) - 0.35)),
        lambda y, f: np.clip(f - y, -0.7, 0.7),
        lambda y, f: 1.0 * (np.abs(f - y) < 0.7),
    ),
]


@pytest.mark.parametrize(("loss", "value", "slope", "curvature"), FORMULAS, ids=[str(case[0]) for case in FORMULAS])
def test_formulas(loss, value, slope, curvature):
    y = np.repeat([-1.0, 1.0], 164)
    f = np.tile(np.append(np.linspace(-4.1, 3.9, 161), [-1.0, 0.0, 1.0]), 2)  # kinks of classifiers among them
    np.testing.assert_allclose(loss.value(y, f), value(y, f), atol=1e-14)
    np.testing.assert_allclose(loss.slope(y, f), slope(y, f), atol=1e-14)
    np.testing.assert_allclose(loss.curvature(y, f), curvature(y, f), atol=1e-14)


def test_penalties_scale_everything_but_the_place_of_kinks():
    y, f, C = np.array([-1.0, 0.5, 2.0]), np.array([0.3, 0.4, -1.0]), np.array([0.1, 1.0, 7.0])
    for loss, *_ in FORMULAS[3:]:
        dual = loss.dual(y, C)
        np.testing.assert_allclose(dual.value(f), C * loss.value(y, f))
        np.testing.assert_allclose(dual.slope(f), C * loss.slope(y, f))
        np.testing.assert_allclose(dual.curvature(f), C * loss.curvature(y, f))
        np.testing.assert_allclose(dual.price(-C * 0.1), C * loss.conjugate(y, np.full(3, 0.1)))


def test_coefficients_on_a_bound_count_as_within_it():
    tau, C = 0.3, np.array([0.1, 0.7, 1.3, 1e6 / 3])
    loss, y = Quantile(tau), np.ones(4)
    assert np.isfinite(loss.conjugate(y, -loss.dual(y, C).upper / C)).all()
    assert np.isinf(loss.conjugate(y, np.full(4, -tau - 1e-9))).all()


@pytest.mark.parametrize(
    ("make", "field", "wrong"),
    [
        (EpsilonInsensitive, "epsilon", -0.1),
        (SquaredEpsilonInsensitive, "epsilon", -0.1),
        (Huber, "delta", 0.0),
        (Quantile, "tau", 1.5),
    ],
)
def test_wrong_parameters_are_named(make, field, wrong):
    with pytest.raises(ParameterError, match=f"The '{field}' parameter of {make.__name__} must be"):
        make(**{field: wrong})


def test_only_unbounded_coefficients_solve_a_linear_system():
    y = np.array([1.0, 1.0])
    for loss, linear in ((Squared(), True), (SquaredHinge(), False), (Huber(), False), (Hinge(), False)):
        assert loss.dual(y, np.ones(2)).least_squares == linear  # all on one side: unbounded above, and not below
    assert SquaredHinge().dual(-y, np.ones(2)).least_squares is False

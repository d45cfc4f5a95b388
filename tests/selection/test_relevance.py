"""Widths of columns by marginal likelihood: the gradient against differences, and what is found on known functions."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mercer.selection.relevance import _Density, column_widths


@pytest.fixture
def made():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 4))
    return X, np.array([0, 1, 1, 2]), np.column_stack([np.sin(X[:, 0]), X[:, 1] + X[:, 2]])


def test_the_value_is_the_density_of_a_normal_distribution(made):
    X, groups, Y = made
    density = _Density(X, groups, Y)
    place = np.log(np.array([0.3, 0.1, 0.02, 1.2, 0.25]))
    scaled = [np.square(X[:, j][:, None] - X[:, j][None, :]) * np.exp(place[g]) for j, g in enumerate(groups)]
    covariance = 1.2 * np.exp(-sum(scaled)) + 1.0 + (0.25 + 1e-6) * np.eye(len(X))
    centred = Y - Y.mean(axis=0)
    centred /= np.sqrt(np.square(centred).mean())
    normal = multivariate_normal(np.zeros(len(X)), covariance)
    prior = np.square((place[:3] - np.log(density.usual)) / 1.5).sum() / 2
    constant = Y.size / 2 * np.log(2 * np.pi)
    assert density(place)[0] == pytest.approx(-sum(normal.logpdf(y) for y in centred.T) - constant + prior, rel=1e-8)


def test_the_gradient_is_that_of_the_value(made):
    density = _Density(*made)
    place = np.log(np.array([0.3, 0.1, 0.02, 1.2, 0.25]))
    steps = 1e-5 * np.eye(len(place))
    differences = [(density(place + step)[0] - density(place - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(density(place)[1], differences, rtol=1e-5, atol=1e-6)


def test_columns_that_matter_are_narrow():
    X = np.random.default_rng(1).normal(size=(150, 6))
    gamma = column_widths(X, np.arange(6), (np.sin(2 * X[:, 0]) + X[:, 3])[:, None])
    assert set(np.argsort(-gamma)[:2]) == {0, 3}
    assert gamma[[0, 3]].min() > 10 * np.delete(gamma, [0, 3]).max()


def test_constant_columns_and_targets_are_no_accident():
    X = np.zeros((50, 2))
    assert np.isfinite(column_widths(X, np.arange(2), np.ones((50, 1)))).all()

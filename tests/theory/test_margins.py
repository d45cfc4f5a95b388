"""Margins, by hand and in feature space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import SVC, SVR, kernels
from mercer.errors import InputError
from mercer.gram.make import gram_of
from mercer.theory import margins
from mercer.theory.ball import enclosing_ball


def test_numbers_of_the_lecture():
    w, b, x = [1, 1], -1, [[1, 1]]
    assert margins.functional_margins(w, b, x, [1]) == [1.0]
    assert margins.geometric_margins(w, b, x, [1]) == pytest.approx([1 / np.sqrt(2)], abs=1e-15)
    assert margins.distances([1, 2], 0, [[1, 1]]) == pytest.approx([3 / np.sqrt(5)], abs=1e-15)
    assert round(3 / np.sqrt(5), 2) == 1.34


def test_data_set():
    X, y = [[2, 0], [0, 3], [-1, -1]], [1, 1, -1]
    assert margins.functional_margins([1, 1], 0, X, y).tolist() == [2, 3, 2]
    assert margins.margin([1, 1], 0, X, y) == pytest.approx(np.sqrt(2))
    assert margins.margin([1, 1], 0, X, [1, 1, 1]) == pytest.approx(-np.sqrt(2))


@settings(max_examples=30)
@given(st.floats(1e-6, 1e6), st.integers(0, 1000))
def test_scaling_changes_the_functional_margin_only(scale, seed):
    rng = np.random.default_rng(seed)
    w, b, X, y = rng.normal(size=3), 0.3, rng.normal(size=(9, 3)), rng.choice([-1, 1], 9)
    assert np.allclose(
        margins.functional_margins(scale * w, scale * b, X, y), scale * margins.functional_margins(w, b, X, y)
    )
    assert np.allclose(
        margins.geometric_margins(scale * w, scale * b, X, y), margins.geometric_margins(w, b, X, y), rtol=1e-9
    )
    one, two = margins.canonical(w, b, X), margins.canonical(scale * w, scale * b, X)
    assert np.allclose(one[0], two[0])
    assert one[1] == pytest.approx(two[1])
    assert np.abs(X @ one[0] + one[1]).min() == pytest.approx(1.0)
    assert margins.distances(w, b, X).min() == pytest.approx(1 / np.linalg.norm(one[0]))


def test_margin_in_feature_space_is_one_over_the_norm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(np.linalg.norm(X, axis=1) > 1, "out", "in")
    model = SVC(kernel=kernels.Polynomial(degree=2), C=np.inf, tol=1e-6).fit(X, y)
    found = margins.model_margins(model, X, y)
    assert found.min() == pytest.approx(model.certificate_.margin, rel=1e-4)
    assert found.shape == (40,)
    # The same in the explicit feature space (1, x1^2, x2^2, sqrt2 x1, sqrt2 x2, sqrt2 x1 x2).
    a, b = X.T
    phi = np.column_stack([np.ones(40), a**2, b**2, 2**0.5 * a, 2**0.5 * b, 2**0.5 * a * b])
    w = -model.expansion_.coefficients[:, 0] @ phi[model.support_]
    signs = np.where(y == "out", 1, -1)
    assert np.allclose(found, margins.geometric_margins(w, model.intercept_[0], phi, signs), atol=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margins.functional_margins([1, 1], 0, [[1, 1]], [0]), "must be -1 or \\+1"),
        (lambda: margins.functional_margins([1, 1], 0, [[1, 1]], [1, 1]), "One label per object"),
        (lambda: margins.distances([0, 0], 1, [[1, 1]]), "w = 0"),
        (lambda: margins.distances([1], 1, [[1, 1]]), "as many numbers as w"),
        (lambda: margins.distances([1, np.nan], 1, [[1, 1]]), "finite"),
        (lambda: margins.canonical([1, -1], 0, [[1, 1]]), "lies on the hyperplane"),
        (lambda: margins.model_margins(SVC().fit([[0.0], [1], [2]], [0, 1, 2]), [[0.0]], [0]), "two classes"),
        (lambda: margins.model_margins(SVC().fit([[0.0], [1]], [0, 1]), [[0.0]], [7]), "not among the classes"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_smallest_ball():
    def ball(X):
        return enclosing_ball(gram_of(kernels.Linear().fit(X), X))

    triangle = ball([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
    assert triangle.radius == pytest.approx(1 / np.sqrt(3), abs=1e-7)
    assert triangle.weights == pytest.approx([1 / 3] * 3, abs=1e-5)
    assert ball([[3.0, 4.0]]).radius == 0
    assert ball([[0.0], [1.0], [10.0]]).radius == pytest.approx(5.0)
    rng = np.random.default_rng(0)
    cloud = rng.normal(size=(60, 3))
    found = ball(cloud)
    centre = found.weights @ cloud
    assert np.linalg.norm(cloud - centre, axis=1).max() == pytest.approx(found.radius)
    assert found.at_least <= found.radius <= found.at_least * (1 + 1e-6)
    far = gram_of(kernels.RBF(gamma=100.0).fit(cloud), cloud)  # nearly orthogonal: r^2 = 1 - 1/n
    assert enclosing_ball(far).radius == pytest.approx(np.sqrt(1 - 1 / 60), abs=1e-3)


def test_a_machine_without_support_has_no_weights():
    machine = SVR(epsilon=10.0).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0])
    assert len(machine.expansion_.support) == 0
    assert margins.weight_norms(machine.expansion_).tolist() == [0.0]

"""Bounds, on cases computed by hand."""

import math

import numpy as np
import pytest

from mercer import SVC, KernelMachineClassifier, kernels
from mercer.errors import InputError, ParameterError
from mercer.gram.make import gram_of
from mercer.losses.squared_hinge import SquaredHinge
from mercer.theory import bounds, of_model
from mercer.theory.ball import enclosing_ball


def test_empirical_error_of_the_lecture_is_the_error_rate():
    assert bounds.empirical_error([1, 1, -1, -1, -1], [1, -1, 1, -1, -1]) == pytest.approx(0.4)
    assert bounds.empirical_error([1, -1], [1, -1]) == 0


def test_vc_bound_by_hand():
    # d = 3, P = 1000, delta = 0.05: (3 (log(2000/3) + 1) - log(0.0125)) / 1000 = 0.0268889
    by_hand = (3 * (6.502290170873972 + 1) + 4.382026634673881) / 1000
    found = bounds.vc_bound(1000, 3, delta=0.05)
    assert found.value == pytest.approx(math.sqrt(by_hand), abs=1e-12)
    assert found.value == pytest.approx(0.1639783, abs=1e-7)
    assert bounds.vc_bound(1000, 3, error=0.1).value == pytest.approx(0.1 + found.value)
    assert not found.vacuous
    assert bounds.vc_bound(10, 20).vacuous
    assert "vacuous" in str(bounds.vc_bound(10, 20))
    # log(2P/d) + 1 = 1 at the edge of the domain
    assert bounds.vc_bound(10, 20).value == pytest.approx(math.sqrt((20 - math.log(0.0125)) / 10))


@pytest.mark.parametrize("d", [0, 21])
def test_vc_bound_outside_its_domain(d):
    with pytest.raises(ParameterError, match="0 < d <= 2P"):
        bounds.vc_bound(10, d)


def test_vc_dimension():
    assert bounds.vc_dimension(kernels.Linear(), 2) == 3
    assert bounds.vc_dimension(kernels.Linear(), 2, intercept=False) == 2
    assert bounds.vc_dimension(kernels.Polynomial(degree=2, coef0=1.0), 2) == 6  # 1 x y x2 y2 xy
    assert bounds.vc_dimension(kernels.Polynomial(degree=2, coef0=0.0), 2) == 4  # x2 y2 xy, and b


def monomials(exponents):
    """How many of the functions x^a y^b, and 1, are different."""
    return len({*exponents, (0, 0)})


UP_TO = {degree: [(a, b) for a in range(degree + 1) for b in range(degree + 1 - a)] for degree in range(5)}


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (2.0 * kernels.Linear(), 3),
        (kernels.Linear() + 1.0, 3),
        (kernels.Linear() ** 2, 4),
        (kernels.Linear() ** 3, 5),
        (kernels.Linear() * kernels.Polynomial(degree=2, coef0=1.0), monomials(UP_TO[3])),
        ((kernels.Linear() + 1.0) ** 4, monomials(UP_TO[4])),
        (kernels.PolynomialOf(kernels.Linear(), [0.0, 1.0, 0.0, 2.0]), 2 + 4 + 1),
        (kernels.Bilinear(np.diag([1.0, 0.0])), 2),
        (kernels.Bilinear(np.eye(2)) + kernels.Linear(), 3),
        (kernels.ANOVA(degree=2), 2),
        (kernels.AllSubsets(), 4),
        (0.5 * kernels.AllSubsets(), 4),
    ],
    ids=str,
)
def test_vc_dimension_of_polynomials_in_the_plane(kernel, expected):
    assert bounds.vc_dimension(kernel, 2) == expected


@pytest.mark.parametrize("n", [1, 3, 4])
@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("coef0", [0.0, 1.0])
@pytest.mark.parametrize("intercept", [False, True])
def test_ranks_agree_with_counted_monomials(n, degree, coef0, intercept):
    kernel = kernels.Polynomial(degree=degree, coef0=coef0, gamma=1.0)
    counted = bounds.vc_dimension(kernel, n, intercept=intercept)
    assert bounds.vc_dimension(1.0 * kernel + 0.5 * kernel, n, intercept=intercept) == counted


@pytest.mark.parametrize("kernel", [kernels.RBF(), kernels.Spectrum(3), kernels.Linear() + kernels.RBF()], ids=str)
def test_vc_dimension_that_is_not_known(kernel):
    with pytest.raises(ParameterError, match="infinite"):
        bounds.vc_dimension(kernel, 2)
    with pytest.raises(ParameterError, match="up to 2,000 only"):
        bounds.vc_dimension(kernels.Linear() ** 6, 20)


def test_margin_bound_of_a_model_takes_its_numbers_from_the_model():
    X, y = np.array([[-2.0, 1.0], [-1.0, 0.0], [1.0, 0.0], [3.0, -2.0]]), [0, 0, 1, 1]
    model = SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, y)
    assert of_model.margin_of(model, X, y).value == pytest.approx(13.0 / 4, rel=1e-6)  # L^2 = 13, gamma = 1, P = 4
    with pytest.raises(ParameterError, match="smallest margin"):
        of_model.margin_of(SVC(kernel="linear").fit(X, [0, 1, 0, 1]), X, [0, 1, 0, 1])


def test_margin_bound_is_an_order():
    found = bounds.margin_bound(100, 1.0, 0.2)
    assert found.value == pytest.approx(0.25)
    assert found.order_only
    assert not bounds.margin_bound(1, 1.0, 0.2).vacuous
    assert "constant is unknown" in str(found)
    with pytest.raises(ParameterError, match="no such bound"):
        bounds.margin_bound(100, 1.0, 0.0)


def test_rademacher_by_hand():
    y, f = np.array([1.0, 1, -1, -1]), np.array([2.0, 0.5, -0.25, 3.0])
    # clipped hinge: 0, 0.5, 0.75, 1; trace 4, B = 1: 2 * 1 * 2 / 4 = 1; 3 sqrt(log(4) / 8) for delta 0.5
    expected = 2.25 / 4 + 1.0 + 3 * math.sqrt(math.log(4) / 8)
    assert bounds.rademacher_bound(y, f, 4.0, 1.0, delta=0.5).value == pytest.approx(expected)
    with pytest.raises(InputError, match="One decision value"):
        bounds.rademacher_bound(y, f[:2], 4.0, 1.0)


def test_radius_margin_and_support_vectors_by_hand():
    assert bounds.radius_margin_bound(50, 2.0, 0.5).value == pytest.approx(4 * 4 * 0.25 / 50)
    assert bounds.radius_margin_bound(50, 2.0, 0.5, intercept=False).value == pytest.approx(4 * 0.25 / 50)
    assert bounds.support_vector_bound(50, 5).value == 0.1
    assert bounds.novikoff_bound(3.0, 0.5) == 36


def leave_one_out(model, X, y):
    wrong = 0
    for i in range(len(X)):
        keep = np.arange(len(X)) != i
        wrong += model.fit(X[keep], y[keep]).predict(X[i : i + 1])[0] != y[i]
    return wrong / len(X)


@pytest.mark.parametrize(
    ("kind", "intercept"), [("hard", True), ("hard", False), ("squared", True), ("squared", False)]
)
def test_model_bounds_hold(kind, intercept):
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(12, 2)) - 2, rng.normal(size=(12, 2)) + 2])
    y = np.repeat([0, 1], 12)
    if kind == "hard":
        model = SVC(kernel=kernels.Linear(), C=np.inf, tol=1e-8, fit_intercept=intercept)
    else:
        model = KernelMachineClassifier(SquaredHinge(), C=1.0, kernel=kernels.Linear(), fit_intercept=intercept)
    bound = of_model.radius_margin_of(model.fit(X, y), X)
    assert bound.value > 0
    supports = of_model.support_vectors_of(model, X)
    error = leave_one_out(model, X, y)
    assert error <= min(bound.value, supports.value) + 1e-12


def test_squared_hinge_norm_is_that_of_the_enlarged_space():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.choice([0, 1], 30)
    model = KernelMachineClassifier(SquaredHinge(), C=3.0, kernel=kernels.Linear(), tol=1e-10).fit(X, y)
    bound = of_model.radius_margin_of(model, X)
    twice_primal = 2 * model.certificate_.primal  # |w|^2 + 2 C sum slack^2
    K = X @ X.T + np.eye(30) / 6
    R = enclosing_ball(gram_of(kernels.Precomputed().fit(K), K)).radius
    assert bound.value == pytest.approx(4 * R**2 * twice_primal / 30, rel=1e-6)


def test_soft_hinge_is_refused():
    model = SVC(C=1.0).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ParameterError, match="squared hinge only"):
        of_model.radius_margin_of(model, [[0.0], [1.0]])

"""Values worked out by hand or by an independent program, to ten places."""

import math

import numpy as np
import pytest

from mercer import kernels

X, Z = (1.0, 2.0, 3.0), (2.0, 0.5, -1.0)
FOUR, OTHER = (1.0, 2.0, 3.0, 4.0), (1.0, 1.0, 2.0, 0.5)
P, R = (0.2, 0.3, 0.5), (0.1, 0.6, 0.3)
COUNTS, MORE = (3, 0, 1, 2), (1, 2, 1, 0)

EXAMPLES = [
    (kernels.Linear(), (1, 2), (3, -1), 1),
    (kernels.Bilinear([[2, 1], [1, 2]]), (1, 2), (3, -1), 7),
    (kernels.Polynomial(degree=3, coef0=1), (1, 2), (3, -1), 8),
    (kernels.Polynomial(degree=2, coef0=0), (1, 2), (3, -1), 1),
    (kernels.Polynomial(degree=0), (1, 2), (3, -1), 1),
    (kernels.AllSubsets(), X, Z, -12),
    (kernels.AllSubsets(), FOUR, OTHER, 126),
    (kernels.RBF(gamma=0.5), (0,), (1,), 0.6065306597),
    (kernels.RBF(gamma=0.5), (1,), (3,), 0.1353352832),
    (kernels.RBF(gamma=0.5), (0,), (3,), 0.0111089965),
    (kernels.RBF(gamma=1 / 8), X, Z, 0.0901527342),
    (kernels.ANOVA(1), FOUR, OTHER, 11),
    (kernels.ANOVA(2), FOUR, OTHER, 38),
    (kernels.ANOVA(3), FOUR, OTHER, 52),
    (kernels.ANOVA(4), FOUR, OTHER, 24),
    (kernels.ANOVA(0), FOUR, OTHER, 1),
    (kernels.Laplacian(gamma=0.5), X, Z, 0.0387742078),
    (kernels.ExponentialChi2(gamma=1.0), P, R, 0.8324906126),
    (kernels.AdditiveChi2(), P, R, 0.9083333333),
    (kernels.HistogramIntersection(), P, R, 0.7),
    (kernels.HistogramIntersection(), (3, 0, 2), (1, 4, 2), 3),
    (kernels.Matern(nu=0.5, length_scale=2.0), (0,), (1.5,), 0.4723665527),
    (kernels.Matern(nu=1.5, length_scale=2.0), (0,), (1.5,), 0.6271639526),
    (kernels.Matern(nu=2.5, length_scale=2.0), (0,), (1.5,), 0.6756478000),
    (kernels.Exponential(gamma=0.5), (0,), (1.5,), 0.4723665527),
    (kernels.RationalQuadratic(alpha=1.5, length_scale=2.0), (0,), (1.5,), 0.7727687878),
    (kernels.Tanimoto(), (1, 1, 0, 1, 0), (1, 0, 0, 1, 1), 0.5),
    (kernels.Tanimoto(), COUNTS, MORE, 0.25),
    (kernels.MinMax(), COUNTS, MORE, 0.25),
    (kernels.MinMax(), (1, 1, 0, 1, 0), (1, 0, 0, 1, 1), 0.5),
    (kernels.Tanimoto(), (0, 0), (0, 0), 1),
    (kernels.Tanimoto(), (0, 0), (1, 0), 0),
    (kernels.MinMax(), (0, 0), (0, 0), 1),
    (kernels.MinMax(), (0, 0), (1, 0), 0),
    (kernels.IntervalMin(lower=-1), (0.5,), (2,), 1.5),
    (kernels.IntervalMin(), (0.3,), (0.72,), 0.3),
    (kernels.IntervalUnionComplement(upper=3), (0.5,), (2,), 1),
    (kernels.IntervalAgreement(lower=-1, upper=3), (0.5,), (2,), 2.5),
    (kernels.Tent(half_width=1), (0.5,), (2,), 0.5),
    (kernels.Spline(order=0), (0.5,), (0.8,), 1.5),
    (kernels.Spline(order=1), (0.5,), (0.8,), 1.4791666667),
    (kernels.Spline(order=2), (0.5,), (0.8,), 1.579375),
    (kernels.Spline(order=3), (0.5,), (0.8,), 1.6295691964),
    (kernels.Spline(order=1), (1,), (2,), 3.8333333333),
    (kernels.Spline(order=1, knots=(0.25, 0.5, 0.75)), (0.5,), (0.8,), 1.5375),
]


@pytest.mark.parametrize(("kernel", "x", "z", "wanted"), EXAMPLES, ids=[str(example[0]) for example in EXAMPLES])
def test_value(kernel: kernels.Kernel, x: tuple[float, ...], z: tuple[float, ...], wanted: float) -> None:
    assert kernel.fit([z])([x], [z])[0, 0] == pytest.approx(wanted, abs=1e-9)


def test_additive_chi2_is_one_minus_half_of_chi2_on_histograms() -> None:
    chi2 = -math.log(kernels.ExponentialChi2(gamma=1.0).fit([P])([P], [R])[0, 0])
    assert kernels.AdditiveChi2().fit([P])([P], [R])[0, 0] == pytest.approx(1 - chi2 / 2, abs=1e-12)


def test_tanimoto_and_minmax_differ_on_counts() -> None:
    x, z = [[3.0, 1.0]], [[1.0, 2.0]]
    assert kernels.Tanimoto().fit(x)(x, z)[0, 0] != pytest.approx(kernels.MinMax().fit(x)(x, z)[0, 0])


@pytest.mark.parametrize(("coef0", "wanted"), [(0.0, -0.0908665765), (-1.0, -0.4121754038)])
def test_the_sigmoid_is_indefinite_and_says_so(coef0: float, wanted: float) -> None:
    kernel = kernels.Sigmoid(gamma=1.0, coef0=coef0)
    points = [[1.0], [2.0]]
    assert np.linalg.eigvalsh(kernel.fit(points)(points))[0] == pytest.approx(wanted, abs=1e-9)
    assert not kernel.psd


def test_gaussian_per_feature_with_equal_weights_is_the_gaussian() -> None:
    rows = np.random.default_rng(0).normal(size=(6, 3))
    one, three = kernels.RBF(gamma=0.7), kernels.RBF(gamma=np.array([0.7, 0.7, 0.7]))
    np.testing.assert_allclose(one.fit(rows)(rows), three.fit(rows)(rows), rtol=1e-12)
    assert three == kernels.RBF(gamma=(0.7, 0.7, 0.7))
    assert hash(three) == hash(kernels.RBF(gamma=[0.7, 0.7, 0.7]))
    assert not three.data_dependent


def test_periodic_repeats_and_is_a_kernel_in_several_dimensions() -> None:
    kernel = kernels.Periodic(period=24.0, length_scale=0.6)
    rows = np.random.default_rng(0).uniform(0, 24, size=(60, 3))
    np.testing.assert_allclose(kernel.fit(rows)(rows), kernel.fit(rows)(rows + 24e6, rows), atol=1e-7)
    assert np.linalg.eigvalsh(kernel.fit(rows)(rows))[0] > -1e-12

"""What is answered in words before any work is done."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import kernels
from mercer.errors import InputError, KernelError, KernelWarning, ParameterError

NON_NEGATIVE = [
    kernels.ExponentialChi2(),
    kernels.AdditiveChi2(),
    kernels.HistogramIntersection(),
    kernels.Tanimoto(),
    kernels.MinMax(),
    kernels.Spline(),
    kernels.IntervalMin(),
]


@pytest.mark.parametrize("kernel", NON_NEGATIVE, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_negative_entries_are_named(kernel: kernels.Kernel, form: type) -> None:
    good = np.array([[0.5, 0.0, 2.0], [1.0, 1.0, 0.0]])
    bad = good.copy()
    bad[1, 2] = -0.25
    message = rf"{type(kernel).__name__} compares .*not a kernel\. Row 1, column 2 holds -0\.25"
    with pytest.raises(InputError, match=message):
        kernel.fit(form(bad))
    with pytest.raises(InputError, match="Row 1, column 2"):
        kernel.fit(form(good))(form(bad), form(good))


@pytest.mark.parametrize(
    ("kernel", "values", "where"),
    [
        (kernels.IntervalMin(lower=-1), [[0.0, -0.5], [-1.5, 0.0]], "at least -1: .* Row 1, column 0 holds -1.5"),
        (kernels.IntervalUnionComplement(upper=2), [[2.5, 0.0]], "at most 2: .* Row 0, column 0 holds 2.5"),
        (kernels.IntervalAgreement(0, 2), [[1.0], [3.0]], "at least 0 and at most 2: .* Row 1, column 0 holds 3"),
    ],
    ids=str,
)
def test_numbers_outside_the_interval_are_named(kernel: kernels.Kernel, values: list, where: str) -> None:
    with pytest.raises(InputError, match=where):
        kernel.fit(values)


def test_a_zero_that_is_not_stored_is_outside_too() -> None:
    values = sp.csr_array(np.array([[1.5, 2.0], [1.0, 0.0]]))
    with pytest.raises(InputError, match="Row 1, column 1 holds 0"):
        kernels.IntervalMin(lower=1.0).fit(values)


def test_formulas_refused_outside_their_range_would_be_indefinite() -> None:
    points = np.array([-2.0, -1.0, 0.5, 1.0])
    assert np.linalg.eigvalsh(np.minimum.outer(points, points))[0] == pytest.approx(-5.10, abs=5e-3)
    least, apart = np.minimum.outer(points, points), np.abs(np.subtract.outer(points, points))
    closed = 1 + np.outer(points, points) + 0.5 * apart * least**2 + least**3 / 3
    assert np.linalg.eigvalsh(closed)[0] == pytest.approx(-1.06, abs=5e-3)


def test_a_tent_of_the_euclidean_distance_would_be_indefinite_and_ours_is_not() -> None:
    grid = np.array([(i, j) for i in range(6) for j in range(6)], dtype=float)
    apart = np.linalg.norm(grid[:, None] - grid[None], axis=2)
    assert np.linalg.eigvalsh(np.maximum(0, 1 - apart / 1.45))[0] == pytest.approx(-0.0383, abs=5e-5)
    assert np.linalg.eigvalsh(kernels.Tent(half_width=0.725).fit(grid)(grid))[0] > -1e-9


def test_a_fractional_power_would_be_indefinite() -> None:
    points = np.array([0.0, 1.0, 5.0, 10.0])
    assert np.linalg.eigvalsh((1 + np.outer(points, points)) ** 1.5)[0] == pytest.approx(-0.0417, abs=5e-5)


def test_an_indefinite_matrix_is_refused() -> None:
    with pytest.raises(ParameterError, match="smallest eigenvalue is -1"):
        kernels.Bilinear([[1, 2], [2, 1]])


def test_an_asymmetric_matrix_is_refused_not_symmetrised() -> None:
    with pytest.raises(ParameterError, match=r"Entries \(0, 1\) and \(1, 0\) differ: 1 and 0"):
        kernels.Bilinear([[2, 1], [0, 2]])


@pytest.mark.parametrize("matrix", [[[1, 2, 3], [4, 5, 6]], [1, 2], [], [[np.nan]], [["a"]], None], ids=str)
def test_what_is_no_square_matrix_is_refused(matrix: object) -> None:
    with pytest.raises(ParameterError, match="'matrix' parameter of Bilinear"):
        kernels.Bilinear(matrix)


def test_a_zero_matrix_is_a_kernel_and_its_arrays_are_its_own() -> None:
    B = np.zeros((2, 2))
    kernel = kernels.Bilinear(B)
    B[0, 0] = 5.0
    assert kernel.fit([[1.0, 2.0]])([[1.0, 2.0]])[0, 0] == 0
    assert not kernel.matrix.flags.writeable


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: kernels.ANOVA(degree=-1), "degree"),
        (lambda: kernels.ANOVA(degree=1.5), "degree"),
        (lambda: kernels.Polynomial(degree=-1), "degree"),
        (lambda: kernels.Polynomial(degree=1.5), "degree"),
        (lambda: kernels.Polynomial(coef0=-1), "coef0"),
        (lambda: kernels.RBF(gamma=0), "gamma"),
        (lambda: kernels.RBF(gamma=(0.1, -1.0)), "gamma"),
        (lambda: kernels.RBF(gamma=()), "gamma"),
        (lambda: kernels.RBF(gamma=(0.0, 0.0)), "gamma"),
        (lambda: kernels.RBF(gamma=np.ones((2, 2))), "gamma"),
        (lambda: kernels.RBF(gamma=(1.0, 2.0), over=kernels.Linear()), "gamma"),
        (lambda: kernels.Laplacian(gamma=-1), "gamma"),
        (lambda: kernels.Laplacian(gamma="scales"), "gamma"),
        (lambda: kernels.Exponential(gamma=np.inf), "gamma"),
        (lambda: kernels.Matern(nu=1.0), "nu"),
        (lambda: kernels.Matern(nu="1.5"), "nu"),
        (lambda: kernels.Matern(length_scale=0), "length_scale"),
        (lambda: kernels.RationalQuadratic(alpha=0), "alpha"),
        (lambda: kernels.Periodic(period=0), "period"),
        (lambda: kernels.Sigmoid(coef0=np.nan), "coef0"),
        (lambda: kernels.Spline(order=-1), "order"),
        (lambda: kernels.Spline(knots=()), "knots"),
        (lambda: kernels.Spline(knots=0.5), "knots"),
        (lambda: kernels.IntervalMin(lower=-np.inf), "lower"),
        (lambda: kernels.IntervalMin(across="sums"), "across"),
        (lambda: kernels.IntervalAgreement(lower=1, upper=1), "upper"),
        (lambda: kernels.Tent(half_width=0), "half_width"),
        (lambda: kernels.RandomFourierFeatures(size=0), "size"),
        (lambda: kernels.RandomFourierFeatures(random_state=None), "random_state"),
        (lambda: kernels.Randomised(draw=1, apply=len), "draw"),
    ],
)
def test_bad_parameters_are_named(make: type, field: str) -> None:
    with pytest.raises(ParameterError, match=f"'{field}' parameter of"):
        make()


def test_one_gamma_per_feature_needs_as_many_features() -> None:
    with pytest.raises(InputError, match="3 features"):
        kernels.RBF(gamma=(1.0, 2.0)).fit([[1.0, 2.0, 3.0]])


def test_a_degree_beyond_the_features_warns_and_is_zero() -> None:
    with pytest.warns(KernelWarning, match=r"ANOVA\(degree=3\) is 0 everywhere"):
        fitted = kernels.ANOVA(degree=3).fit([[1.0, 2.0]])
    assert fitted([[1.0, 2.0]]) == 0
    assert fitted([[1.0, 2.0]], [[1.0, 2.0]]) == 0


@pytest.mark.parametrize("kernel", [kernels.AllSubsets(), kernels.ANOVA(3), kernels.Spline(order=3)], ids=str)
def test_overflow_is_answered_in_words(kernel: kernels.Kernel) -> None:
    rows = [[1e120, 1e120, 1e120]]
    fitted = kernel.fit(rows)
    with pytest.raises(KernelError, match="overflow"):
        fitted.diagonal(fitted.features(fitted.coerce(rows)))


@pytest.mark.parametrize("kernel", [kernels.Laplacian(gamma=1.0), kernels.HistogramIntersection()], ids=str)
def test_sums_beyond_float64_are_answered_in_words(kernel: kernels.Kernel) -> None:
    with pytest.raises(InputError, match="overflow"):
        kernel.fit([[1e308, 1e308]])([[1e308, 1e308]])


def test_numbers_of_too_many_periods_are_answered_in_words() -> None:
    with pytest.raises(InputError, match=r"2\^52 periods"):
        kernels.Periodic(period=1e-300).fit([[1.0]])([[1.0]])


EXTREMES = [
    kernels.Matern(nu=2.5, length_scale=1e-300),
    kernels.Matern(nu=0.5, length_scale=5e-324),
    kernels.RationalQuadratic(alpha=1.0, length_scale=1e-200),
    kernels.RationalQuadratic(alpha=0.3, length_scale=1e-200),
    kernels.RationalQuadratic(alpha=1e12, length_scale=1.0),
    kernels.Exponential(gamma=1e300),
    kernels.Laplacian(gamma=1e300),
    kernels.Periodic(length_scale=1e-200),
    kernels.Sigmoid(gamma=1e300),
]


@pytest.mark.parametrize("kernel", EXTREMES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_parameters_give_numbers(kernel: kernels.Kernel, dtype: type) -> None:
    rows = np.array([[0.0, 0.0], [1.0, 0.25], [1.0, 0.25], [300.0, -1e4]])
    fitted = kernel.fit(rows)
    kept = fitted.features(fitted.coerce(rows), dtype)
    out = np.empty((4, 4), dtype=dtype)
    with np.errstate(over="ignore"):
        fitted.tile(kept, kept, out)
    assert np.isfinite(out).all()
    assert (np.abs(out) <= 1 + 1e-6).all()
    if kernel.psd:
        assert out[1, 2] == pytest.approx(1.0, abs=1e-6)

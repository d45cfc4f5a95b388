"""Certificates of all learners against minima by scipy.optimize, which shares nothing with our solvers."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import _registry, kernels
from mercer.losses.squared_epsilon import SquaredEpsilonInsensitive

GAMMA = 0.4
RANDOM = np.random.default_rng(3)
N = 16
X = RANDOM.normal(size=(N, 2))
NUMBERS = np.sin(2 * X[:, 0]) + 0.3 * RANDOM.normal(size=N)
SIGNS = np.where(X[:, 0] * X[:, 1] + 0.4 * RANDOM.normal(size=N) > 0, 1.0, -1.0)
K = np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(axis=2))
CLOSE = (0, 8)  # converged, or no step of SLSQP makes it better: the comparison itself tells how close that is
EXACT = {"kernel": kernels.RBF(GAMMA), "tol": 1e-8}

# ------------------------------------------------------------------------------- minima by scipy.optimize, on weights


def features(linear):
    return X if linear else np.linalg.cholesky(K + 1e-12 * np.eye(N))


def of_lines(lines, C=1.0, *, intercept=True, linear=False):
    """The minimum of 1/2 |w|^2 + C sum_i max over lines (a, s) of a_i + s_i f_i, with a slack for each object."""
    Z = features(linear)
    d = Z.shape[1]
    rows, low = [], []
    for a, s in lines:  # slack_i - s_i (z_i.w + c) >= a_i
        rows.append(np.hstack([-s[:, None] * Z, -s[:, None] * intercept, np.eye(N)]))
        low.append(a)
    quadratic = np.concatenate([np.ones(d), np.zeros(1 + N)])
    cost = np.concatenate([np.zeros(d + 1), np.full(N, C)])
    start = np.concatenate([np.zeros(d + 1), np.max([a for a, _ in lines], axis=0) + 1.0])
    found = minimize(
        lambda v: (0.5 * quadratic @ v**2 + cost @ v, quadratic * v + cost),
        start,
        jac=True,
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": lambda v, A=A, b=b: A @ v - b, "jac": lambda v, A=A: A}
                     for A, b in zip(rows, low, strict=True)],
        options={"maxiter": 2000, "ftol": 1e-13},
    )  # fmt: skip
    assert found.status in CLOSE, found.message
    return found.fun


def of_smooth(value, slope, C=1.0, *, intercept=True, linear=False):
    """The same for smooth losses."""
    Z = np.column_stack([features(linear), np.full(N, float(intercept))])
    penalty = np.ones(Z.shape[1])
    penalty[-1] = 0.0

    def objective(v):
        f = Z @ v
        return 0.5 * penalty @ v**2 + C * value(f).sum(), penalty * v + C * Z.T @ slope(f)

    return minimize(objective, np.zeros(Z.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-10}).fun


def hinge(C=1.0, **options):
    return of_lines([(np.zeros(N), np.zeros(N)), (np.ones(N), -SIGNS)], C, **options)


def tube(epsilon, C=1.0, **options):
    ones = np.ones(N)
    lines = [(np.zeros(N), 0 * ones), (NUMBERS - epsilon, -ones), (-NUMBERS - epsilon, ones)]
    return of_lines(lines, C, **options)


def pinball(share):
    return of_lines([(share * NUMBERS, np.full(N, -share)), ((share - 1) * NUMBERS, np.full(N, 1 - share))])


def logistic(C):
    return of_smooth(
        lambda f: np.logaddexp(0, -SIGNS * f), lambda f: -SIGNS / (1 + np.exp(SIGNS * f)), C
    )  # fmt: skip


def squares(targets, C, **options):
    return of_smooth(lambda f: 0.5 * (targets - f) ** 2, lambda f: f - targets, C, **options)


def squared_hinge(C, **options):
    def slack(f):
        return np.maximum(0, 1 - SIGNS * f)

    return of_smooth(lambda f: slack(f) ** 2, lambda f: -2 * SIGNS * slack(f), C, **options)


def squared_tube(epsilon, C):
    def excess(f):
        return np.sign(f - NUMBERS) * np.maximum(0, np.abs(f - NUMBERS) - epsilon)

    return of_smooth(lambda f: excess(f) ** 2, lambda f: 2 * excess(f), C)


def one_class(nu):
    """1/2 |w|^2 + nu n t + sum_i max(0, -(f_i + t)): slacks beside weights and t."""
    Z = features(False)
    A = np.hstack([Z, np.ones((N, 1)), np.eye(N)])
    cost = np.concatenate([np.zeros(N), [nu * N], np.ones(N)])
    quadratic = np.concatenate([np.ones(N), np.zeros(1 + N)])
    bounds = [(None, None)] * (N + 1) + [(0, None)] * N
    found = minimize(
        lambda v: (0.5 * quadratic @ v**2 + cost @ v, quadratic * v + cost), np.ones(2 * N + 1), jac=True,
        method="SLSQP", bounds=bounds, constraints=[LinearConstraint(A, 0, np.inf)],
        options={"maxiter": 2000, "ftol": 1e-13},
    )  # fmt: skip
    assert found.status in CLOSE, found.message
    return found.fun


# ------------------------------------------------------------------------------------------------------------- learners

RIDGE = {"kernel": kernels.RBF(GAMMA), "alpha": 0.3}
LEARNERS = {
    "SVC": (mercer.SVC(C=3.0, **EXACT), lambda m: hinge(3.0)),
    "NuSVC": (mercer.NuSVC(nu=0.4, **EXACT), lambda m: hinge(float(m.penalties_[0]))),
    "SVR": (mercer.SVR(C=2.0, epsilon=0.2, **EXACT), lambda m: tube(0.2, 2.0)),
    "SVR, no intercept": (
        mercer.SVR(C=2.0, epsilon=0.2, fit_intercept=False, **EXACT),
        lambda m: tube(0.2, 2.0, intercept=False),
    ),
    "NuSVR": (mercer.NuSVR(nu=0.4, C=2.0, **EXACT), lambda m: tube(m.epsilon_, 2.0)),
    "OneClassSVM": (mercer.OneClassSVM(nu=0.3, **EXACT), lambda m: one_class(0.3)),
    "KernelQuantileRegressor": (
        mercer.KernelQuantileRegressor(quantiles=[0.2, 0.5], **EXACT),
        lambda m: pinball(0.2) + pinball(0.5),
    ),
    "KernelLogisticRegression": (mercer.KernelLogisticRegression(C=5.0, **EXACT), lambda m: logistic(5.0)),
    "KernelMachineClassifier": (
        mercer.KernelMachineClassifier("squared_hinge", C=2.0, **EXACT),
        lambda m: squared_hinge(2.0),
    ),
    "KernelMachineRegressor": (
        mercer.KernelMachineRegressor(SquaredEpsilonInsensitive(0.1), C=2.0, **EXACT),
        lambda m: squared_tube(0.1, 2.0),
    ),
    "KernelRidge": (mercer.KernelRidge(**RIDGE), lambda m: squares(NUMBERS, 1 / 0.3, intercept=m.fit_intercept)),
    "KernelRidgeCV": (
        mercer.KernelRidgeCV([0.1, 1.0], kernel=kernels.RBF(GAMMA)),
        lambda m: squares(NUMBERS, 1 / m.alpha_, intercept=m.fit_intercept),
    ),
    "KernelRidgeClassifier": (
        mercer.KernelRidgeClassifier(**RIDGE),
        lambda m: squares(SIGNS, 1 / 0.3, intercept=m.fit_intercept),
    ),
    "LinearSVC": (mercer.LinearSVC(tol=1e-8, intercept_scaling=None), lambda m: squared_hinge(1.0, linear=True)),
    "LinearSVC, hinge": (
        mercer.LinearSVC(loss="hinge", tol=1e-8, intercept_scaling=None),
        lambda m: hinge(linear=True),
    ),
    "LinearSVR": (
        mercer.LinearSVR(epsilon=0.1, tol=1e-8, intercept_scaling=None),
        lambda m: tube(0.1, linear=True),
    ),
}
WITHOUT = {
    "KernelPerceptron": "ends with a mistake or without, and minimises nothing",
    "PrimalPerceptron": "the same",
    "SubgradientSVM": "shows its way, traced",
    "GradientKernelMachine": "shows its way, traced",
    "KernelPCA": "an eigenvalue problem",
    "KernelKMeans": "a local minimum",
    "SpectralClustering": "an eigenvalue problem",
    "KernelFisherDiscriminant": "an eigenvalue problem",
    "KernelCCA": "an eigenvalue problem",
}


def fitted(name):
    model = LEARNERS[name][0]
    if name == "OneClassSVM":
        return model.fit(X), (X,)
    y = NUMBERS if is_regressor(model) else SIGNS
    return model.fit(X, y), (X, y)


def test_every_learner_is_here():
    known = {type(model).__name__ for model, _ in LEARNERS.values()}
    registered = {entry.name for entry in _registry.ESTIMATORS.values()}
    assert known | set(WITHOUT) == registered


@pytest.mark.parametrize("name", LEARNERS)
def test_certificate_encloses_the_minimum(name):
    model, _ = fitted(name)
    best, proof = LEARNERS[name][1](model), model.certificate_
    size = abs(best)
    assert proof.dual <= best + 1e-6 * size
    assert best - 1e-6 * size <= proof.primal <= best + 1e-5 * size
    assert -1e-9 * size <= proof.duality_gap <= 1e-5 * size
    assert 0 <= proof.kkt_violation < 1e-2


@pytest.mark.parametrize("name", LEARNERS)
def test_verify_comes_to_the_same(name):
    model, data = fitted(name)
    again, proof = model.verify(*data), model.certificate_
    assert again.primal == pytest.approx(proof.primal, rel=1e-9)
    assert again.dual == pytest.approx(proof.dual, rel=1e-6)
    assert again.dtype == "float64"


@pytest.mark.parametrize("name", [name for name, (model, _) in LEARNERS.items() if hasattr(model, "max_iter")])
def test_unfinished_training_says_why_and_what_to_do(name):
    if name.startswith("KernelRidge"):
        pytest.skip("solved directly")
    model, data = LEARNERS[name][0], fitted(name)[1]
    stopped = type(model)(**{**model.get_params(deep=False), "max_iter": 1, "tol": 1e-12})
    with pytest.warns(ConvergenceWarning, match=r"did not converge.*tol is 1e-12.*[Rr]aise max_iter.*lower C"):
        stopped.fit(*data)
    assert stopped.certificate_.duality_gap > model.certificate_.duality_gap


def test_a_machine_that_is_stopped_early_has_a_gap_that_is_infinite_rather_than_undefined():
    codes = np.arange(N) % 3
    model = mercer.KernelLogisticRegression(kernel=kernels.RBF(GAMMA), C=1e3, max_iter=1)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, codes)
    assert model.certificate_.relative_gap > 0  # false of NaN


def test_rounding_in_float64_is_allowed_for_where_large_terms_cancel():
    """Far objects with large coefficients: sums of terms of 1e12 are a few thousand, and lose digits that count."""
    rng = np.random.default_rng(434)
    X = 3e3 * rng.normal(size=(18, 2))
    y = 100 * rng.normal(size=18)
    model = mercer.SVR(kernel="linear", C=1e3, tol=0.01).fit(X, y)
    b = np.zeros(18, dtype=np.longdouble)
    b[model.support_] = model.dual_coef_[0]
    w = b @ X.astype(np.longdouble)
    f = X @ w + model.intercept_[0]
    primal = w @ w / 2 + 1e3 * np.maximum(np.abs(y - f) - 0.1, 0).sum()
    dual = -w @ w / 2 + b @ y - 0.1 * np.abs(b).sum()
    assert model.certificate_.dual <= dual
    assert primal <= model.certificate_.primal
    assert model.certificate_.primal == pytest.approx(float(primal), rel=0.05)


@pytest.mark.parametrize("seed", range(6))
def test_a_logistic_machine_that_converged_has_a_dual_bound(seed):
    """At large C, coefficients lie a little beyond the domain of the dual, which once was taken for no bound at all."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(19, 2)), np.arange(19) % 2
    model = mercer.KernelLogisticRegression(C=1e4).fit(X, y)
    finer = mercer.KernelLogisticRegression(C=1e4, tol=1e-8).fit(X, y)
    assert np.isfinite(model.certificate_.dual)
    assert model.certificate_.dual <= finer.certificate_.primal * (1 + 1e-12)
    assert model.certificate_.relative_gap < 0.05


@pytest.mark.parametrize(("seed", "classes"), [(9, 2), (8, 4), (32, 4), (1, 3)])
def test_beyond_the_domain_of_the_dual_no_bound_is_claimed_that_does_not_hold(seed, classes):
    """A rough solution may have coefficients of the wrong sign; what bounds the optimum is another point."""
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(12, 2)), random.integers(0, classes, size=12)
    y[:classes] = np.arange(classes)
    rough, exact = (mercer.KernelLogisticRegression(C=5000.0, gamma=0.6, tol=tol).fit(X, y) for tol in (1e-3, 1e-9))
    assert rough.certificate_.dual <= exact.certificate_.primal * (1 + 1e-12)
    assert rough.certificate_.relative_gap < 0.1
    assert exact.certificate_.relative_gap < 1e-6

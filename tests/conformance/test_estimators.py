"""Every registered estimator keeps scikit-learn's conventions on strings, tables, sets and a matrix of similarities."""

import importlib.util

import numpy as np
import pytest

from mercer import (
    SVC,
    SVR,
    GradientKernelMachine,
    KernelCCA,
    KernelFisherDiscriminant,
    KernelKMeans,
    KernelLogisticRegression,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelPCA,
    KernelPerceptron,
    KernelQuantileRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    KernelRidgeCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    SpectralClustering,
    kernels,
)
from mercer._registry import ESTIMATORS
from mercer._stored import Storable
from mercer.losses.squared_hinge import SquaredHinge
from mercer.testing import structured_estimator_checks
from tests.conformance.round_trips import pickled, stored

VECTORS_ONLY = {
    "LinearSVC",
    "LinearSVR",
    "PrimalPerceptron",
    "SubgradientSVM",
}  # weights of features: nothing but rows of numbers has them
NEED_TARGETS = {"estimator_lengths", "estimator_failed_fit", "estimator_cross_validation"}
WITHOUT_TARGETS = (KernelPCA, KernelKMeans, SpectralClustering, OneClassSVM)

ROUND_TRIPS = {"pickle": pickled, "mercer.save and mercer.load": stored}


def round_trips(estimator):
    """Model files hold the estimators that have a stored form, as soon as they have one."""
    return ROUND_TRIPS if isinstance(estimator, Storable) else {"pickle": pickled}


def _strings(random):
    letters = {"left": "ACG", "right": "GTA", "third": "TTC"}
    y = np.repeat(list(letters), 8)
    X = ["".join(random.choice(list(letters[side]), size=random.integers(6, 15))) for side in y]
    return X, y


def _table(random):
    X, y = _strings(random)
    numbers = random.normal(size=len(y)) + (y == "left")
    return {"sequence": X, "mass": list(numbers), "size": list(numbers**2)}, y


def _common(left, right):
    return float(len(left & right))


def _sets(random):
    y = np.arange(16) % 2
    return [frozenset(random.choice(8, size=4, replace=False) + 3 * side) for side in y], y


def cases():
    random = np.random.default_rng(0)
    X, y = _strings(random)
    yield "spectrum", SVC(kernel=kernels.Spectrum(p=2)), X, y, ROUND_TRIPS
    two = y != "third"
    pair = [x for x, kept in zip(X, two, strict=True) if kept]
    yield "two-classes", SVC(kernel=kernels.normalise(kernels.Spectrum(p=1)), C=10.0), pair, y[two], ROUND_TRIPS
    classifiers = (
        KernelLogisticRegression(),
        KernelMachineClassifier(loss=SquaredHinge()),
        KernelPerceptron(averaged=True, epochs=10),
        GradientKernelMachine(steps=20),
        KernelFisherDiscriminant(),
        KernelRidgeClassifier(),
        NuSVC(nu=0.3),
        SVC(probability=True, random_state=0),
    )
    for estimator in classifiers:
        yield type(estimator).__name__, estimator.set_params(kernel=kernels.Spectrum(p=2)), X, y, round_trips(estimator)
    lengths = np.array([len(x) for x in X], dtype=float)
    regressors = (SVR(), NuSVR(), KernelRidge(), KernelRidgeCV(), KernelMachineRegressor(), KernelQuantileRegressor())
    for regressor in regressors:
        yield (
            type(regressor).__name__,
            regressor.set_params(kernel=kernels.Spectrum(p=2)),
            X,
            lengths,
            round_trips(regressor),
        )
    unlabelled = (KernelPCA(2), KernelKMeans(2, random_state=0), SpectralClustering(2, random_state=0), OneClassSVM())
    for model in unlabelled:
        yield type(model).__name__, model.set_params(kernel=kernels.Spectrum(p=1)), X, y, round_trips(model)
    both = KernelCCA(2, kernel=kernels.Spectrum(p=2), kernel_y="linear")
    yield "KernelCCA", both, X, lengths, round_trips(both)
    X, y = _sets(random)
    yield "sets", SVC(kernel=kernels.FromFunction(_common, objects="items")), X, y, {"pickle": pickled}
    pandas = importlib.import_module("pandas") if importlib.util.find_spec("pandas") else None
    if pandas is not None:
        columns, y = _table(random)
        mixed = kernels.on("sequence", kernels.Spectrum(2)) + kernels.on(["mass", "size"], kernels.RBF())
        yield "table", SVC(kernel=mixed), pandas.DataFrame(columns), y, ROUND_TRIPS


CHECKS = [
    pytest.param(check, id=f"{name}-{check}")
    for name, estimator, X, y, trips in cases()
    for check in structured_estimator_checks(estimator, X, y, round_trips=trips)
    if not (isinstance(estimator, WITHOUT_TARGETS) and str(check) in NEED_TARGETS)
    if not (isinstance(estimator, KernelCCA) and str(check) == "estimator_cross_validation")  # it has no score
]


def test_every_registered_estimator_is_here():
    assert {type(estimator).__name__ for _, estimator, *_ in cases()} | VECTORS_ONLY == set(ESTIMATORS)


@pytest.mark.parametrize("check", CHECKS)
def test_conformance(check):
    check()

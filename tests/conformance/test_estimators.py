"""Every registered estimator keeps scikit-learn's conventions on strings, tables, sets and a matrix of similarities."""

import importlib.util

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor

from mercer import (
    SVC,
    SVR,
    KernelLogisticRegression,
    KernelMachineClassifier,
    KernelMachineRegressor,
    KernelRidge,
    KernelRidgeCV,
    kernels,
)
from mercer._registry import ESTIMATORS
from mercer._stored import Storable
from mercer.losses.squared_hinge import SquaredHinge
from mercer.testing import structured_estimator_checks
from tests.conformance.round_trips import pickled, stored

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
    for estimator in (KernelLogisticRegression(), KernelMachineClassifier(loss=SquaredHinge())):
        yield type(estimator).__name__, estimator.set_params(kernel=kernels.Spectrum(p=2)), X, y, round_trips(estimator)
    lengths = np.array([len(x) for x in X], dtype=float)
    for regressor in (SVR(), KernelRidge(), KernelRidgeCV(), KernelMachineRegressor()):
        yield (
            type(regressor).__name__,
            regressor.set_params(kernel=kernels.Spectrum(p=2)),
            X,
            lengths,
            round_trips(regressor),
        )
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
]


def takes_any_object(entry):
    """Estimators without a kernel take rows of numbers alone: scikit-learn's common checks are theirs."""
    estimator = entry.load()()
    return "kernel" in estimator.get_params() and (is_classifier(estimator) or is_regressor(estimator))


def test_every_registered_estimator_is_here():
    here = {type(estimator).__name__ for _, estimator, *_ in cases()}
    assert here == {name for name, entry in ESTIMATORS.items() if takes_any_object(entry)}


@pytest.mark.parametrize("check", CHECKS)
def test_conformance(check):
    check()

"""A table of measurements with two classes, and the outcome of a fit on it, for several files of tests."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from mercer.jobs.fitting import fit
from mercer.jobs.problem import Plan
from tests.jobs.tables import table


@pytest.fixture(scope="session")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    columns = {f"c{number}": X[:150, number].tolist() for number in range(4)}
    return table(np.where(y[:150] == 1, "benign", "malignant"), **columns)


@pytest.fixture(scope="session")
def outcome(cancer):
    return fit(cancer, Plan(kernel="rbf(gamma=0.2)", folds=3), command="mercer fit t.csv")

"""SVC beside scikit-learn's on real data: the same machine, and the accuracy that others publish."""

import numpy as np
import pytest
from sklearn import svm as sklearn_svm
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler

from mercer import SVC, kernels

pytestmark = pytest.mark.realdata

FOLDS = StratifiedKFold(10, shuffle=True, random_state=0)


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float)


@pytest.mark.parametrize(
    ("name", "settings", "published"),
    [
        ("vectors/heart_scale", {"C": 1.0, "gamma": 0.05}, 0.837),
        ("vectors/australian", {"C": 1.0, "gamma": 0.05}, 0.858),
        ("vectors/ionosphere", {"C": 10.0, "gamma": 0.1}, 0.949),
        ("vectors/sonar", {"C": 10.0, "gamma": 0.05}, 0.861),
    ],
)
def test_same_machine_and_published_accuracy(load, name, settings, published):
    X, y = load(name)["all"]
    X = dense(X) if name == "vectors/heart_scale" else StandardScaler().fit_transform(dense(X))
    ours, theirs = SVC(**settings).fit(X, y), sklearn_svm.SVC(**settings).fit(X, y)
    assert np.abs(ours.decision_function(X) - theirs.decision_function(X)).max() < 5e-3
    assert np.array_equal(ours.support_, theirs.support_)
    assert ours.certificate_.relative_gap < 5e-3
    assert cross_val_score(SVC(**settings), X, y, cv=FOLDS).mean() > published - 0.03


def test_a_sparse_problem_of_four_thousand_rows(load):
    X, y = load("vectors/a9a")["train"]
    X, y = X[:4000], y[:4000]
    ours = SVC(C=1.0, gamma=0.05).fit(X, y)
    theirs = sklearn_svm.SVC(C=1.0, gamma=0.05).fit(X, y)
    assert np.abs(ours.decision_function(X) - theirs.decision_function(X)).max() < 5e-3
    assert ours.verify(X, y).kkt_violation < 2e-3


def test_promoters(load):
    X, y = load("strings/promotergene_kernlab")["all"]
    kernel = kernels.normalise(kernels.GappedKmer(6, 4))
    assert cross_val_score(SVC(kernel=kernel, C=10.0), X, y, cv=FOLDS).mean() > 0.85

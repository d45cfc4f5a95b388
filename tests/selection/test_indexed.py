"""Objects by their numbers: scikit-learn's tools that refuse lists of strings and graphs work on them."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.semi_supervised import SelfTrainingClassifier

from mercer import SVC, indexed, kernels
from mercer.errors import KernelError, ParameterError

WORDS = [
    left + right for left in ("gatta", "ccgcg", "ttttt") for right in ("", "a", "c", "gg", "ta", "aca", "gac", "t")
]
LABELS = np.repeat([0, 1, 2], 8)
KERNEL = kernels.normalise(kernels.Spectrum(2))


def test_the_same_machine_as_on_the_objects():
    X, kernel = indexed(WORDS, KERNEL)
    ours = SVC(kernel=kernel).fit(X[::2], LABELS[::2])
    plain = SVC(kernel=KERNEL).fit(WORDS[::2], LABELS[::2])
    np.testing.assert_allclose(ours.decision_function(X), plain.decision_function(WORDS), atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda svc: BaggingClassifier(svc, 5, random_state=0),
        lambda svc: AdaBoostClassifier(svc, n_estimators=3, random_state=0),
        OneVsOneClassifier,
        OneVsRestClassifier,
    ],
)
def test_tools_that_take_numbers_alone(make):
    X, kernel = indexed(WORDS, KERNEL)
    model = make(SVC(kernel=kernel)).fit(X, LABELS)
    assert model.score(X, LABELS) > 0.9


def test_self_training_and_importance():
    X, kernel = indexed(WORDS, KERNEL)
    some = np.where(np.arange(24) % 4 == 3, -1, LABELS)
    model = SelfTrainingClassifier(SVC(kernel=kernel, probability=True, random_state=0), threshold=0.5).fit(X, some)
    assert model.score(X, LABELS) > 0.9
    machine = SVC(kernel=kernel).fit(X, LABELS)
    assert permutation_importance(machine, X, LABELS, random_state=0).importances_mean[0] > 0.3
    assert cross_val_score(machine, X, LABELS, cv=4).mean() > 0.8


def test_bad_input():
    X, kernel = indexed(WORDS, "spectrum(p=2)")
    with pytest.raises(KernelError, match="numbers of objects, from 0 to 23"):
        SVC(kernel=kernel).fit(X + 0.5, LABELS)
    with pytest.raises(ParameterError, match="'kernel' parameter of indexed"):
        indexed(WORDS, 3)

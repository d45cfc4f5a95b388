"""Probabilities from decision values."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC
from mercer.jobs.answers import Columns, answers
from mercer.jobs.calibration import held_out, learn, most_probable, probabilities


@pytest.mark.parametrize(("n", "size"), [(30, 1.0), (200, 3.0), (2000, 1e-3), (500, 1e4)])
def test_two_classes_are_calibrated_as_by_scikit_learn(n, size):
    random = np.random.default_rng(n)
    codes = (random.random(n) < 0.3).astype(int)
    decisions = size * (random.normal(size=n) + 1.5 * codes)[:, None]
    weights = random.uniform(0.1, 3.0, n)
    found = learn(decisions, codes, 2, weights)
    if size in (1.0, 3.0):  # where its solver comes near the optimum
        model = LogisticRegression(C=100.0, max_iter=10_000, tol=1e-10).fit(decisions, codes, weights)
        assert found[0] == pytest.approx([model.coef_[0, 0], model.intercept_[0]], rel=1e-5)
    chances = probabilities(found, decisions)[:, 1]
    # At the optimum the derivatives vanish: weighted residuals, and those times the decision values with the penalty.
    residuals = weights * (chances - codes)
    assert abs(residuals.sum()) < 1e-6 * weights.sum()
    assert abs(100.0 * residuals @ decisions[:, 0] + found[0, 0]) < 1e-5 * 100.0 * weights @ np.abs(decisions[:, 0])
    assert probabilities(found, decisions).sum(axis=1) == pytest.approx(1.0)


def test_separable_values_stay_finite():
    codes = np.arange(40) % 2
    found = learn(np.where(codes, 1.0, -1.0)[:, None], codes, 2)
    assert np.isfinite(found).all()
    assert (probabilities(found, np.array([[5.0], [-5.0]]))[:, 1] > 0.5).tolist() == [True, False]
    assert learn(np.zeros((4, 1)), np.zeros(4, dtype=int), 2).size == 0
    assert np.isfinite(learn(np.zeros((4, 1)), np.array([0, 1, 1, 1]), 2)).all()


def test_probabilities_of_a_fold_do_not_know_it():
    random = np.random.default_rng(0)
    codes = np.arange(60) % 2
    decisions = random.normal(size=(60, 1)) + codes[:, None]
    splits = [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]
    before = held_out(decisions, codes, splits, 2)
    changed = codes.copy()
    changed[:30] = 1 - changed[:30]
    after = held_out(decisions, changed, splits, 2)
    assert (before[:30] == after[:30]).all()
    assert not np.allclose(before[30:], after[30:])


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_of_held_out_objects_are_repetitions(classes):
    random = np.random.default_rng(1)
    codes, weights = np.arange(60) % classes, random.integers(1, 5, size=60)
    decisions = random.normal(size=(60, 1 if classes == 2 else classes)) + codes[:, None]
    halves = np.arange(60) < 30
    copies = np.repeat(np.arange(60), weights)

    def splits(rows):
        first = halves[rows]
        return [(np.flatnonzero(~first), np.flatnonzero(first)), (np.flatnonzero(first), np.flatnonzero(~first))]

    found = held_out(decisions, codes, splits(np.arange(60)), classes, weights.astype(float))
    repeated = held_out(decisions[copies], codes[copies], splits(copies), classes)
    np.testing.assert_allclose(found[copies], repeated, atol=1e-4)
    assert not np.allclose(found, held_out(decisions, codes, splits(np.arange(60)), classes), atol=1e-3)


def votes_of_digits():
    X, y = load_digits(return_X_y=True)
    known, new, labels, truth = train_test_split(X[:900], y[:900], stratify=y[:900], random_state=0)
    values = cross_val_predict(SVC(), known, labels, cv=5, method="decision_function")
    machine = SVC().fit(known, labels)
    return values, labels, machine.decision_function(new), machine.predict(new), truth


def test_many_classes_by_their_votes():
    """Better than scikit-learn's calibration of the same machine, and as often right as its votes."""
    values, labels, new, voted, truth = votes_of_digits()
    chances = probabilities(learn(values, labels, 10), new)
    assert chances.sum(axis=1) == pytest.approx(1.0)
    one_by_one = OneVsRestClassifier(LogisticRegression(C=100.0, max_iter=1000)).fit(values, labels).predict_proba(new)
    assert log_loss(truth, chances) < log_loss(truth, one_by_one)
    assert np.mean(chances.argmax(axis=1) == truth) >= np.mean(voted == truth) - 0.005


def test_calibrations_of_earlier_versions():
    """A row of weights and a constant for each class."""
    old, decisions = np.array([[1.0, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 2, 0]]), np.array([[2.1, 0.9, -0.2]])
    wanted = np.exp([2.6, 0.9, -0.4])
    assert probabilities(old, decisions)[0] == pytest.approx(wanted / wanted.sum())


def test_the_most_probable():
    classes, machine = np.array(["a", "b"]), np.array(["a", "a", "a"])
    chances = np.array([[0.4, 0.6], [0.7, 0.3], [np.nan, np.nan]])
    assert most_probable(classes, chances, machine).tolist() == ["b", "a", "a"]
    assert most_probable(classes, None, machine) is machine


@pytest.fixture(scope="module")
def vowels():
    random = np.random.default_rng(3)
    centres = random.normal(size=(4, 3))
    y = np.arange(280) % 4
    return {f"x{i}": column for i, column in enumerate((centres[y] + 0.8 * random.normal(size=(280, 3))).T)}, y


def test_models_predict_the_most_probable_class(vowels, tmp_path):
    table, y = vowels
    outcome = mercer.fit(table, y=y, kernel="rbf(gamma=0.3)", folds=3)
    chances, labels = outcome.predict_proba(table), outcome.predict(table)
    assert (labels == outcome.model.classes[chances.argmax(axis=1)]).all()
    assert (labels != outcome.model.machine.predict(outcome.model.objects(table))).any(), (
        "votes say the same everywhere"
    )
    found = answers(outcome.model, outcome.model.objects(table), [str(i) for i in range(280)], Columns())
    assert all(str(one["prediction"]) == max(one["probabilities"], key=one["probabilities"].get) for one in found)
    best = outcome.search.best.predicted
    assert (best == outcome.model.classes[outcome.probabilities.argmax(axis=1)]).all()
    assert abs(outcome.estimate.value - np.mean(best == y[outcome.search.rows])) < 0.05


def test_balanced_labels_are_the_machines(vowels):
    table, y = vowels
    outcome = mercer.fit(table, y=(y == 0).astype(int), kernel="rbf(gamma=0.3)", folds=3, balanced=True)
    assert (outcome.predict(table) == outcome.model.machine.predict(outcome.model.objects(table))).all()


HALVES = {"australian": 40}
"""Where six are not enough to tell: the difference of the mean of six has a standard error of 1 %."""


@pytest.mark.realdata
@pytest.mark.parametrize(
    "name",
    ["australian", "diabetes", "a9a", "heart_scale", "splice_numeric", "ionosphere", "sonar", "fourclass", "vowel"],
)
def test_no_worse_than_scikit_learns_calibration(name, load):
    """Of the same machine, in five folds; the mean of random halves."""
    sets = load(f"vectors/{name}")
    X, y = sets["all"] if "all" in sets else sets["train"]
    ids = np.random.default_rng(0).permutation(len(y))[:600]
    X, y = (X[ids].toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float)[ids]), np.asarray(y)[ids]
    ours, theirs = [], []
    for seed in range(HALVES.get(name, 6)):
        known, new, labels, truth = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        outcome = mercer.fit(known, y=labels, kernel="rbf(gamma='scale')", C=1.0)
        ours.append(log_loss(truth, outcome.predict_proba(new)))
        scaled = make_pipeline(StandardScaler(), SVC())
        theirs.append(log_loss(truth, CalibratedClassifierCV(scaled, cv=5).fit(known, labels).predict_proba(new)))
    assert np.mean(ours) <= 1.01 * np.mean(theirs)

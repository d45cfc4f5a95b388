"""Probabilities of margin classifiers: consistent with predictions, reproducible, calibrated, on one Gram matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVC, NuSVC, kernels
from mercer.training.folds import folds_with_every_class
from mercer.training.probabilities import fit_temperature
from tests.estimators.test_svc import EXPECTED_FAILURES


@parametrize_with_checks([SVC(probability=True, random_state=0)], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)


def noisy(classes=2, n=300):
    return make_classification(n, 8, n_informative=5, n_classes=classes, flip_y=0.15, random_state=0)


@pytest.mark.parametrize("make", [SVC, lambda **options: NuSVC(nu=0.4, **options)], ids=["SVC", "NuSVC"])
@pytest.mark.parametrize("classes", [2, 4])
def test_consistent_with_predictions(make, classes):
    X, y = noisy(classes)
    model = make(probability=True, random_state=0, break_ties=True).fit(X[:200], y[:200])
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares > 0).all()
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(X)).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), shares)
    assert model.temperature_ > 0
    if classes == 2:
        assert ((shares[:, 1] > 0.5) == (model.decision_function(X) > 0)).all()
    again = make(probability=True, random_state=0, break_ties=True).fit(X[:200], y[:200])
    assert np.array_equal(again.predict_proba(X), shares)


def test_the_machine_is_the_same_with_and_without():
    X, y = noisy()
    plain, more = SVC().fit(X, y), SVC(probability=True, random_state=3).fit(X, y)
    assert np.array_equal(plain.decision_function(X), more.decision_function(X))
    assert not hasattr(plain, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        plain.predict_proba(X)


def test_the_temperature_is_that_of_cross_validated_decisions():
    """The same folds by scikit-learn's cross-validation, kernel values computed anew, and a grid of temperatures."""
    X, y = noisy()
    model = SVC(gamma=0.1, probability=True, random_state=7, tol=1e-6).fit(X, y)
    codes = np.searchsorted(model.classes_, y)
    splits = list(folds_with_every_class(codes, np.ones(len(y)), 7))
    values = cross_val_predict(SVC(gamma=0.1, tol=1e-6), X, y, cv=splits, method="decision_function")
    grid = model.temperature_ * np.geomspace(0.5, 2.0, 401)
    counts = np.bincount(codes)
    target = np.where(codes == 1, (counts[1] + 1) / (counts[1] + 2), 1 / (counts[0] + 2))
    losses = [
        -(target * -np.logaddexp(0, -t * values) + (1 - target) * -np.logaddexp(0, t * values)).sum() for t in grid
    ]
    assert grid[int(np.argmin(losses))] == pytest.approx(model.temperature_, rel=5e-3)


def test_one_gram_matrix_serves_all_folds():
    X, y = noisy()
    plain = SVC(gamma=0.1).fit(X, y).certificate_.kernel_entries
    more = SVC(gamma=0.1, probability=True, random_state=0).fit(X, y).certificate_.kernel_entries
    assert more <= plain + len(X) ** 2


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_better_than_chance_and_than_certainty(load):
    X, y = load(return_X_y=True)
    X, new, y, truth = train_test_split(X[:700], y[:700], stratify=y[:700], random_state=0)
    model = SVC(probability=True, random_state=0).fit(X, y)
    loss = log_loss(truth, model.predict_proba(new))
    assert loss < 0.5 * np.log(len(model.classes_))
    assert model.predict_proba(new).max() < 1.0


@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(4, 30))
def test_folds(seed, classes, n):
    random = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), random.integers(0, classes, n)])
    weights = random.choice([0.0, 1.0], size=len(codes), p=[0.2, 0.8])
    weights[:classes] = 1.0
    seen = []
    for train, test in folds_with_every_class(codes, weights, seed):
        assert not set(train) & set(test)
        assert (weights[train] > 0).all()
        assert set(codes[train]) == set(range(classes))
        seen += list(test)
    assert len(seen) == len(set(seen))
    alone = [k for k in range(classes) if np.count_nonzero((codes == k) & (weights > 0)) == 1]
    missing = set(np.flatnonzero(weights > 0)) - set(seen)
    assert all(codes[i] in alone or np.count_nonzero(codes == codes[i]) <= 5 or len(codes) <= 9 for i in missing)


def test_temperatures():
    random = np.random.default_rng(0)
    codes = random.integers(0, 2, 20_000)
    values = random.normal(size=20_000)
    codes = (random.uniform(size=20_000) < 1 / (1 + np.exp(-3.0 * values))).astype(int)
    assert fit_temperature(values, codes, np.ones(20_000)) == pytest.approx(3.0, rel=0.05)
    assert fit_temperature(-values, codes, np.ones(20_000)) == pytest.approx(1e-3 / (np.abs(values).max() / 2))
    sure = np.array([-1.0, 1.0])
    assert 0 < fit_temperature(sure, np.array([0, 1]), np.ones(2)) < 10
    assert fit_temperature(np.zeros(0), np.zeros(0, dtype=int), np.zeros(0)) == 1.0
    doubled = fit_temperature(np.tile(values, 2), np.tile(codes, 2), np.ones(40_000))
    assert fit_temperature(values, codes, np.full(20_000, 2.0)) == pytest.approx(doubled, rel=1e-3)


def test_few_objects_strings_and_model_files(tmp_path):
    words = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg", "aaaa"]
    labels = ["x", "x", "y", "y", "x", "y", "z"]
    model = SVC(kernel=kernels.normalise(kernels.Spectrum(2)), probability=True, random_state=0).fit(words, labels)
    assert model.predict_proba(words).shape == (7, 3)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(again.predict_proba(words), model.predict_proba(words))

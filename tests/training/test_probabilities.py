"""Probabilities of margin classifiers: consistent with predictions, reproducible, calibrated, on one Gram matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn import svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVC, LinearSVC, MultipleKernelMachine, NuSVC, kernels
from mercer.errors import DataWarning
from mercer.jobs.calibration import learn
from mercer.training.folds import folds_with_every_class
from mercer.training.probabilities import evidence_of_classes, evidence_of_pairs, fit_calibration
from tests.estimators.test_svc import EXPECTED_FAILURES

# Labels are the most probable ones of the data as given, whatever the weights of classes.
KNOWN = {**EXPECTED_FAILURES, "check_class_weight_classifiers": "class_weight moves decision values, not labels"}


@pytest.mark.filterwarnings("ignore:With probability=True:mercer.errors.DataWarning")
@parametrize_with_checks([SVC(probability=True, random_state=0)], expected_failed_checks=lambda _: KNOWN)
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
    model = make(probability=True, random_state=0).fit(X[:200], y[:200])
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares > 0).all()
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(X)).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), shares)
    assert (model.calibration_.slopes >= 0).all()
    again = make(probability=True, random_state=0).fit(X[:200], y[:200])
    assert np.array_equal(again.predict_proba(X), shares)


def test_the_machine_is_the_same_with_and_without():
    X, y = noisy()
    plain, more = SVC().fit(X, y), SVC(probability=True, random_state=3).fit(X, y)
    assert np.array_equal(plain.decision_function(X), more.decision_function(X))
    assert not hasattr(plain, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        plain.predict_proba(X)


def test_the_calibration_is_that_of_cross_validated_decisions():
    """The same folds by scikit-learn's cross-validation, kernel values computed anew, and a general optimiser."""
    X, y = noisy()
    model = SVC(gamma=0.1, probability=True, random_state=7, tol=1e-6).fit(X, y)
    codes = np.searchsorted(model.classes_, y)
    splits = list(folds_with_every_class(codes, np.ones(len(y)), 7))
    values = cross_val_predict(SVC(gamma=0.1, tol=1e-6), X, y, cv=splits, method="decision_function")
    counts = np.bincount(codes)
    target = np.where(codes == 1, (counts[1] + 1) / (counts[1] + 2), 1 / (counts[0] + 2))

    def loss(parameters):  # two offsets of opposite sign, each with a prior
        odds = parameters[0] * values + 2 * parameters[1]
        lost = target * np.logaddexp(0, -odds) + (1 - target) * np.logaddexp(0, odds)
        return lost.sum() + parameters[1] ** 2

    slope, offset = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x
    with pytest.warns(FutureWarning, match="probA_"):
        assert model.probA_ == pytest.approx([-slope], rel=1e-3)
    with pytest.warns(FutureWarning, match="probB_"):
        assert model.probB_ == pytest.approx([-2 * offset], rel=1e-3, abs=1e-4)


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


def test_calibrations():
    random = np.random.default_rng(0)
    values = random.normal(size=20_000)
    codes = (random.uniform(size=20_000) < 1 / (1 + np.exp(-3.0 * values - 1.0))).astype(int)
    ones, evidence = np.ones(20_000), evidence_of_classes(values)
    found = fit_calibration(evidence, codes, ones)
    assert 2 * found.slopes[0] == pytest.approx(3.0, rel=0.05)
    assert np.diff(found.offsets) == pytest.approx(1.0, rel=0.1)
    assert fit_calibration(-evidence, codes, ones).slopes[0] == 0.0
    sure = fit_calibration(evidence_of_classes(np.array([-1.0, 1.0])), np.array([0, 1]), np.ones(2))
    assert 0 < sure.slopes[0] < 10
    nothing = fit_calibration(np.zeros((0, 3, 2)), np.zeros(0, dtype=int), np.zeros(0))
    assert nothing.slopes.tolist() == [1.0, 1.0]
    assert nothing.offsets.tolist() == [0.0] * 3
    heavy = fit_calibration(evidence, codes, 2 * ones)
    twice = fit_calibration(np.tile(evidence, (2, 1, 1)), np.tile(codes, 2), np.tile(ones, 2))
    assert heavy.slopes == pytest.approx(twice.slopes)


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_repetitions_in_calibrations(classes):
    random = np.random.default_rng(0)
    codes, weights = random.integers(0, classes, size=40), random.integers(1, 6, size=40)
    values = 2.0 * np.eye(classes)[codes] + random.normal(size=(40, classes))
    values = values[:, 1] - values[:, 0] if classes == 2 else values
    evidence, copies = evidence_of_classes(values), np.repeat(np.arange(40), weights)
    weighted = fit_calibration(evidence, codes, weights.astype(float))
    repeated = fit_calibration(evidence[copies], codes[copies], np.ones(len(copies)))
    np.testing.assert_allclose(weighted.slopes, repeated.slopes, rtol=1e-3)
    np.testing.assert_allclose(weighted.offsets, repeated.offsets, atol=1e-3)
    if classes == 2:
        curves = [
            learn(values[rows, None], codes[rows], 2, counts)
            for rows, counts in ((slice(None), weights.astype(float)), (copies, None))
        ]
        np.testing.assert_allclose(curves[0], curves[1], rtol=1e-6)


def test_evidence_of_pairs():
    """Of three classes: 0 beats 1 by 2, 2 beats 0 by 1, 1 beats 2 by 3."""
    narrowest, odds = evidence_of_pairs(np.array([[2.0, -1.0, 3.0]]), [(0, 1), (0, 2), (1, 2)], 3)[0].T
    assert narrowest.tolist() == [-1.0, -2.0, -3.0]
    assert odds == pytest.approx([-np.logaddexp(0, -4) - np.logaddexp(0, 2), -np.logaddexp(0, 4) - np.logaddexp(0, -6),
                                  -np.logaddexp(0, -2) - np.logaddexp(0, 6)])  # fmt: skip


@pytest.mark.parametrize("model", [SVC(), NuSVC(nu=0.2), LinearSVC()], ids=str)
def test_probabilities_are_those_of_the_data_as_given(model):
    """Balanced classes move the boundary, not the shares of the classes."""
    X, y = make_classification(600, 8, weights=[0.8], flip_y=0.1, random_state=1)
    model = clone(model).set_params(probability=True, class_weight="balanced", random_state=0)
    with pytest.warns(DataWarning, match="moves its decision values, not its labels"):
        model.fit(X, y)
    shares = model.predict_proba(X)
    assert shares[:, 1].mean() == pytest.approx(y.mean(), abs=0.02)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(X)).all()


def halves(X, y, seeds):
    """Random halves, scaled by the first."""
    for seed in seeds:
        known, new, labels, truth = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        scaler = StandardScaler().fit(known)
        yield scaler.transform(known), scaler.transform(new), labels, truth


def no_worse(X, y, seeds, model, peer):
    """The mean log loss of random halves is at most 1 % above that of scikit-learn's calibration in five folds."""
    ours, theirs = [], []
    for known, new, labels, truth in halves(X, y, seeds):
        found = clone(model).fit(known, labels)
        assert (found.classes_[found.predict_proba(new).argmax(axis=1)] == found.predict(new)).all()
        ours.append(log_loss(truth, found.predict_proba(new)))
        theirs.append(log_loss(truth, CalibratedClassifierCV(clone(peer), cv=5).fit(known, labels).predict_proba(new)))
    assert np.mean(ours) <= 1.01 * np.mean(theirs)


OURS = SVC(probability=True, random_state=0)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
def test_no_worse_than_calibrated_classifier_cv(load):
    X, y = load(return_X_y=True)
    no_worse(X[:600], y[:600], range(2), OURS, svm.SVC())


# The sets on which averaging five machines, as scikit-learn does, gains most come first.
@pytest.mark.realdata
@pytest.mark.parametrize(
    "name",
    ["australian", "diabetes", "a9a", "heart_scale", "splice_numeric", "ionosphere", "sonar", "fourclass", "vowel"],
)
def test_no_worse_on_real_data(name, load):
    no_worse(*at_most(1000, name, load), range(8), OURS, svm.SVC())


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["australian", "diabetes", "sonar", "vowel"])
@pytest.mark.parametrize(
    ("model", "peer"),
    [
        (NuSVC(nu=0.3, probability=True, random_state=0), svm.NuSVC(nu=0.3)),
        (MultipleKernelMachine(OURS, ["rbf", "linear"]), MultipleKernelMachine(SVC(), ["rbf", "linear"])),
    ],
    ids=["NuSVC", "MultipleKernelMachine"],
)
def test_no_worse_of_other_machines(name, model, peer, load):
    no_worse(*at_most(600, name, load), range(6), model, peer)


def at_most(n, name, load):
    """So many objects of a set, drawn at random."""
    sets = load(f"vectors/{name}")
    X, y = sets["all"] if "all" in sets else sets["train"]
    ids = np.random.default_rng(0).permutation(len(y))[:n]
    return (X[ids].toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float)[ids]), np.asarray(y)[ids]


def test_switched_on_after_fitting():
    model = SVC().fit(*noisy())
    model.probability = True
    with pytest.raises(NotFittedError, match="fitted with probability=False"):
        model.predict_proba(noisy()[0])
    assert (model.predict(noisy()[0]) == SVC().fit(*noisy()).predict(noisy()[0])).all()


def test_few_objects_strings_and_model_files(tmp_path):
    words = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg", "aaaa"]
    labels = ["x", "x", "y", "y", "x", "y", "z"]
    model = SVC(kernel=kernels.normalise(kernels.Spectrum(2)), probability=True, random_state=0).fit(words, labels)
    assert model.predict_proba(words).shape == (7, 3)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(again.predict_proba(words), model.predict_proba(words))

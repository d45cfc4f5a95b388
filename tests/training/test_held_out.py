"""Probabilities of the mean of the machine and those of its folds."""

import dataclasses

import numpy as np
import pytest
from scipy.special import softmax
from sklearn import svm
from sklearn.datasets import make_classification

import mercer
from mercer import SVC, NuSVC, blocks, kernels
from mercer._stored import from_stored, to_stored
from mercer.errors import ModelFileError
from mercer.training.folds import folds_with_every_class
from mercer.training.pairs import evidence


def noisy(classes=2, n=160):
    return make_classification(n, 6, n_informative=5, n_redundant=0, n_classes=classes, flip_y=0.1, random_state=3)


def mean_of_six(X, y, new, machine):
    """Decision values of the machine and of those of five folds, positive for the first of a pair, averaged."""
    everything = [(np.arange(len(y)), None), *folds_with_every_class(y, np.ones(len(y)), 0)]
    values = np.mean([machine.fit(X[known], y[known]).decision_function(new) for known, _ in everything], axis=0)
    return -values[:, None] if values.ndim == 1 else values


@pytest.mark.parametrize("classes", [2, 4])
def test_the_mean_of_scikit_learns_machines(classes):
    X, y = noisy(classes)
    X, y, new = X[:120], y[:120], X[120:]
    model = NuSVC(nu=0.3, gamma=0.1, probability=True, random_state=0, tol=1e-8).fit(X, y)
    peer = svm.NuSVC(nu=0.3, gamma=0.1, tol=1e-8, decision_function_shape="ovo")
    odds = model.calibration_.log_odds(evidence(mean_of_six(X, y, new, peer), classes))
    np.testing.assert_allclose(model.predict_proba(new), softmax(odds, axis=1), atol=1e-4)
    assert (model.predict(new) == model.predict_proba(new).argmax(axis=1)).all()


def test_the_machine_is_the_same():
    X, y = noisy(3)
    plain, more = NuSVC(nu=0.3).fit(X, y), NuSVC(nu=0.3, probability=True, random_state=0).fit(X, y)
    assert np.array_equal(plain.decision_function(X), more.decision_function(X))
    assert np.array_equal(plain.support_, more.support_)
    assert more.set_params(probability=False).fit(X, y)._mean is None
    assert SVC(probability=True, random_state=0).fit(X, y)._mean is None


@pytest.mark.parametrize(("mode", "repaired"), [("clip", lambda w: np.maximum(w, 0.0)), ("flip", np.abs)])
def test_repaired_matrices(mode, repaired):
    """Of training objects the probabilities are those of a machine on the repaired matrix."""
    X, y = noisy()
    K = np.tanh(X @ X.T - 1.0)
    values, vectors = np.linalg.eigh(K)
    whole = (vectors * repaired(values)) @ vectors.T
    options = {"nu": 0.4, "kernel": "precomputed", "probability": True, "random_state": 0, "tol": 1e-8}
    found = NuSVC(psd=mode, **options).fit(K, y).predict_proba(K)
    np.testing.assert_allclose(found, NuSVC(**options).fit(whole, y).predict_proba(whole), atol=1e-4)


def test_blocks_are_like_the_rows_in_memory():
    X, y = noisy(n=300)
    kernel = kernels.Nystrom(kernels.RBF(gamma=0.1), m=40, random_state=0)
    model = NuSVC(nu=0.4, kernel=kernel, probability=True, random_state=0, tol=1e-6)
    wanted = model.set_params(dual=False).fit(X, y).predict_proba(X)
    found = model.set_params(dual="auto").fit(blocks.of(X, y, rows=100)).predict_proba(X)
    assert np.mean(np.abs(found - wanted)) < 0.03  # other landmarks


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
def test_model_files(classes, sparse, tmp_path):
    from scipy.sparse import csr_array

    X, y = noisy(classes)
    X = csr_array(X) if sparse else X
    model = NuSVC(nu=0.3, probability=True, random_state=0).fit(X, y)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.decision_function(X), model.decision_function(X))


@pytest.fixture(scope="module")
def stored():
    return to_stored(NuSVC(nu=0.3, probability=True, random_state=0).fit(*noisy(3)))


def test_files_of_earlier_versions_have_the_machine_alone(stored):
    X = noisy(3)[0]
    arrays = {name: array for name, array in stored.arrays.items() if not name.startswith("mean_")}
    old = from_stored(NuSVC, dataclasses.replace(stored, arrays=arrays, objects={}))
    odds = old.calibration_.log_odds(evidence(old._decisions(X), 3))
    np.testing.assert_allclose(old.predict_proba(X), softmax(odds, axis=1))


def changed(stored, **arrays):
    return dataclasses.replace(stored, arrays={**stored.arrays, **arrays})


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"mean_coefficients": np.zeros((2, 3))}, "mean_coefficients"),
        ({"mean_intercept": np.zeros(2)}, "mean_intercept"),
        ({"mean_intercept": np.full(3, np.nan)}, "not finite"),
        ({"mean_groups": np.zeros(3, dtype=np.int32)}, "do not match"),
        ({"mean_groups": np.array([-1, 1, 0], dtype=np.int32)}, "do not match"),
    ],
)
def test_damaged_files(stored, arrays, message):
    with pytest.raises(ModelFileError, match=message):
        from_stored(NuSVC, changed(stored, **arrays))


def test_objects_that_do_not_belong_to_the_machine(stored):
    support = stored.objects["mean_support"]
    for other in (kernels.Spectrum(2).coerce(["ab"] * len(support)), kernels.RBF().coerce(support.values[:, :2])):
        with pytest.raises(ModelFileError, match="not of the same kind as its support objects"):
            from_stored(NuSVC, dataclasses.replace(stored, objects={"mean_support": other}))

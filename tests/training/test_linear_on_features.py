"""Linear machines on the features of a kernel: the same machine, its file, its probabilities."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import (
    KernelMachineClassifier,
    LinearSVC,
    LinearSVR,
    kernels,
)
from tests.training.texts import COUNTS, KERNEL, NEW, TEXTS, THREE, TWO, WEIGHTS


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("targets", [TWO, THREE], ids=["two classes", "three classes"])
def test_linear_machines_on_features(loss, targets):
    options = {"kernel": KERNEL, "tol": 1e-9, "max_iter": -1, "intercept_scaling": None}
    model = LinearSVC(loss=loss, C=0.5, **options).fit(TEXTS, targets, WEIGHTS)
    other = KernelMachineClassifier(loss, C=0.5, kernel=KERNEL, tol=1e-7, dual=True).fit(TEXTS, targets, WEIGHTS)
    np.testing.assert_allclose(model.decision_function(NEW), other.decision_function(NEW), atol=2e-3)
    assert model.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-6)
    assert model.verify(TEXTS, targets, WEIGHTS).relative_gap <= 2e-9
    assert np.array_equal(model.predict(NEW), model.classes_[_winners(model.decision_function(NEW))])
    for one, values in zip(model.explain(NEW), np.reshape(model.decision_function(NEW), (len(NEW), -1)), strict=True):
        np.testing.assert_allclose(one.contributions.sum(axis=0) + one.intercept, values, atol=1e-9)


def _winners(values):
    return (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)


MIXED = {"text": TEXTS, "a": list(COUNTS), "b": [len(text) / 10 for text in TEXTS]}
STORED = [
    (LinearSVC(kernel=KERNEL, probability=True, random_state=0), TEXTS, TWO),
    (LinearSVC(kernel="spectrum(p=3)"), TEXTS, THREE),
    (LinearSVC(kernel=kernels.Polynomial(degree=2, gamma="scale")), np.column_stack([COUNTS, THREE]), TWO),
    (LinearSVR(kernel=kernels.normalise(kernels.Spectrum(p=2))), TEXTS, COUNTS),
    (
        LinearSVR(kernel=kernels.on("text", kernels.Spectrum(p=1)) + kernels.on(["a", "b"], kernels.Linear())),
        MIXED,
        COUNTS,
    ),
]


@pytest.mark.filterwarnings("ignore::mercer.errors.KernelWarning")
@pytest.mark.parametrize(("model", "X", "y"), STORED, ids=[str(case[0])[:60] for case in STORED])
def test_linear_machines_with_kernels_are_stored(model, X, y, tmp_path):
    model = clone(model).fit(X, y)
    path = tmp_path / "model.mercer"
    mercer.save(model, path)
    for again in (mercer.load(path), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.coef_, model.coef_)
        assert again.certificate_ == model.certificate_
        if getattr(model, "probability", False):
            np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("targets", [TWO, THREE], ids=["two classes", "three classes"])
def test_probabilities_of_linear_machines_agree_with_decisions(targets):
    model = LinearSVC(kernel=KERNEL, probability=True, random_state=0).fit(TEXTS, targets)
    shares = model.predict_proba(NEW)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[shares.argmax(axis=1)], model.predict(NEW))
    np.testing.assert_allclose(np.log(shares), model.predict_log_proba(NEW))
    assert not hasattr(LinearSVC(), "predict_proba")
    again = LinearSVC(kernel=KERNEL, probability=True, random_state=0).fit(TEXTS, targets)
    assert np.array_equal(again.calibration_.slopes, model.calibration_.slopes)

"""Every estimator comes back from a file as it was."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer import kernels
from mercer.losses.quantile import Quantile
from mercer.losses.squared_hinge import SquaredHinge

X, Y = load_iris(return_X_y=True)
WORDS = ["gattaca", "gattica", "ccgcg", "cgcgc", "gattatta", "cgccg"]
MODELS = [
    (mercer.KernelLogisticRegression(C=2.0), X, Y),
    (mercer.KernelLogisticRegression(kernel=kernels.Spectrum(2)), WORDS, list("aabbab")),
    (mercer.KernelMachineClassifier(SquaredHinge(), kernel="rbf(gamma=0.5) + linear()"), X, Y == 1),
    (mercer.KernelMachineRegressor(Quantile(0.8)), X, Y.astype(float)),
    (mercer.KernelRidge(0.1, kernel="rbf"), X, np.column_stack([Y, Y + 1.0])),
    (mercer.KernelRidgeCV(kernel="rbf"), X, Y.astype(float)),
]


@pytest.mark.parametrize(("model", "objects", "targets"), MODELS, ids=lambda item: str(item)[:60])
def test_round_trip(tmp_path, model, objects, targets):
    model.fit(objects, targets)
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert np.array_equal(again.predict(objects), model.predict(objects))
    assert again.certificate_ == model.certificate_
    assert again.verify(objects, targets).primal == model.verify(objects, targets).primal
    if hasattr(model, "predict_proba"):
        assert np.array_equal(again.predict_proba(objects), model.predict_proba(objects))
    if isinstance(model, mercer.KernelRidge):
        for one, other in zip(
            again.predict(objects, return_std=True), model.predict(objects, return_std=True), strict=True
        ):
            assert np.array_equal(one, other)

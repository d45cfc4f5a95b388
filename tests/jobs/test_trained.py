"""A trained model: its file, its reasons, and what it finds strange."""

import numpy as np
import pytest

import mercer
from mercer.errors import InputError, ModelFileError
from mercer.jobs.fitting import fit, novelty_threshold
from mercer.jobs.problem import Plan
from mercer.kernels.vectors.rbf import RBF
from mercer.readers.data import NUMBER, Column, Data


def test_model_files(cancer, outcome, tmp_path):
    path = tmp_path / "m.mercer"
    mercer.save(outcome.model, path)
    model = mercer.load(path)
    assert (model.predict(cancer) == outcome.model.predict(cancer)).all()
    assert (model.predict_proba(cancer) == outcome.model.predict_proba(cancer)).all()
    assert model.about == outcome.model.about
    plain = {name: item.values.tolist() for name, item in cancer.objects.items()}
    assert (model.predict(plain) == model.predict(cancer)).all()
    chances = model.predict_proba(cancer)
    assert chances.sum(axis=1) == pytest.approx(1.0)
    assert (model.classes[chances.argmax(axis=1)] == model.predict(cancer)).mean() > 0.9
    with pytest.raises(InputError, match="no column 'c3'"):
        model.predict({name: values for name, values in plain.items() if name != "c3"})


def test_damaged_models_are_refused(outcome):
    from mercer._stored import Stored

    whole = outcome.model._to_stored()
    for change in (
        {"job_estimator": "Nothing"},
        {"job_about": "{"},
        {"job_about": '{"columns": 3}'},
        {"job_novelty": "x"},
    ):
        with pytest.raises(ModelFileError):
            type(outcome.model)._from_stored(
                Stored(whole.params, {**whole.values, **change}, whole.arrays, whole.expansion)
            )
    for change in (
        {"job_scales": -outcome.model.preparation.scales},
        {"job_fills": np.zeros(9)},
        {"job_centres": np.zeros(4, dtype=int)},
    ):
        with pytest.raises(ModelFileError):
            type(outcome.model)._from_stored(
                Stored(whole.params, whole.values, {**whole.arrays, **change}, whole.expansion)
            )


def test_strange_objects_are_noticed(cancer, outcome):
    model = outcome.model
    near = model.objects(cancer)
    assert model.unlike_training(near, model.similarities(near)).mean() < 0.05
    far = {name: (item.values * 100 + 1e4).tolist() for name, item in cancer.objects.items()}
    objects = model.objects(far)
    assert model.unlike_training(objects, model.similarities(objects)).all()


def test_columns_add_up_to_the_decision_for_the_class():
    random = np.random.default_rng(0)
    columns = {name: Column(name, NUMBER, random.normal(size=60)) for name in "abc"}
    labels = np.where(columns["a"].values * columns["b"].values > 0, "yes", "no")
    data = Data("x.csv", "csv", "table", columns, labels, "y")
    model = fit(data, Plan(folds=3, kernel="rbf", C=5.0)).model
    objects = model.objects(data)
    across = model.similarities(objects)
    predicted, values = model.predictions_from(objects, across)
    found = model.because(objects, predicted, 3)
    machine = model.estimator.expansion_
    for row in range(5):
        assert {reason.name for reason in found[row]} == set("abc")
        support = sum(reason.contribution for reason in model.reasons(across, predicted, 10**6)[row])
        total = float((across[row] * model._towards(predicted)[row]).sum())
        left = float(model._towards(predicted)[row].sum())  # of a product with no column compared
        assert sum(reason.contribution for reason in found[row]) + left == pytest.approx(total, abs=1e-9)
        assert support >= total - 1e-9
    assert len(machine.support) == across.shape[1]
    assert values is not None


def test_reasons_add_up(cancer, outcome):
    model = outcome.model
    objects = model.objects(cancer).take(np.arange(5))
    across = model.similarities(objects)
    predicted = model.estimator.predict(objects)
    towards = (across * model._towards(predicted)).sum(axis=1)
    intercept = model.estimator.expansion_.intercept[0] * np.where(predicted == model.classes[0], 1, -1)
    assert np.abs(towards + intercept) == pytest.approx(np.abs(model.decisions(objects)[:, 0]))
    assert (towards + intercept >= 0).all()
    first = model.reasons(across, predicted, 3)[0]
    assert [reason.contribution for reason in first] == sorted((reason.contribution for reason in first), reverse=True)


def test_novelty_is_measured_from_other_objects():
    """An object is its own nearest: counted, half of the distances would be zero, and ordinary objects strange."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    model = mercer.SVC(kernel=RBF(gamma=0.5), C=0.01).fit(X, X[:, 0] > 0)  # nearly all support it
    objects = model.kernel_.kernel.coerce(X)
    gram = model.kernel_(X, X[model.support_])
    distances = np.sqrt(np.maximum(2.0 - 2.0 * gram, 0.0))
    distances[model.support_, np.arange(len(model.support_))] = np.inf
    expected = np.quantile(distances.min(axis=1), 0.99)
    assert novelty_threshold(model, objects) == pytest.approx(expected)
    assert np.median(distances.min(axis=1)) > 0.02


def test_same_seed_same_model(cancer):
    first, second = (fit(cancer, Plan(folds=3, search_size=100, seed=5)) for _ in range(2))
    assert first.estimate == second.estimate
    assert (first.model.estimator.expansion_.coefficients == second.model.estimator.expansion_.coefficients).all()
    assert len(first.search.rows) == 100

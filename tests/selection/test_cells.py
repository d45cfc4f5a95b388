"""Machines in cells: what each answers, files, probabilities and refusals."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import cross_val_score

import mercer
from mercer import SVC, SVR, Cells, KernelPCA, KernelRidge, LinearSVC, kernels
from mercer.errors import InputError, ParameterError
from mercer.training.voronoi import nearest, nearest_few

RNG = np.random.default_rng(0)
X, NEW = RNG.uniform(size=(1200, 2)), RNG.uniform(size=(300, 2))


def board(points, fields=5):
    return np.floor(fields * points).astype(int).sum(axis=1) % 2


SIGNS, CLASSES, NUMBERS = board(X), np.floor(3 * X[:, 0]).astype(int), np.sin(9 * X[:, 0])
NARROW = SVC(C=100.0, gamma=40.0)


def test_each_object_is_answered_by_a_machine_trained_on_its_cell_alone():
    model = Cells(NARROW, size=300, random_state=1).fit(X, SIGNS)
    training = nearest(model.kernel_, model.kernel_.coerce(X), model.centres_)
    where = nearest(model.kernel_, model.kernel_.coerce(NEW), model.centres_)
    assert len(model.estimators_) > 2
    for cell in range(len(model.estimators_)):
        alone = clone(NARROW).fit(X[training == cell], SIGNS[training == cell])
        np.testing.assert_allclose(
            model.decision_function(NEW)[where == cell], alone.decision_function(NEW[where == cell]), atol=1e-6
        )
        np.testing.assert_array_equal(model.predict(NEW)[where == cell], alone.predict(NEW[where == cell]))
    assert model.sizes_.tolist() == np.bincount(training).tolist()
    assert model.score(NEW, board(NEW)) > 0.85
    assert model.certificate_.relative_gap < 1e-2


def test_one_cell_is_the_machine_itself():
    whole = clone(NARROW).fit(X, SIGNS)
    model = Cells(NARROW, size=5000).fit(X, SIGNS)
    np.testing.assert_allclose(model.decision_function(NEW), whole.decision_function(NEW), atol=1e-9)


def test_neighbours_are_trained_on_in_the_cells_with_the_next_centres(tmp_path):
    model = Cells(NARROW, size=300, neighbours=1, random_state=1).fit(X, SIGNS)
    fitted, objects = model.kernel_, model.kernel_.coerce(X)
    away = np.linalg.norm(X[:, None] - model.centres_.values[None], axis=2)
    near = away.argsort(axis=1)[:, :2]
    np.testing.assert_array_equal(nearest_few(fitted, objects, model.centres_, 2), near)
    where = nearest(fitted, fitted.coerce(NEW), model.centres_)
    for cell in range(len(model.estimators_)):
        seen = (near == cell).any(axis=1)
        alone = clone(NARROW).fit(X[seen], SIGNS[seen])
        np.testing.assert_allclose(
            model.decision_function(NEW)[where == cell], alone.decision_function(NEW[where == cell]), atol=1e-6
        )
        assert model.sizes_[cell] == seen.sum()
    plain = Cells(NARROW, size=300, random_state=1).fit(X, SIGNS)
    whole = clone(NARROW).fit(X, SIGNS).decision_function(NEW)
    apart = [np.abs(np.clip(one.decision_function(NEW) - whole, -1, 1)).mean() for one in (model, plain)]
    assert apart[0] < 0.5 * apart[1]  # nearer to the exact machine
    mercer.save(model, tmp_path / "cells.mercer")
    again = mercer.load(tmp_path / "cells.mercer")
    np.testing.assert_array_equal(again.decision_function(NEW), model.decision_function(NEW))
    assert again.neighbours == 1
    many = Cells(NARROW, size=300, neighbours=99).fit(X, SIGNS)  # every cell has all objects
    np.testing.assert_allclose(many.decision_function(NEW), whole, atol=1e-4)


def test_a_kernel_that_depends_on_data_is_fitted_to_all_objects_once():
    model = Cells(SVC(C=10.0), size=300, random_state=0).fit(X, SIGNS)
    wanted = kernels.RBF(gamma="scale").fit(X).state.number("gamma")
    assert {machine.kernel_.state.number("gamma") for machine in model.estimators_} == {wanted}


def test_numbers_one_or_several():
    for learner in (KernelRidge(0.01, kernel="rbf", gamma=20.0), SVR(C=10.0, gamma=20.0, epsilon=0.01)):
        model = Cells(learner, size=200, random_state=0).fit(X, NUMBERS)
        assert model.score(NEW, np.sin(9 * NEW[:, 0])) > 0.99
        assert not hasattr(model, "decision_function")
    both = Cells(KernelRidge(0.01, kernel="rbf", gamma=20.0), size=200).fit(X, np.column_stack([NUMBERS, -NUMBERS]))
    assert both.predict(NEW).shape == (300, 2)


def test_classes_that_a_cell_lacks_come_last_and_constant_cells_are_sure():
    model = Cells(NARROW, size=150, random_state=0).fit(X, CLASSES)
    assert any(machine is None for machine in model.estimators_)
    values = model.decision_function(NEW)
    assert values.shape == (300, 3)
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(model.classes_[values.argmax(axis=1)], model.predict(NEW))
    assert model.score(NEW, np.floor(3 * NEW[:, 0]).astype(int)) > 0.95


@pytest.mark.parametrize(("n_classes", "neighbours"), [(2, 0), (3, 0), (2, 1)])
def test_probabilities_are_calibrated_over_all_cells(n_classes, neighbours):
    rng = np.random.default_rng(2)

    def noisy(points):
        labels = board(points, 3) if n_classes == 2 else np.floor(3 * points[:, 0]).astype(int)
        return np.where(rng.uniform(size=len(points)) < 0.3, rng.integers(0, n_classes, len(points)), labels)

    points, rows = rng.uniform(size=(3000, 2)), rng.uniform(size=(2400, 2)) if neighbours else X
    model = Cells(SVC(gamma=10.0), 300, neighbours=neighbours, probability=True, random_state=0).fit(rows, noisy(rows))
    found, y = model.predict_proba(points), noisy(points)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(points))
    sure, right = found.max(axis=1), model.predict(points) == y
    assert abs(sure.mean() - right.mean()) < 0.06
    assert right[sure > np.median(sure)].mean() > right[sure <= np.median(sure)].mean() + 0.05
    with pytest.raises(AttributeError, match="predict_proba"):
        Cells(SVC()).predict_proba  # noqa: B018


def test_weights_of_objects_reach_the_machines():
    heavy = np.where(X[:, 0] < 0.5, 1.0, 1e-9)
    model = Cells(KernelRidge(0.1, kernel="rbf", gamma=20.0), size=300).fit(X, NUMBERS, sample_weight=heavy)
    left = NEW[:, 0] < 0.4
    predicted, wanted = model.predict(NEW), np.sin(9 * NEW[:, 0])
    assert np.abs(predicted - wanted)[left].max() < 0.1 < np.abs(predicted - wanted)[NEW[:, 0] > 0.7].max()


def test_results_are_the_same_for_any_number_of_threads(monkeypatch):
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        found.append(Cells(NARROW, size=150, random_state=0).fit(X, SIGNS).decision_function(NEW))
    np.testing.assert_array_equal(*found)


def test_it_is_an_estimator_of_scikit_learn():
    assert is_classifier(Cells(SVC()))
    assert is_regressor(Cells(SVR()))
    assert cross_val_score(Cells(NARROW, size=300), X, SIGNS, cv=3).mean() > 0.8
    assert clone(Cells(NARROW, size=7)).size == 7


def test_refusals():
    for bad in (
        Cells("svc"),
        Cells(KernelPCA()),
        Cells(LinearSVC()),
        Cells(SVC(), size=1),
        Cells(SVC(), neighbours=-1),
        Cells(SVR(), probability=True),
    ):
        with pytest.raises(ParameterError, match="Cells"):
            bad.fit(X, SIGNS)
    with pytest.raises(InputError):
        Cells(SVC()).fit(X, SIGNS[:-1])
    with pytest.raises(InputError):
        Cells(SVC()).fit(X, np.zeros(len(X)))

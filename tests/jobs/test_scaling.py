"""How the final machine is trained on very many objects, and how that is chosen."""

import dataclasses

import numpy as np
import pytest

import mercer
from mercer import kernels
from mercer.jobs import growing, scaling
from mercer.jobs.answers import Columns, answers
from mercer.jobs.checkpoint import Checkpoint
from mercer.jobs.code import equivalent
from mercer.jobs.fitting import fit
from mercer.jobs.load import Load
from mercer.jobs.problem import Plan
from mercer.jobs.ways import CELLS, EXACT, LANDMARKS, Way, affordable
from mercer.jobs.widths import narrower
from mercer.readers import Options
from mercer.readers.data import Data
from mercer.report import write
from mercer.selection.learner import Learner

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(8000, 2))
SMOOTH = np.where(np.sin(3 * X[:, 0]) + X[:, 1] + 0.2 * RNG.normal(size=len(X)) > 1.2, "up", "down")
BOARD = np.array(["a", "b"])[np.floor(8 * X).astype(int).sum(axis=1) % 2]
FINE = np.array(["a", "b"])[np.floor(20 * X).astype(int).sum(axis=1) % 2]
THREE = np.array(["a", "b", "c"])[np.floor(8 * X).astype(int).sum(axis=1) % 3]
NUMBERS = np.sin(9 * X[:, 0]) + 0.1 * RNG.normal(size=len(X))
FIRST = Plan(kernel="rbf(gamma=30)", C=10.0, folds=2, search_size=1500, scale=False)


def data(y, **more):
    return Data("rows", "npy", "vectors", X, y, "y", **more)


def one_by_one(monkeypatch, kind):
    """Make one way the only one."""
    chosen = {CELLS: Way(CELLS, 2000), LANDMARKS: Way(LANDMARKS, 300)}
    monkeypatch.setattr(scaling, "PATIENCE", 1e-9)
    monkeypatch.setattr(scaling, "NEVER", 0.0)
    monkeypatch.setattr(scaling, "affordable", lambda *given: [chosen[kind]])


def test_few_objects_are_trained_exactly():
    found = fit(data(SMOOTH), Plan(kernel="rbf(gamma=3)", C=1.0, folds=2, search_size=1500))
    assert (str(found.trained.way), found.trained.why, found.model.about["way"]) == ("exact", "", "exact")


@pytest.mark.parametrize(
    ("y", "kernel", "kind"),
    [("smooth", "rbf(gamma=0.02)", LANDMARKS), ("rugged", "rbf(gamma=500)", CELLS)],
    ids=["smooth", "rugged"],
)
def test_what_is_worth_more_at_what_cost_decides(y, kernel, kind, monkeypatch):
    monkeypatch.setattr(scaling, "PATIENCE", 1e-9)
    monkeypatch.setattr(scaling, "NEVER", 0.0)
    many = np.random.default_rng(1).normal(size=(8000, 10))
    signs = np.where(np.sin(many[:, 0]) + many[:, 1] * many[:, 2] > 0, "up", "down")
    rows = {"smooth": Data("rows", "npy", "vectors", many, signs, "y"), "rugged": data(FINE)}[y]
    found = fit(rows, Plan(kernel=kernel, C=10.0, folds=2, search_size=1500, scale=False))
    assert found.trained.way.kind == kind, found.trained.why
    rounds = found.trained.growth.rounds
    assert len(rounds) > 1
    assert {one.setting.way.kind for part in rounds for one in part} == {CELLS, LANDMARKS}  # not what takes too long
    assert found.trained.why in found.notes
    assert "An exact machine on 7,200 objects would take about" in found.trained.why
    assert f"the model was trained {'on' if kind == LANDMARKS else 'in'} {found.trained.way}" in found.trained.why


def test_kernels_with_features_are_trained_on_these(monkeypatch):
    monkeypatch.setattr(scaling, "PATIENCE", 1e-9)
    found = fit(data(SMOOTH), Plan(kernel="linear", C=1.0, folds=2, search_size=1500))
    assert found.trained.way.kind == EXACT
    assert found.trained.growth is None


def test_labels_in_cells_that_know_some_of_the_classes_are_those_of_their_machines(monkeypatch):
    one_by_one(monkeypatch, CELLS)
    blurred = np.clip(X[:, 0] + 0.03 * RNG.normal(size=len(X)), 0.0, 0.999)
    stripes = np.array(list("abcdefg"))[(7 * blurred).astype(int)]  # a stripe for each class: no cell has all
    found = fit(data(stripes), FIRST)
    estimator, model = found.model.estimator, found.model
    assert min(len(one.classes_) for one in estimator.estimators_) < 7
    np.testing.assert_array_equal(model.predict(X[:500]), estimator.predict(model.objects(X[:500])))
    right = np.mean(model.predict(X[found.held_out]) == stripes[found.held_out])
    assert found.estimate.value == pytest.approx(right, abs=0.02)


@pytest.mark.parametrize("y", [BOARD, THREE, NUMBERS], ids=["two classes", "three classes", "numbers"])
def test_a_model_in_cells_is_a_model_like_any_other(y, monkeypatch, tmp_path):
    one_by_one(monkeypatch, CELLS)
    # So that numbers are learnt as those of more objects are.
    monkeypatch.setattr("mercer.selection.learner.LARGEST_RIDGE", 100)
    found = fit(data(y), FIRST)
    assert isinstance(found.model.estimator, mercer.Cells)
    path = tmp_path / "model.mercer"
    mercer.save(found.model, path)
    model = mercer.load(path)
    np.testing.assert_array_equal(model.predict(X), found.predict(X))
    said = answers(model, model.objects(X[:50]), [str(row) for row in range(50)], Columns(reasons=2))
    assert [one["prediction"] for one in said] == model.predict(X[:50]).tolist()
    assert sum(one["unlike_training"] for one in said) <= 5
    far = answers(model, model.objects(X[:1] + 50.0), ["far"], Columns())
    assert far[0]["unlike_training"]
    named = [int(one["reasons"][0]["object"]) - 1 for one in said if one["reasons"]]
    assert len(named) > 40  # rows of the file, near those that they are reasons for
    where = [place for place, one in enumerate(said) if one["reasons"]]
    assert np.median(np.linalg.norm(X[named] - X[where], axis=1)) < 0.1
    report = tmp_path / "report.html"
    write(found, str(report))
    assert "From a sample to all objects" in report.read_text()
    assert "Cells(" in equivalent(found, "rows.npy", Options())
    if y is not NUMBERS:
        assert np.allclose(model.predict_proba(X[:9]).sum(axis=1), 1.0)


@pytest.mark.parametrize("y", [BOARD, NUMBERS], ids=["classes", "numbers"])
def test_a_model_on_landmarks_keeps_these_alone(y, monkeypatch, tmp_path):
    one_by_one(monkeypatch, LANDMARKS)
    monkeypatch.setattr("mercer.selection.learner.LARGEST_RIDGE", 100)
    found = fit(data(y), FIRST)
    assert found.model.about["support"] == len(found.support) == 300
    np.testing.assert_array_equal(found.model.machine.expansion.support.values, X[found.support])
    mercer.save(found.model, tmp_path / "model.mercer")
    np.testing.assert_allclose(
        *(model.predict(X[:9]) if y is NUMBERS else model.predict_proba(X[:9])
          for model in (mercer.load(tmp_path / "model.mercer"), found)), rtol=1e-4,
    )  # fmt: skip
    assert "nystrom(" in found.model.about["kernel"]
    assert "blocks.of(" in equivalent(found, "rows.npy", Options())
    if y is NUMBERS:
        assert (found.model.machine.name, found.model.about["penalty_name"]) == ("KernelRidgeCV", "alpha")
        assert found.model.about["penalty"] == found.model.estimator.alpha_


def test_an_exact_machine_is_compared_where_it_can_be_afforded(monkeypatch):
    one_by_one(monkeypatch, CELLS)
    monkeypatch.setattr(scaling, "NEVER", 1e9)
    rounds = fit(data(BOARD), FIRST).trained.growth.rounds
    assert {one.setting.way.kind for found in rounds for one in found} == {CELLS, EXACT}


@pytest.mark.parametrize("y", [SMOOTH, NUMBERS], ids=["classes", "numbers"])
def test_what_was_compared_before_a_kill_is_not_trained_again(y, monkeypatch, tmp_path):
    one_by_one(monkeypatch, LANDMARKS)
    path, plan = str(tmp_path / "model.partial"), dataclasses.replace(FIRST, search_size=600)
    first = fit(data(y), plan, checkpoint=Checkpoint(path, resume=False))
    assert first.trained.growth.rounds
    monkeypatch.setattr(growing, "_scored", None)  # would be an error
    again = fit(data(y), plan, checkpoint=Checkpoint(path, resume=True))
    assert again.trained.why == first.trained.why
    np.testing.assert_array_equal(again.model.predict(X[:50]), first.model.predict(X[:50]))
    if y is not NUMBERS:
        np.testing.assert_array_equal(again.model.predict_proba(X[:50]), first.model.predict_proba(X[:50]))


def test_groups_are_not_parted_and_times_not_turned_round():
    groups = np.repeat(np.arange(80).astype(str), 100)
    problem = scaling_problem(groups=groups)
    tested = growing._tested(problem, np.arange(8000))
    assert 700 <= len(tested) <= 900
    assert not set(groups[tested]) & set(groups[np.setdiff1d(np.arange(8000), tested)])
    problem = scaling_problem(times=np.arange(8000.0)[::-1].copy())
    assert growing._tested(problem, np.arange(8000)).tolist() == list(range(800))


def scaling_problem(**more):
    from mercer.jobs.problem import prepare

    return prepare(data(BOARD, **more), FIRST, ("rbf(gamma=30)",))


def test_widths_and_penalties_are_searched_unless_the_user_has_decided():
    ways = [Way(CELLS, 2000)]
    fixed = growing.begin(scaling_problem(), ways, kernels.RBF(gamma=30.0), 10.0)
    assert [(str(one.kernel), one.penalty) for one in fixed] == [("rbf(gamma=30.0)", 10.0)]
    from mercer.jobs.problem import prepare

    free = growing.begin(prepare(data(BOARD), Plan(search_size=1500)), ways, kernels.RBF(gamma=30.0), 10.0)
    assert len({(one.kernel, one.penalty) for one in free}) == len(free) == 6


def test_all_widths_of_a_kernel_change_together():
    both = 0.5 * kernels.RBF(gamma=(1.0, 2.0)) * kernels.Laplacian(gamma=0.3) + kernels.Linear()
    assert str(narrower(both, 4.0)) == str(
        0.5 * kernels.RBF(gamma=(4.0, 8.0)) * kernels.Laplacian(gamma=1.2) + kernels.Linear()
    )
    assert narrower(kernels.Linear(), 4.0) is None
    assert narrower(kernels.Linear(), 1.0) == kernels.Linear()


def test_costs_grow_as_they_do():
    load = Load.of(data(BOARD), kernels.RBF().coerce(X), Learner.for_task("classification", BOARD), BOARD)
    assert load.exact(200_000) == pytest.approx(4 * load.exact(100_000), rel=0.01)
    measured = {5_000: 0.15, 20_000: 2.7, 100_000: 55.0}  # forest cover, 54 columns, C = gamma = 32, on two cores
    counted = Load(54 * 0.2e-9, load.form)
    assert all(0.7 < counted.exact(n) / seconds < 1.5 for n, seconds in measured.items())
    for way in (Way(CELLS, 2000), Way(LANDMARKS, 300)):
        assert way.seconds(2_000_000, load) < 2.5 * way.seconds(1_000_000, load)
    assert [way.size for way in affordable(1_000_000, load, 0.0)] == [2000, 300]
    assert len(list(affordable(1_000_000, load, 1e9))) == 5

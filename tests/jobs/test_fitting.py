"""From data to a trained model: choices, and what is kept."""

import contextlib
import dataclasses
import io
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import mercer
from mercer.datasets import make_dna
from mercer.errors import DataFileError, InputError
from mercer.jobs.checkpoint import mark_of
from mercer.jobs.code import equivalent
from mercer.jobs.fitting import fit
from mercer.jobs.problem import Plan, prepare, task_of
from mercer.readers import Options, read
from mercer.readers.data import Data
from mercer.selection.learner import LARGEST_RIDGE, PENALTIES
from tests.jobs.tables import column, table


def test_scores_are_those_of_an_ordinary_cross_validation(cancer, outcome):
    trial = outcome.search.best
    objects = outcome.model.preparation(cancer)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    X = np.column_stack([objects._raw[name] for name in objects.columns])
    model = mercer.SVC(kernel=mercer.kernels.RBF(gamma=0.2), C=trial.penalty)
    expected = cross_val_predict(model, X, cancer.labels, cv=folds)
    assert (expected == trial.predicted).mean() > 0.99  # ties within the solver's tolerance
    assert len(outcome.search.trials) == len(PENALTIES)


def test_numbers_are_standardised_and_kept(cancer, outcome):
    prepared = outcome.model.preparation
    values = cancer.objects["c0"].values
    assert prepared.centres[0] == pytest.approx(values.mean())
    assert prepared.scales[0] == pytest.approx(values.std())
    for name, item in cancer.objects.items():
        assert prepared(cancer)._raw[name] == pytest.approx((item.values - item.values.mean()) / item.values.std())
    assert not fit(cancer, Plan(kernel="linear", C=1.0, scale=False, folds=2)).model.preparation.standardised


def test_regression():
    X, y = load_diabetes(return_X_y=True)
    data = table(y[:200] + 0.5, **{f"c{number}": X[:200, number].tolist() for number in range(5)})
    found = fit(data, Plan(folds=3))
    assert found.problem.task == "regression"
    assert 0.2 < found.estimate.value < 0.7
    assert "variance" in found.verdict


def test_regression_learns_from_many_rows_and_is_scored_on_others():
    random = np.random.default_rng(0)
    X = random.normal(size=(LARGEST_RIDGE + 500, 2))
    y = 100 * np.sin(X[:, 0]) + 1000 + 10 * random.normal(size=len(X))
    data = table(y, a=X[:, 0].tolist(), b=X[:, 1].tolist())
    found = fit(data, Plan(kernel="rbf(gamma=0.3)", folds=3, search_size=400))
    assert len(found.held_out) == found.model.about["scored_on"] == 1050
    assert found.model.about["trained_on"] == len(y) - 1050
    assert not set(found.held_out) & (set(found.search.rows) | set(found.support))
    assert found.model.about["searched_on"] == 400
    assert found.support.max() > LARGEST_RIDGE
    assert found.estimate.value > 0.95
    assert found.model.about["penalty_name"] == "C"
    assert np.corrcoef(found.model.predict({"a": X[:50, 0], "b": X[:50, 1]}), y[:50])[0, 1] > 0.98
    assert any("Kernels were compared on 400 of 10,500 objects, a random sample" in note for note in found.notes)
    assert any("on 1,050 objects that it was not trained on" in note for note in found.notes)
    predicted = found.model.predict({"a": X[found.held_out, 0], "b": X[found.held_out, 1]})
    assert found.estimate.value == pytest.approx(r2_score(y[found.held_out], predicted))


def test_a_penalty_that_is_given_is_used(cancer):
    found = fit(cancer, Plan(kernel="10*rbf(gamma=0.2)", C=3.0, folds=2))
    assert found.search.best.penalty == 3.0
    assert found.model.estimator.C == 3.0


def test_mixed_tables_and_gaps():
    random = np.random.default_rng(1)
    colour = random.choice(["red", "blue"], 90)
    mass = random.normal(size=90)
    y = np.where((mass > 0) ^ (colour == "red"), "yes", "no")
    data = table(y, mass=mass.tolist(), colour=list(colour))
    found = fit(data, Plan(folds=3))
    assert found.estimate.value > 0.8
    assert "colour" in str(found.search.best.kernel)
    holes = table(y, mass=[float("nan"), *mass[1:].tolist()], colour=list(colour))
    with pytest.raises(DataFileError, match=r't.csv:2: column "mass": 1 of 90 values are missing') as caught:
        fit(holes, Plan(impute=False))
    assert "--no-impute" in caught.value.__notes__[0]
    filled = fit(holes, Plan(kernel="linear", C=1.0, folds=2))
    assert filled.model.preparation.fills[0] == pytest.approx(np.median(mass[1:]))
    assert '1 missing value in 1 column filled (numbers by the median): "mass".' in filled.notes


def test_strings_and_time_limits():
    sequences, labels = make_dna(60, random_state=0)
    data = Data("s.fa", "fasta", "strings", sequences, labels)
    found = fit(data, Plan(folds=2, time_limit=0.02))
    assert found.search.unfinished
    assert any("time limit" in note for note in found.notes)
    assert len(found.search.by_kernel()) >= 1


def test_tasks():
    notes = []
    assert task_of(np.array(["a", "b", "a"]), "auto", notes) == "classification"
    assert task_of(np.array([0, 1] * 10), "auto", notes) == "classification"
    assert task_of(np.arange(50), "auto", notes) == "regression"
    assert task_of(np.linspace(0, 1, 50), "auto", notes) == "regression"
    with pytest.raises(InputError, match="right column"):
        task_of(np.array([f"n{number}" for number in range(50)]), "auto", notes)
    with pytest.raises(InputError, match="needs numbers"):
        task_of(np.array(["a", "b"]), "regression", notes)


@pytest.mark.parametrize(
    ("labels", "message"),
    [(["a"] * 10, "All 10 objects have the label"), (["a"] * 9 + ["b"], "The class 'b' has 1 object")],
)
def test_labels_that_cannot_be_learnt(labels, message):
    with pytest.raises(InputError, match=message):
        fit(table(np.array(labels), a=list(range(10))), Plan(task="classification"))


def test_shown_code_runs_and_does_the_same(tmp_path, monkeypatch):
    rows = ["mass,colour,pet"] + [
        f"{number % 7},{'black' if number % 3 else 'red'},{'cat' if number % 7 < 4 else 'dog'}" for number in range(40)
    ]
    path = tmp_path / "pets.csv"
    path.write_text("\n".join(rows))
    options = Options(target="pet")
    found = fit(read(path, options), Plan(folds=2))
    names: dict[str, object] = {}
    with warnings.catch_warnings(), monkeypatch.context() as patch:
        warnings.simplefilter("error")
        patch.setattr("sys.stdout", io.StringIO())
        exec(equivalent(found, str(path), options), names)
    ours = found.model.estimator
    assert (names["model"].expansion_.coefficients == ours.expansion_.coefficients).all()


def test_balanced_classes_count_alike_in_the_choice_of_a_setting():
    """A rare class that only a fine kernel finds: by plain accuracy, ignoring it is best."""
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 2))
    y = np.where(random.random(300) < 0.08, "rare", "common")
    X[y == "rare"] += 1.2
    data = table(y, a=X[:, 0].tolist(), b=X[:, 1].tolist())
    plain, balanced = fit(data, Plan()), fit(data, Plan(balanced=True))
    assert balanced.estimate.name == "balanced accuracy"
    assert balanced.model.estimator.class_weight == "balanced"
    assert plain.model.estimator.class_weight is None
    scores = [trial.score for trial in balanced.search.trials]
    best = balanced.search.best
    assert best.score == max(scores)
    found = recall(y, best.predicted)
    assert best.score == pytest.approx(np.mean(list(found.values())), abs=0.05)
    assert found["rare"] > recall(y, plain.search.best.predicted)["rare"]


def recall(y, predicted):
    predicted = np.asarray(predicted)
    return {label: float((predicted[y == label] == label).mean()) for label in np.unique(y)}


@pytest.mark.parametrize("part", ["labels", "weights", "groups", "times", "objects"])
def test_the_mark_of_a_search_knows_all_that_it_depends_on(part):
    data = table([0, 1] * 10, a=[float(n) for n in range(20)], b=[float(n % 3) for n in range(20)])
    data = dataclasses.replace(data, weights=np.ones(20), groups=np.arange(20) // 2, times=np.arange(20.0))
    other = data.objects | {"b": column("b", [float(n % 4) for n in range(20)])}
    # Of the same type: labels that are floats would be another task, and change the plan as well.
    values = other if part == "objects" else np.roll(getattr(data, part), 1)
    values = np.linspace(1.0, 2.0, 20) if part == "weights" else values
    changed = dataclasses.replace(data, **{part: values})
    marks = [mark_of(prepare(one, Plan(), ["rbf"])) for one in (data, data, changed)]
    assert marks[0] == marks[1] != marks[2]


def test_a_class_of_one_object_is_left_out(tmp_path):
    path = tmp_path / "few.csv"
    rows = [f"{i % 5},{(i * 7) % 11},{'ab'[i % 2]}" for i in range(30)]
    path.write_text("\n".join(["u,v,label", *rows[:7], "3,3,c", *rows[7:]]) + "\n")
    outcome = fit(read(path), Plan(kernel="rbf(gamma=0.5)", C=1.0, folds=2))
    assert outcome.model.classes.tolist() == ["a", "b"]
    assert [note for note in outcome.notes if "left out" in note.lower()] == [
        'Left out: the class that has one object, "c". Two are needed to learn from one and try the other.'
    ]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(equivalent(outcome, str(path), Options()), {})  # the same machine
    assert said.getvalue().strip() == str(outcome.model.machine.predict(outcome.problem.objects)[:5])

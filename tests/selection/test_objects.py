"""Tables as dictionaries, strings and graphs in scikit-learn's tools: as on the objects themselves."""

import networkx as nx
import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.semi_supervised import SelfTrainingClassifier

import mercer
from mercer import SVC, KernelSearchCV, kernels
from mercer.errors import InputError
from mercer.inputs.tables import Table

RANDOM = np.random.default_rng(0)
N = 36
WORDS = ["".join(RANDOM.choice(list("ACGT"), 8)) for _ in range(N)]
Y = np.array([word.count("A") + word.count("C") > 3 for word in WORDS]).astype(int)
TABLE = {"dna": WORDS, "age": RANDOM.normal(size=N) + Y, "bmi": RANDOM.normal(size=N).tolist()}
GRAPHS = [nx.gnp_random_graph(6, 0.3 + 0.3 * label, seed=seed) for seed, label in enumerate(Y)]
KINDS = {
    "table": (TABLE, kernels.on("dna", kernels.Spectrum(2)) + kernels.on(["age", "bmi"], kernels.RBF())),
    "words": (WORDS, kernels.Spectrum(2)),
    "graphs": (GRAPHS, kernels.ShortestPath()),
}
FOLDS = StratifiedKFold(3)


def taken(objects, index):
    return {name: [column[i] for i in index] for name, column in objects.items()} if isinstance(objects, dict) else [
        objects[i] for i in index
    ]  # fmt: skip


def scores(objects, kernel, C=1.0):
    """The obvious way, without scikit-learn's loops."""
    found = []
    for train, test in FOLDS.split(np.zeros(N), Y):
        model = SVC(kernel=kernel, C=C).fit(taken(objects, train), Y[train])
        found.append(float((model.predict(taken(objects, test)) == Y[test]).mean()))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_cross_validation(kind):
    objects, kernel = KINDS[kind]
    X = mercer.objects(objects)
    assert (X.shape, X.dtype) == ((N, 1), object)
    assert cross_val_score(SVC(kernel=kernel), X, Y, cv=FOLDS).tolist() == scores(objects, kernel)
    search = GridSearchCV(SVC(kernel=kernel), {"C": [0.1, 1.0]}, cv=FOLDS).fit(X, Y)
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(scores(objects, kernel)))
    assert cross_val_predict(SVC(kernel=kernel), X, Y, cv=FOLDS).shape == (N,)
    assert learning_curve(SVC(kernel=kernel), X, Y, cv=FOLDS, train_sizes=[0.5, 1.0])[2].shape == (2, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_searches_take_the_objects_as_they_are(kind):
    objects, kernel = KINDS[kind]
    grid = {"C": [0.1, 1.0]}
    wanted = [np.mean(scores(objects, kernel, C)) for C in grid["C"]]
    for X in (objects, mercer.objects(objects)):
        search = KernelSearchCV(SVC(kernel=kernel), grid, cv=FOLDS).fit(X, Y)
        np.testing.assert_allclose(search.cv_results_["mean_test_score"], wanted)
        assert search.predict(X).shape == (N,)
    plain, array = (
        mercer.nested_cross_validate(KernelSearchCV(SVC(kernel=kernel), grid, cv=2), X, Y, cv=FOLDS)
        for X in (objects, mercer.objects(objects))
    )
    assert plain.mean == array.mean


TOOLS = {
    "bagging": lambda machine: BaggingClassifier(machine, 3, random_state=0),
    "boosting": lambda machine: AdaBoostClassifier(machine, n_estimators=3, random_state=0),
    "one against the rest": OneVsRestClassifier,
    "voting": lambda machine: VotingClassifier([("one", machine), ("two", machine)]),
    "stacking": lambda machine: StackingClassifier([("one", machine)], cv=3),
    "calibration": lambda machine: CalibratedClassifierCV(machine, cv=3),
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("kind", KINDS)
def test_tools(kind, tool):
    objects, kernel = KINDS[kind]
    X = mercer.objects(objects)
    model = TOOLS[tool](SVC(kernel=kernel)).fit(X, Y)
    assert model.score(X, Y) > 0.5
    assert (model.predict(X[:5]) == model.predict(X)[:5]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_several_outputs_and_importance(kind):
    objects, kernel = KINDS[kind]
    X = mercer.objects(objects)
    both = np.column_stack([Y, 1 - Y])
    assert MultiOutputClassifier(SVC(kernel=kernel)).fit(X, both).predict(X).shape == (N, 2)
    model = SVC(kernel=kernel, C=10.0).fit(X, Y)
    found = permutation_importance(model, X, Y, n_repeats=5, random_state=0)
    assert found.importances_mean.shape == (1,)
    assert found.importances_mean[0] > 0  # objects in another order answer for others


@pytest.mark.parametrize("kind", KINDS)
def test_tools_that_take_numbers_alone(kind):
    objects, kernel = KINDS[kind]
    X, numbered = mercer.indexed(objects, kernel)
    machine = SVC(kernel=numbered)
    three = np.arange(N) % 3
    assert OneVsOneClassifier(machine).fit(X, three).predict(X).shape == (N,)
    both = np.column_stack([Y, 1 - Y])
    assert ClassifierChain(machine).fit(X, both).predict(X).shape == (N, 2)
    some = np.where(np.arange(N) < 9, -1, Y)
    assert SelfTrainingClassifier(SVC(kernel=numbered, probability=True)).fit(X, some).score(X, Y) > 0.5


def test_rows_of_a_table():
    rows = mercer.objects(TABLE)[:, 0].tolist()
    assert rows[3] == {"dna": WORDS[3], "age": TABLE["age"][3], "bmi": TABLE["bmi"][3]}
    kernel = KINDS["table"][1]
    model = SVC(kernel=kernel).fit(TABLE, Y)
    for form in (rows, mercer.objects(TABLE), np.array(rows, dtype=object), Table(TABLE)):
        assert (model.decision_function(form) == model.decision_function(TABLE)).all()
    with pytest.raises(InputError, match=r"row 1 has \['age', 'dna'\]"):
        model.predict([rows[0], {"dna": "A", "age": 1.0}])


def test_frames():
    pandas = pytest.importorskip("pandas")
    kernel = KINDS["table"][1]
    found = SVC(kernel=kernel).fit(mercer.objects(pandas.DataFrame(TABLE)), Y).decision_function(TABLE)
    np.testing.assert_allclose(found, SVC(kernel=kernel).fit(TABLE, Y).decision_function(TABLE))


def test_what_is_no_list():
    for wrong in ("word", 3, iter([1])):
        with pytest.raises(TypeError, match="list of objects"):
            mercer.objects(wrong)

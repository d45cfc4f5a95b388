"""Scores that are called honest know nothing of the objects that they are measured on.

Each fold has a column of its own, which holds the label of its objects and is zero elsewhere. A machine that has seen
one object of the fold knows all of them; one that has not can only guess. So every leak, of objects into training, of
folds into kernels that learn, or into calibration, turns guesses into certainty.
"""

import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import kernels
from mercer.jobs.calibration import held_out
from mercer.training.folds import folds_with_every_class

FOLDS, SIZE = 6, 20
N = FOLDS * SIZE
RANDOM = np.random.default_rng(27)
SIGNS = np.where(np.arange(N) % 2, 1.0, -1.0)
LABELS = np.where(SIGNS > 0, "yes", "no")
PLACES = RANDOM.permutation(N) % FOLDS
NOISE = RANDOM.normal(size=(N, 1))
GUESSING = 0.62
"""Of 120 guesses, fewer than one in two hundred runs has more than this share right."""


def telling(places, count, signs=SIGNS):
    """A column for each fold, with the labels of its objects, and one of noise."""
    columns = np.zeros((len(places), count))
    columns[np.arange(len(places)), places] = 3.0 * signs
    return np.column_stack([columns, NOISE[: len(places)]])


X = telling(PLACES, FOLDS)
CV = PredefinedSplit(PLACES)
KERNELS = {
    "linear": kernels.Linear(),
    "rbf": kernels.RBF(gamma=0.3),
    "centred": kernels.centre(kernels.RBF(gamma=0.3)),
    "landmarks": kernels.Nystrom(kernels.RBF(gamma=0.3), 30, random_state=0),
    "median width": kernels.RBF(gamma="median"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_who_saw_the_fold_knows_it(name):
    """Otherwise the tests below could not fail."""
    assert mercer.SVC(kernel=KERNELS[name], C=10.0).fit(X, LABELS).score(X, LABELS) > 0.95


@pytest.mark.parametrize("name", KERNELS)
def test_searches(name):
    found = mercer.KernelSearchCV(mercer.SVC(kernel=KERNELS[name]), {"C": [0.1, 10.0]}, cv=CV).fit(X, LABELS)
    assert found.best_score_ < GUESSING
    assert found.score(X, LABELS) > 0.9


def test_searches_of_pipelines():
    pipeline = make_pipeline(StandardScaler(), mercer.SVC(kernel="rbf"))
    assert mercer.KernelSearchCV(pipeline, {"svc__C": [1.0, 10.0]}, cv=CV).fit(X, LABELS).best_score_ < GUESSING


@pytest.mark.parametrize("name", KERNELS)
def test_comparisons(name):
    found = mercer.compare({"one": KERNELS[name]}, X, LABELS, cv=CV)
    assert found.best.score < GUESSING


def test_nested_scores():
    search = mercer.KernelSearchCV(mercer.SVC(), {"C": [0.1, 10.0], "gamma": [0.01, 0.3]}, cv=3)
    assert mercer.nested_cross_validate(search, X, LABELS, cv=CV).mean < GUESSING


@pytest.mark.parametrize("name", KERNELS)
def test_paths_of_ridge_machines(name):
    """Each prediction of an object left out is a guess, so that its error is at least that of the mean."""
    model = mercer.KernelRidgeCV(alphas=[0.01, 1.0, 100.0], kernel=KERNELS[name], cv=CV).fit(X, SIGNS)
    assert model.best_score_ < -0.9
    alone = telling(np.arange(N), N)
    left = mercer.KernelRidgeCV(alphas=[0.01, 1.0, 100.0], kernel=kernels.Linear()).fit(alone, SIGNS)
    assert left.best_score_ < -0.9


def drawn_inside(first=None):
    """Objects for folds that learners draw by themselves. In the columns of other folds stands noise of the same size.

    Machines then give held-out objects values as large as any, that mean nothing.
    """
    codes = (SIGNS > 0).astype(np.intp)
    splits = list(folds_with_every_class(codes, np.ones(N), 0))[:first]
    told = RANDOM.choice([-3.0, 3.0], size=(N, max(len(splits), 2))) + RANDOM.normal(size=(N, max(len(splits), 2)))
    places = np.full(N, told.shape[1] - 1)
    for number, (_, tested) in enumerate(splits):
        places[tested] = number
    told[np.arange(N), places] = 3.0 * SIGNS
    return told


@pytest.mark.parametrize("learner", [mercer.SVC, mercer.NuSVC, mercer.LinearSVC])
def test_probabilities(learner):
    told = drawn_inside()
    kind = {} if learner is mercer.LinearSVC else {"kernel": kernels.RBF(gamma=0.05)}
    model = learner(probability=True, random_state=0, **kind).fit(told, LABELS)
    assert np.abs(model.decision_function(told)).mean() > 0.3
    assert model.predict_proba(told).max(axis=1).mean() < 0.65


def test_temperatures_of_cells():
    told, machine = drawn_inside(first=1), mercer.SVC(kernel=kernels.RBF(gamma=0.05))
    cells = mercer.Cells(machine, size=2 * N, probability=True, random_state=0).fit(told, LABELS)
    assert cells.predict_proba(told).max(axis=1).mean() < 0.65


def test_calibrations_of_folds():
    """Decision values that mean something else in every fold: who has seen the fold knows what."""
    rows = np.flatnonzero(PLACES < 2)
    decisions = np.where(PLACES == 0, SIGNS, -SIGNS)[:, None]
    splits = [(rows[PLACES[rows] != fold], rows[PLACES[rows] == fold]) for fold in range(2)]
    chances = held_out(decisions, (SIGNS > 0).astype(np.intp), splits, 2)[rows]
    assert (chances.argmax(axis=1) != (SIGNS[rows] > 0)).all()


@pytest.mark.parametrize("settings", [{}, {"balanced": True}, {"metric": "auc"}, {"threshold": "yes=0.4"}])
def test_one_call(settings):
    """Groups are held out together, and have a column each; the verdict is about objects of other groups."""
    frame = {f"c{place}": column.tolist() for place, column in enumerate(X.T)}
    frame |= {"group": [f"g{place}" for place in PLACES], "y": LABELS.tolist()}
    found = mercer.fit(frame, target="y", group="group", folds=FOLDS, kernel="rbf", **settings)
    assert found.estimate.level == "no better than guessing"
    assert found.estimate.value < GUESSING

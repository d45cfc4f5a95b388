"""One cross-validator: the library, the command line, searches and probabilities agree on the same folds."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from mercer import SVC, KernelSearchCV, LinearSVC, NuSVC, compare, kernels, nested_cross_validate
from mercer.cli import app
from mercer.inputs.vectors import Vectors
from mercer.jobs.fitting import fit
from mercer.jobs.problem import Plan
from mercer.readers.data import Data
from mercer.training import pairs as ovo
from mercer.training.folds import folds_with_every_class
from mercer.training.probabilities import evidence_of_classes, fit_calibration
from tests.selection.searches import X, Y

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
KERNELS = [kernels.RBF(0.1), kernels.Polynomial(degree=2, gamma=0.2), kernels.Linear()]
MACHINE = SVC(psd="ignore", max_iter=100_000)


@pytest.fixture(scope="module")
def library():
    return compare(KERNELS, X, Y, cv=FOLDS)


def test_command_fit_and_library(library, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.savez("data.npz", X=X, y=Y)
    named = [argument for kernel in KERNELS for argument in ("-k", str(kernel))]
    assert app.run(["compare", "data.npz", "--no-scale", "--json", *named]) == 0
    ranked = {row["kernel"]: row for row in json.loads(capsys.readouterr().out)["kernels"]}
    data = Data("data", "npz", "vectors", X, Y)
    for row in library:
        told = ranked[row.kernel]
        assert (told["fold_scores"], told["score"], told["penalty"]) == (row.scores.tolist(), row.score, row.C)
        best = fit(data, Plan(kernel=row.kernel, scale=False)).search.best
        assert (best.fold_scores.tolist(), best.penalty) == (row.scores.tolist(), row.C)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_searches_and_exhaustive_loops(kernel, library):
    row = next(row for row in library if row.kernel == str(kernel))
    grid = [row.C * factor for factor in (0.01, 0.1, 1.0)]
    for warm in (True, False):
        method = "decision_function"
        search = KernelSearchCV(
            MACHINE.set_params(kernel=kernel), {"C": grid}, cv=FOLDS, warm_start=warm, held_out=method
        )
        search.fit(X, Y)
        found = [search.cv_results_[f"split{fold}_test_score"][-1] for fold in range(5)]
        assert found == row.scores.tolist()
    kept = search.held_out_values("decision_function", 2)
    for fold, (train, test) in enumerate(FOLDS.split(X, Y)):
        model = clone(MACHINE).set_params(kernel=kernel, C=row.C).fit(X[train], Y[train])
        assert model.score(X[test], Y[test]) == row.scores[fold]
        np.testing.assert_allclose(model.decision_function(X[test]), kept[test], rtol=0, atol=1e-12)


@pytest.mark.parametrize("machine", [SVC(gamma=0.1), SVC(kernel="linear"), NuSVC(gamma=0.1), LinearSVC()], ids=str)
@pytest.mark.parametrize("labels", [(Y > 0).astype(int), Y], ids=["two classes", "three classes"])
def test_probabilities(machine, labels):
    """Probabilities are fitted to what the cross-validator keeps of these folds; of two classes, to the last digit."""
    model = clone(machine).set_params(probability=True, random_state=7).fit(X, labels)
    splits = list(folds_with_every_class(labels, np.ones(len(Y)), 7))
    grid, method = {"tol": [machine.tol]}, "decision_function"
    pairs = hasattr(machine, "decision_function_shape")
    keeper = clone(machine).set_params(decision_function_shape="ovo") if pairs else machine
    search = KernelSearchCV(keeper, grid, cv=splits, held_out=method, warm_start=False)
    values = search.fit(Vectors.coerce(X), labels).held_out_values("decision_function")
    seen = np.concatenate([test for _, test in splits])
    n_classes = len(model.classes_)
    if pairs:
        found = ovo.evidence(-values[seen, None] if n_classes == 2 else values[seen], n_classes)
    else:
        found = evidence_of_classes(values[seen])
    wanted = fit_calibration(found, labels[seen], np.ones(len(Y)))
    # With more classes the search predicts from a block of the matrix, whose sums are added up in another order.
    allowed = {"rtol": 0.0, "atol": 0.0} if n_classes == 2 else {"rtol": 1e-6, "atol": 1e-9}
    np.testing.assert_allclose(wanted.slopes, model.calibration_.slopes, **allowed)
    np.testing.assert_allclose(wanted.offsets, model.calibration_.offsets, **allowed)


def test_nested_scores(library):
    row = next(row for row in library if row.kernel == str(KERNELS[0]))
    search = KernelSearchCV(MACHINE.set_params(kernel=KERNELS[0]), {"C": [row.C]}, cv=3)
    found = nested_cross_validate(search, X, Y, cv=FOLDS)
    assert found.scores.tolist() == row.scores.tolist()
    assert found.params == ({"C": row.C},) * 5


def test_validation_surface(library):
    pytest.importorskip("matplotlib")
    from mercer.plots import ValidationSurfaceDisplay

    row = next(row for row in library if row.kernel == str(KERNELS[0]))
    surface = ValidationSurfaceDisplay.from_data(X, Y, C=[row.C / 10, row.C], gamma=[0.1], cv=FOLDS)
    assert (surface.scores[0, 1], surface.spread[0, 1]) == (row.score, row.spread)

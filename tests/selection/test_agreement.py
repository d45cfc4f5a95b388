"""One cross-validator: the library, the command line, searches and probabilities agree on the same folds."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from mercer import SVC, KernelSearchCV, compare, kernels
from mercer.cli import app
from mercer.inputs.vectors import Vectors
from mercer.jobs.fitting import fit
from mercer.jobs.problem import Plan
from mercer.readers.data import Data
from mercer.training.folds import folds_with_every_class
from mercer.training.probabilities import fit_temperature
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


def test_probabilities():
    model = SVC(gamma=0.1, probability=True, random_state=7).fit(X, Y)
    splits = list(folds_with_every_class(Y, np.ones(len(Y)), 7))
    search = KernelSearchCV(SVC(gamma=0.1), {"C": [1.0]}, cv=splits, held_out="decision_function", warm_start=False)
    values = search.fit(Vectors.coerce(X), Y).held_out_values("decision_function")
    seen = np.concatenate([test for _, test in splits])
    assert fit_temperature(values[seen], Y[seen], np.ones(len(Y))) == pytest.approx(model.temperature_, rel=1e-12)

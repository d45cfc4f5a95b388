"""When the final machine is trained on landmarks."""

import numpy as np
import pytest

from mercer import kernels
from mercer.jobs import scaling
from mercer.jobs.fitting import fit
from mercer.jobs.problem import Plan
from mercer.jobs.scaling import scaled
from mercer.readers.data import Data
from mercer.selection.learner import Learner

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 2))
Y = np.where(np.sin(X[:, 0]) + 0.2 * RNG.normal(size=3000) > 0, "up", "down")
DATA = Data("rows", "npy", "vectors", X, Y, "y")
LEARNER = Learner.for_task("classification", Y)
SMOOTH, RUGGED = kernels.RBF(gamma=0.1), kernels.RBF(gamma=500.0)


def answer(kernel, time_limit=None):
    return scaled(kernel, LEARNER, DATA, kernel.coerce(X), time_limit)


def test_few_objects_are_trained_exactly():
    assert answer(SMOOTH) == (SMOOTH, "")


@pytest.mark.parametrize(
    ("kernel", "never", "chosen", "words"),
    [
        (SMOOTH, 1e9, kernels.Nystrom(SMOOTH, m=100), "smooth, and the model was trained on landmarks"),
        (RUGGED, 1e9, RUGGED, "lose much, so it was trained all the same"),
        (RUGGED, 1e-9, kernels.Nystrom(RUGGED, m=100), "mercer.Cells"),
        (kernels.Linear(), 1e-9, kernels.Linear(), ""),
    ],
    ids=["smooth", "rugged", "rugged and too many", "features"],
)
def test_cost_and_a_probe_decide(kernel, never, chosen, words, monkeypatch):
    monkeypatch.setattr(scaling, "PATIENCE", 1e-9)
    monkeypatch.setattr(scaling, "NEVER", never)
    monkeypatch.setattr(scaling, "LANDMARKS", 100)
    found, why = answer(kernel)
    assert found == chosen
    assert words in why


def test_a_time_limit_is_all_the_patience_there_is(monkeypatch):
    monkeypatch.setattr(scaling, "LANDMARKS", 100)
    assert answer(SMOOTH, time_limit=1e-6)[0] == kernels.Nystrom(SMOOTH, m=100)
    assert answer(RUGGED, time_limit=1e-6)[0] == kernels.Nystrom(RUGGED, m=100)


def test_the_model_says_why(monkeypatch):
    monkeypatch.setattr(scaling, "PATIENCE", 1e-9)
    monkeypatch.setattr(scaling, "LANDMARKS", 100)
    found = fit(DATA, Plan(kernel="rbf(gamma=0.1)", C=1.0, folds=2))
    assert any("trained on landmarks" in note for note in found.notes)
    assert isinstance(found.model.estimator.kernel_.kernel, kernels.Nystrom)
    assert (found.predict(X[:500]) == Y[:500]).mean() > 0.85

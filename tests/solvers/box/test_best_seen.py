"""The best machine among those that a run went through."""

import numpy as np
import pytest

from mercer import SVC
from mercer.errors import TimeLimitError
from mercer.gram.make import gram_of
from mercer.kernels.vectors.rbf import RBF
from mercer.losses.epsilon_insensitive import EpsilonInsensitive
from mercer.losses.hinge import Hinge
from mercer.solvers.box import large
from mercer.solvers.box.best_seen import BestSeen
from mercer.solvers.box.problem import BoxProblem
from mercer.solvers.box.step_rules import rule_for
from mercer.solvers.problem import LossProblem

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
K = RBF(gamma=0.5).fit(X)(X)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.2)], ids=str)
def test_the_value_is_that_of_the_machine(loss, intercept):
    """1/2 b'Kb + sum C loss(y, f), written down, at the best of many intercepts."""
    y = np.where(X[:, 0] > 0, 1.0, -1.0) if loss.classifies else X[:, 0] + RNG.normal(size=60)
    C = RNG.uniform(0.5, 2.0, 60)
    problem = BoxProblem.of(LossProblem(loss, y, C, intercept=intercept))
    b = np.clip(RNG.normal(size=60), problem.lower, problem.upper)
    F = -(K @ b + problem.linear)
    levels = np.linspace(-6, 6, 20_001) if intercept else [0.0]
    wanted = min(0.5 * b @ K @ b + C @ loss.value(y, K @ b + level) for level in levels)
    assert BestSeen(problem).value(b, F) == pytest.approx(wanted, rel=1e-4)


def test_the_best_is_kept():
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    problem = BoxProblem.of(LossProblem(Hinge(), y, np.ones(60)))
    best = BestSeen(problem)
    good, bad = 0.3 * y, -0.3 * y
    for b in (bad, good, bad):
        best.see(b, -(K @ b + problem.linear))
    assert best.found is not None
    assert np.array_equal(best.found[0], good)


def test_a_machine_that_time_ended_is_the_best_one_seen(monkeypatch):
    """Working sets turn the machine this way and that; here time is over after so many rounds."""
    rng = np.random.default_rng(1)
    objects = rng.normal(size=(6000, 5))
    labels = (objects[:, 0] + objects[:, 1] ** 2 + rng.normal(size=6000) > 1).astype(int)
    begun = large.WorkingSetRun._begin_round
    scores = []
    for rounds in (2, 4, 6):

        def begin(self, rounds=rounds):
            if self._rounds == rounds:
                raise TimeLimitError("time was over")
            begun(self)

        monkeypatch.setattr(large.WorkingSetRun, "_begin_round", begin)
        with pytest.warns(UserWarning, match="did not converge"):
            model = SVC(memory=1, time_limit=600.0).fit(objects[:5000], labels[:5000])
        scores.append(model.score(objects[5000:], labels[5000:]))
    assert min(scores) > 0.74


def test_nothing_is_compared_where_nobody_is_in_a_hurry():
    gram = gram_of(RBF().fit(X), X)
    problem = BoxProblem.of(LossProblem(Hinge(), np.where(X[:, 0] > 0, 1.0, -1.0), np.ones(60)))
    run = large.WorkingSetRun(gram, problem, np.zeros(60), 1e-3, rule_for(problem))
    assert run._best is None
    assert not run.useful

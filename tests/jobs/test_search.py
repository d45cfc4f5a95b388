"""The search: many objects are scouted first, and what is found is told on the way."""

import numpy as np
import pytest

from mercer.jobs import search as searching
from mercer.jobs.fitting import fit
from mercer.jobs.problem import Plan, prepare
from mercer.jobs.search import search
from mercer.readers.data import NUMBER, Column, Data


@pytest.fixture
def rings(monkeypatch):
    """Two rings, which no plane separates; and few objects count as many."""
    monkeypatch.setattr(searching, "SCOUTED", 60)
    random = np.random.default_rng(0)
    X = random.normal(size=(240, 2))
    y = np.where(np.linalg.norm(X, axis=1) > 1.2, "out", "in")
    columns = {f"x{place}": Column(f"x{place}", NUMBER, X[:, place]) for place in range(2)}
    return Data("rings", "csv", "table", columns, y, "y")


def test_hopeless_kernels_are_dropped_early(rings):
    problem = prepare(rings, Plan(folds=3))
    found = search(problem, scout=True)
    assert len(found.by_kernel()) <= 3
    assert any("linear" in str(kernel) for kernel in found.dropped)
    assert {str(kernel) for kernel in found.dropped}.isdisjoint(str(trial.kernel) for trial in found.by_kernel())
    assert len(found.rows) == 240
    assert "fell behind on 60 objects" in " ".join(found.notes(240))
    whole = search(problem)
    assert not whole.dropped
    assert len(whole.by_kernel()) == len(problem.kernels)
    same = {(str(trial.kernel), trial.penalty): trial.score for trial in whole.trials}
    both = [trial for trial in found.trials if (str(trial.kernel), trial.penalty) in same]
    assert all(same[str(trial.kernel), trial.penalty] == trial.score for trial in both)
    assert found.best.score >= whole.best.score


def test_the_best_so_far_is_told(rings):
    told = []
    fit(rings, Plan(folds=3), report=lambda fraction, note: told.append((fraction, note)))
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert max(fractions) <= 1.0
    first = next(place for place, (_, note) in enumerate(told) if note.startswith("so far"))
    assert all(note.endswith(" %, still looking") for _, note in told[first:])  # also after the scouting


def test_few_objects_or_kernels_are_tried_at_once(rings):
    problem = prepare(rings.take(np.arange(100)), Plan(folds=3))
    assert not search(problem, scout=True).dropped
    few = prepare(rings, Plan(folds=3), ["linear", "rbf"])
    assert not search(few, scout=True).dropped

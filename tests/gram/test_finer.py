"""What a float32 matrix knows of its errors, and the same entries in float64."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from mercer import kernels
from mercer.gram.finer import hardest_of, lengths
from mercer.gram.make import gram_of
from mercer.gram.pairs import PairBlocks

N = 2100  # more than 2,048: float32


def test_the_measured_rounding_bounds_every_entry_also_where_few_objects_lose_most():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6))
    X[::300] += 60.0  # far from the others, near to each other
    gram = gram_of(kernels.RBF(gamma=0.5).fit(X), X)
    finer = gram.setting.finer
    assert finer is not None
    rounding, hardness, size = finer.rounding(), finer.hardness(), lengths(gram.diagonal())
    errors = np.abs(gram.dense().astype(np.float64) - gram.refined().dense())
    scale = np.outer(size, size) * np.add.outer(hardness, hardness) / 2
    assert (errors / scale).max() <= 2.0 * rounding.largest
    assert rounding.typical <= rounding.largest
    assert hardness[0] > 10 * np.median(hardness)


def test_parts_stored_or_not_give_their_own_entries_in_float64():
    X = np.random.default_rng(1).normal(size=(N, 3))
    fitted = kernels.RBF(gamma=0.2).fit(X)
    gram, truth = gram_of(fitted, X), gram_of(fitted, X, dtype=np.float64).dense()
    ids = np.array([5, 3, 3, 2099, 17])
    for part in (gram.view(ids), gram.view(ids).stored(), gram.stored().view(ids)):
        assert part.dtype is np.float32
        assert part.refined().dense() == pytest.approx(truth[np.ix_(ids, ids)], abs=1e-14)
        assert part.refined([1, 3]).dense() == pytest.approx(truth[np.ix_(ids[[1, 3]], ids[[1, 3]])], abs=1e-14)
    groups = [np.arange(0, 40), np.arange(100, 130), np.arange(500, 520)]
    pair = PairBlocks(gram, groups, [(0, 2)]).of((0, 2))
    chosen = np.concatenate((groups[0], groups[2]))
    assert pair.refined().dense() == pytest.approx(truth[np.ix_(chosen, chosen)], abs=1e-14)
    before = gram.entries_computed
    gram.refined([1, 2, 3]).dense()
    assert gram.entries_computed > before  # they count


def test_matrices_in_float64_are_their_own_refinement():
    X = np.random.default_rng(1).normal(size=(20, 3))
    gram = gram_of(kernels.RBF().fit(X), X)
    assert gram.setting.finer is None
    assert gram.refined() is gram
    assert gram.refined([2, 1]).dense() == pytest.approx(gram.dense()[np.ix_([2, 1], [2, 1])])


def test_lengths_are_never_nothing():
    assert lengths(np.array([4.0, 0.0, -1.0])) == pytest.approx([2.0, 2e-3, 1.0])
    assert lengths(np.zeros(2)).min() > 0
    assert sorted(hardest_of(np.array([1.0, 5.0, 3.0]), 2)) == [1, 2]


@pytest.mark.parametrize("stored", [False, True])
def test_matrices_go_to_other_processes_whatever_they_have_measured(stored):
    X = np.random.default_rng(0).normal(size=(50, 3))
    gram = gram_of(kernels.RBF(gamma=1.0).fit(X), X, dtype=np.float32)
    gram = gram.stored() if stored else gram
    rounding = gram.setting.finer.rounding()
    found = pickle.loads(pickle.dumps(gram))
    assert found.dense().tobytes() == gram.dense().tobytes()
    assert found.setting.finer.rounding() == rounding
    some = np.array([3, 1, 4])
    assert (
        found.view(some).setting.finer.gram().dense().tobytes()
        == gram.view(some).setting.finer.gram().dense().tobytes()
    )

"""Matrices of pairs of groups: the same entries as the whole, each computed once."""

import numpy as np
import pytest

from mercer.gram import pairs
from mercer.gram.contract import Gram
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of
from mercer.gram.pairs import PairBlocks
from mercer.kernels import RBF

GROUPS = [np.array([7, 1, 4]), np.array([0, 9]), np.array([2, 3, 5, 8])]
PAIRS = [(0, 1), (0, 2), (1, 2)]


def gram(**options) -> Gram:
    X = np.random.default_rng(0).normal(size=(10, 3))
    return gram_of(RBF(gamma=0.7).fit(X), X, executor=Threads(2), **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_matrix_of_a_pair(dtype):
    whole = gram(dtype=dtype)
    blocks = PairBlocks(whole, GROUPS, PAIRS)
    for a, b in PAIRS:
        part = blocks.of((a, b))
        ids = np.concatenate((GROUPS[a], GROUPS[b]))
        np.testing.assert_allclose(part.dense(), whole.dense()[np.ix_(ids, ids)], rtol=1e-6)
        np.testing.assert_array_equal(part.diagonal(), whole.diagonal()[ids])
        assert part.symmetric
        np.testing.assert_allclose(part.rows(np.array([1]))[0], whole.dense()[ids[1], ids], rtol=1e-6)


def test_each_entry_is_computed_once():
    whole = gram()
    blocks = PairBlocks(whole, GROUPS, PAIRS)
    for pair in PAIRS:
        blocks.of(pair).dense()
    sizes = [len(group) for group in GROUPS]
    assert whole.entries_computed == sum(size**2 for size in sizes) + sum(sizes[a] * sizes[b] for a, b in PAIRS)


def test_large_pairs_and_small_budgets_compute_what_is_asked(monkeypatch):
    monkeypatch.setattr(pairs, "LARGEST", 5)
    whole = gram()
    blocks = PairBlocks(whole, GROUPS, PAIRS)
    assert blocks.holds((0, 1))
    assert not blocks.holds((0, 2))
    assert not blocks.of((0, 2)).in_memory
    assert blocks.of((0, 1)).in_memory
    poor = gram(memory=1e-4)
    assert not PairBlocks(poor, GROUPS, PAIRS).of((0, 1)).in_memory


def test_a_stored_matrix_is_not_computed_again():
    whole = gram().stored()
    before = whole.entries_computed
    PairBlocks(whole, GROUPS, PAIRS).of((0, 1)).dense()
    assert whole.entries_computed == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_blocks_are_held_where_they_fit_into_half_the_budget(dtype):
    sizes = [len(group) for group in GROUPS]
    largest = max(sizes[a] + sizes[b] for a, b in PAIRS)
    needed = np.dtype(dtype).itemsize * (sum(size**2 for size in sizes) + largest**2)
    for budget, held in ((2 * needed, True), (2 * needed - 2, False)):
        whole = gram(dtype=dtype, memory=budget / 2**20)
        assert whole.budget == budget
        assert PairBlocks(whole, GROUPS, PAIRS).of((0, 1)).in_memory == held

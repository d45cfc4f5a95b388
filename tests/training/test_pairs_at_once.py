"""Pairs of many classes on blocks of the matrix are those on the matrix as a whole."""

import numpy as np
import pytest

from mercer import SVC, kernels
from mercer.gram import cost, group_blocks
from mercer.gram.executors import Threads
from mercer.gram.group_blocks import GroupBlocks
from mercer.gram.make import gram_of
from mercer.losses.hinge import Hinge
from mercer.solvers.box import small_pairs
from mercer.solvers.box.small_pairs import Blocks, SmallPairs

SIZES = (9, 1, 14, 6, 11)
SIDES = Hinge().dual(np.array((1.0, -1.0)), np.ones(2))


def made(dtype=None, threads=1):
    random = np.random.default_rng(0)
    codes = random.permutation(np.repeat(np.arange(len(SIZES)), SIZES))
    X = random.normal(size=(len(codes), 3)) + codes[:, None] * 0.3
    gram = gram_of(kernels.RBF(gamma=0.5).fit(X), X, dtype=dtype, executor=Threads(threads))
    return X, codes, gram, [np.flatnonzero(codes == label) for label in range(len(SIZES))]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("at_once", [1, 200, 10**6])
def test_blocks_have_the_entries_of_the_matrix_in_double(dtype, at_once, monkeypatch):
    monkeypatch.setattr(group_blocks, "_AT_ONCE", at_once)
    _, _, gram, groups = made(dtype)
    exact = gram.refined().exact()
    blocks = GroupBlocks(gram, groups)
    for label, group in enumerate(groups):
        start, size = blocks.starts[label], len(group)
        square = blocks.within[start : start + size**2].reshape(size, size)
        np.testing.assert_allclose(square, exact[np.ix_(group, group)], rtol=1e-12)
        runs = blocks.runs(label)
        assert [other for run in runs for other in run] == list(range(label + 1, len(groups)))
        for run in runs:
            others = np.concatenate([groups[other] for other in run])
            np.testing.assert_allclose(blocks.across(label, run), exact[np.ix_(group, others)], rtol=1e-12)


def test_each_pair_is_that_of_the_whole_matrix():
    _, codes, gram, groups = made()
    bounds = np.random.default_rng(1).uniform(0.5, 20.0, len(codes))
    whole, found, blocks = SmallPairs.of(groups), SmallPairs.of(groups), GroupBlocks(gram, groups)
    whole.solve(gram.exact(), gram.diagonal(), bounds, SIDES, 1e-6, slice(0, len(whole)))
    for first in range(len(groups)):
        for run in blocks.runs(first):
            across = blocks.across(first, run)
            part = Blocks(first, run, blocks.sizes, blocks.within, blocks.starts, across)
            found.solve_blocks(part, gram.diagonal(), bounds, SIDES, 1e-6)
    np.testing.assert_allclose(found.coefficients, whole.coefficients, atol=1e-6)
    np.testing.assert_allclose(found.outputs, whole.outputs, atol=1e-6)
    np.testing.assert_allclose(found.intercepts, whole.intercepts, atol=1e-6)
    assert (found.gaps <= 1e-6).all()


def test_machines_are_the_same_by_blocks_for_any_number_of_threads(monkeypatch):
    X, codes, _, _ = made()
    usual = SVC(tol=1e-6).fit(X, codes)
    monkeypatch.setattr("mercer.training.pairs.trained_at_once", lambda gram: False)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        found.append(SVC(tol=1e-6).fit(X, codes))
    one, two = found
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_allclose(one.decision_function(X), usual.decision_function(X), atol=1e-5)
    assert one.certificate_.kkt_violation <= 1e-5
    assert one.verify(X, codes).kkt_violation <= 1e-5
    monkeypatch.setattr("mercer.training.pairs.trained_in_blocks", lambda *_: pytest.fail("not asked"))
    timed = SVC(tol=1e-6, max_iter=100_000).fit(X, codes)  # limits are watched machine by machine
    np.testing.assert_allclose(timed.decision_function(X), usual.decision_function(X), atol=1e-5)


def test_cost_decides():
    assert cost.blocks_pay(26, 16_000, 16)  # letters
    assert cost.blocks_pay(100, 4_000, 20)
    assert not cost.blocks_pay(10, 60_000, 784)  # digits, whose entries are dear
    assert small_pairs.LARGEST <= 2048  # what one call goes through, and nobody can interrupt

"""The plan of tiles covers the matrix exactly once, whatever its shape and the budget."""

import inspect

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mercer.gram.tiles import plan

sizes = st.integers(0, 900)
budgets = st.integers(1, 2**22)


def cover(strips, n, m):
    counts = np.zeros((n, m), dtype=int)
    for strip in strips:
        for tile in strip:
            assert tile.shape == (tile.bottom - tile.top, tile.right - tile.left)
            counts[tile.rows, tile.columns] += 1
    return counts


@given(sizes, sizes, st.sampled_from([4, 8]), budgets)
def test_exact_cover(n, m, itemsize, budget):
    strips = plan(n, m, itemsize=itemsize, budget=max(budget, itemsize * n * m // 5000))
    assert (cover(strips, n, m) == 1).all()


@given(sizes, st.sampled_from([4, 8]), budgets)
def test_upper_triangle_is_covered_once(n, itemsize, budget):
    strips = plan(n, n, itemsize=itemsize, budget=max(budget, itemsize * n * n // 5000), symmetric=True)
    counts = cover(strips, n, n)
    assert (counts <= 1).all()
    assert counts[np.triu_indices(n)].all()
    for strip in strips:
        for tile in strip:
            assert tile.left >= tile.top  # squares on the diagonal, and what lies right of them
            assert tile.left == tile.top or tile.left >= tile.bottom


@given(sizes, sizes, st.sampled_from([4, 8]), st.integers(8, 2**20), st.sampled_from(["", "symmetric", "by_columns"]))
def test_every_tile_is_within_the_budget(n, m, itemsize, budget, form):
    n, m = min(n, 200), min(n, 200) if form == "symmetric" else min(m, 200)
    strips = plan(n, m, itemsize=itemsize, budget=budget, **({form: True} if form else {}))
    for strip in strips:
        for tile in strip:
            assert tile.entries * itemsize <= max(budget, itemsize)


@given(sizes, sizes)
def test_the_tiles_of_a_strip_share_their_rows_in_order(n, m):
    for strip in plan(n, m, itemsize=8, budget=2**16):
        assert len({(tile.top, tile.bottom) for tile in strip}) == 1
        assert [tile.left for tile in strip] == sorted(tile.left for tile in strip)


@given(sizes, sizes)
def test_by_columns_the_tiles_of_a_strip_share_their_columns_in_order(n, m):
    strips = plan(n, m, itemsize=8, budget=2**16, by_columns=True)
    assert (cover(strips, n, m) == 1).all()
    for strip in strips:
        assert len({(tile.left, tile.right) for tile in strip}) == 1
        assert [tile.top for tile in strip] == sorted(tile.top for tile in strip)


def test_the_plan_knows_nothing_of_threads():
    known = {"n_rows", "n_columns", "itemsize", "budget", "symmetric", "by_columns"}
    assert set(inspect.signature(plan).parameters) == known
    assert plan(700, 300, itemsize=8, budget=2**18) == plan(700, 300, itemsize=8, budget=2**18)


def test_there_is_work_for_two_threads():
    for n in (257, 300, 1000):
        assert len(plan(n, n, itemsize=8, budget=2**21, symmetric=True)) >= 2


def test_few_rows_make_wide_tiles_and_few_columns_high_ones():
    """A small tile costs more than it holds: narrow matrices are cut into as large tiles as others, up to a length."""
    for few in (1, 2, 50, 100):
        usual = 256 * 1024
        ((first, *_), *_) = plan(few, 10**6, itemsize=8, budget=2**30)
        assert first.shape == (few, max(1024, min(usual // few, 4096)))
        ((first, *_), *_) = plan(10**6, few, itemsize=8, budget=2**30)
        assert first.shape == (max(256, min(usual // few, 4096)), few)

"""The cache of rows: what it keeps, what it drops, and that a failure leaves it as it was."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.gram.cache import RowCache

K = np.arange(60.0).reshape(10, 6)


class Computer:
    def __init__(self):
        self.asked = []

    def __call__(self, rows, out):
        self.asked.append(rows.tolist())
        out[...] = K[rows]


def cache(capacity=3):
    return RowCache(10, 6, np.float64, capacity * 6 * 8)


def kept(rows):
    return {row for row in range(10) if rows.slots[row] >= 0}


def test_missing_rows_are_computed_in_one_batch():
    rows, compute = cache(), Computer()
    rows.ensure(np.array([4, 2, 4]), compute)
    rows.ensure(np.array([2]), compute)
    assert compute.asked == [[4, 2]]
    assert np.array_equal(rows.buffer[rows.slots[4]], K[4])


def test_the_least_recently_used_goes_first():
    rows, compute = cache(), Computer()
    for row in (0, 1, 2, 0, 3):  # 0 was used again, so 1 is the oldest
        rows.ensure(np.array([row]), compute)
    assert kept(rows) == {0, 2, 3}
    rows.ensure(np.array([2, 5]), compute)
    assert kept(rows) == {2, 3, 5}


def test_rows_asked_for_together_are_not_dropped_for_each_other():
    rows, compute = cache(), Computer()
    for row in (0, 1, 2):
        rows.ensure(np.array([row]), compute)
    rows.ensure(np.array([0, 7, 8]), compute)
    assert kept(rows) == {0, 7, 8}


def test_a_failure_leaves_it_unchanged():
    rows, compute = cache(), Computer()
    rows.ensure(np.array([0, 1, 2]), compute)
    buffer, slots = rows.buffer.copy(), rows.slots.copy()

    def fail(missing, out):
        out[...] = -1.0
        raise MemoryError

    with pytest.raises(MemoryError):
        rows.ensure(np.array([1, 5]), fail)
    assert np.array_equal(rows.buffer, buffer)
    assert np.array_equal(rows.slots, slots)
    assert compute.asked == [[0, 1, 2]]
    rows.ensure(np.array([5]), compute)
    assert 5 in kept(rows)


def test_more_than_fits():
    with pytest.raises(ValueError, match="4 rows do not fit a cache of 3"):
        cache().ensure(np.arange(4), Computer())


def test_capacity_from_the_budget():
    assert cache(3).capacity == 3
    assert RowCache(10, 6, np.float64, 0).capacity == 2  # a pair is the least that a solver needs
    assert RowCache(10, 6, np.float32, 10**9).capacity == 10


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True), max_size=30))
def test_against_a_plain_list(requests):
    rows, compute = cache(), Computer()
    order = []  # oldest first
    for request in requests:
        rows.ensure(np.array(request), compute)
        held = [row for row in request if row in order]
        order = [row for row in order if row not in held] + held + [row for row in request if row not in held]
        order = order[-3:]
        assert kept(rows) == set(order)
        for row in order:
            assert np.array_equal(rows.buffer[rows.slots[row]], K[row])

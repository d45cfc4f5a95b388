"""Loops over pairs of sequences of different lengths."""

import numpy as np
import pytest

from mercer._jit import jit
from mercer.inputs.ragged import offsets_of
from mercer.kernels.loops.extended import LOG2_RADIX, logarithm
from mercer.kernels.loops.pairs import (
    PairRunner,
    SequenceFeatures,
    longest_of,
    longest_part,
    recompute,
    with_numbers,
)

LENGTHS = [3, 0, 5, 1, 4]


def sequences():
    return SequenceFeatures.of(np.arange(sum(LENGTHS)), offsets_of(LENGTHS))


def slow(left, left_offsets, right, right_offsets, first, second, out, factor):
    """factor times the sum of the left sequence, plus the sum of the right one."""
    for k, (i, j) in enumerate(zip(first, second, strict=True)):
        own, other = left[left_offsets[i] : left_offsets[i + 1]], right[right_offsets[j] : right_offsets[j + 1]]
        out[k] = factor * own.sum() + other.sum()


@pytest.mark.parametrize("cells", [1.0, 1e9])
def test_every_pair_finds_its_place_however_calls_are_cut(cells):
    features = sequences()
    sums = np.array([features.sequence(i).sum() for i in range(5)])
    runner = PairRunner(2, cells_per_call=cells, cells_per_tile=cells)
    out = np.empty((5, 5))
    runner.fill(with_numbers(slow, 10.0), features, features, 1.0, out)
    np.testing.assert_array_equal(out, 10 * sums[:, None] + sums)
    np.testing.assert_array_equal(runner.own(with_numbers(slow, 10.0), features, 1.0), 11 * sums)


def test_loops_get_one_kind_of_array_and_are_compiled_once():
    frozen = sequences()
    frozen.items.flags.writeable = False
    seen = set()

    def loop(*arrays):
        seen.add((arrays[0].flags.writeable, arrays[2].flags.writeable))
        arrays[6][:] = 0.0

    runner = PairRunner(2, cells_per_call=1e9, cells_per_tile=1e9)
    for left in (frozen, sequences()):
        for right in (frozen, sequences()):
            runner.fill(loop, left, right, 1.0, np.empty((5, 5)))
    assert seen == {(False, False)}


def test_tiles_shrink_with_the_cost_of_a_pair_but_keep_all_lanes_busy():
    features = sequences()
    runner = PairRunner(16, cells_per_call=1.0, cells_per_tile=1000.0)
    assert runner.entries(features, features, 1.0) == int(1000 / 3.6**2)
    assert runner.entries(features, features, 1e6) == 16


def test_parts_are_taken_with_what_is_known_of_them():
    features = SequenceFeatures.of(np.arange(13), offsets_of(LENGTHS), diagonal=np.arange(5.0))
    part = features.take(np.array([2, 0]))
    assert part.items.tolist() == [3, 4, 5, 6, 7, 0, 1, 2]
    assert part.diagonal.tolist() == [2.0, 0.0]
    assert part.longest == 5


def test_only_marked_pairs_are_computed_again():
    features = sequences()
    logs = np.zeros((5, 5))
    logs[2, 3] = np.nan
    found = recompute(logs, features, features, lambda left, right: float(len(left) - len(right)))
    assert found[2, 3] == 4.0
    assert np.count_nonzero(found) == 1


def test_the_longest_sequence():
    @jit(cache=False)
    def both(offsets, pairs):
        return longest_of(offsets, pairs), longest_part(offsets)

    assert both(offsets_of(LENGTHS), np.array([0, 3])) == (3, 5)


def test_logarithms_beyond_the_range_of_floats():
    assert logarithm(8.0, 2) == 3 + 2 * LOG2_RADIX
    assert logarithm(0.0, 5) == -np.inf

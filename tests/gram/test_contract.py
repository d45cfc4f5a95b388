"""Rows and columns of views, and where the same objects meet."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.gram.contract import Axis
from mercer.gram.of_features import FeatureRows
from mercer.gram.tiled import FeatureAxis, coincident

SIZE = 6
chosen = st.none() | st.lists(st.integers(0, SIZE - 1), max_size=10).map(lambda ids: np.array(ids, dtype=np.intp))


@given(chosen, chosen)
def test_objects_meet_wherever_their_ids_are_equal(rows, columns):
    left, right = Axis(SIZE, rows), Axis(SIZE, columns)
    wanted = np.argwhere(left.ids[:, None] == right.ids)
    hits, places = coincident(left, right)
    assert sorted(zip(hits, places, strict=True)) == sorted(map(tuple, wanted))
    assert (np.diff(hits) >= 0).all()  # tiles look for their rows by bisection


@pytest.mark.parametrize("index", [slice(1, 5, 2), [3, 3, 0], np.array([True, False, True, False, False, True])])
def test_positions_are_those_of_the_view(index):
    axis = Axis(9, np.array([8, 6, 4, 2, 0, 1]))
    assert np.array_equal(axis.select(index).ids, axis.ids[index])
    assert axis.select(slice(None)) is axis


def test_features_are_taken_once_per_view():
    features = FeatureRows(np.arange(8.0).reshape(4, 2))
    axis = FeatureAxis.all_of(features)
    assert axis.taken is features
    part = axis.select([2, 0, 2])
    assert part.taken is part.taken
    assert np.array_equal(part.taken.rows, features.rows[[2, 0, 2]])

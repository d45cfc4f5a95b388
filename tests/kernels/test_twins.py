"""Loops that have a twin in NumPy: both give the same values, but for last bits."""

import numpy as np
import pytest

from mercer.inputs.vectors import _column_moments, _column_moments_plain
from mercer.kernels.loops import epilogues
from mercer.kernels.vectors import categorical, coordinate_loops

RNG = np.random.default_rng(0)
KINDS = (np.float32, np.float64)


def both(compiled, plain, tile, *given):
    """What the loop and its twin make of a tile."""
    found = tile.copy(), tile.copy()
    compiled(found[0], *given)
    plain(found[1], *given)
    np.testing.assert_allclose(*found, rtol=32 * np.finfo(tile.dtype).eps, atol=32 * np.finfo(tile.dtype).tiny)
    return found[0]


@pytest.mark.parametrize("kind", KINDS)
def test_functions_of_a_tile(kind):
    tile = np.abs(RNG.normal(size=(7, 11))).astype(kind)
    tile[0, :3] = 0.0, 1e3, np.finfo(kind).max
    lowest = epilogues._LOWEST[kind]
    both(epilogues._exp_of_negative, epilogues._exp_of_negative_plain, tile, kind(0.7), lowest)
    both(epilogues._exp_of_negative, epilogues._exp_of_negative_plain, tile, epilogues._LARGEST[kind], lowest)
    for order in (1, 2):
        both(epilogues._matern, epilogues._matern_plain, tile, kind(0.7), kind((order - 1) / 3), -lowest)
    for degree in (1, 2, 3, 4, 7):
        found = both(epilogues._power, epilogues._power_plain, tile, kind(0.3), kind(1.0), degree)
        assert np.isinf(found[0, 2]) == (degree > 1)


@pytest.mark.parametrize("kind", KINDS)
def test_squared_distances(kind):
    x, z = RNG.normal(size=(2, 6, 4)).astype(kind)
    x[0] = z[0]
    lengths = np.square(x).sum(axis=1), np.square(z).sum(axis=1)
    found = x @ z.T, x @ z.T
    epilogues.squared_distances(found[0], *lengths)
    epilogues._squared_distances_plain(found[1], *lengths)
    np.testing.assert_allclose(*found, rtol=0, atol=16 * np.finfo(kind).eps * lengths[0].max())
    assert (found[1] >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("term", range(4))
@pytest.mark.parametrize("begun", [False, True])
def test_sums_over_coordinates(kind, term, begun):
    rows = coordinate_loops._filled_up(np.abs(RNG.normal(size=(6, 5))).astype(kind))
    others = np.abs(RNG.normal(size=(9, 5))).astype(kind)
    shape = (coordinate_loops.FEATURES, coordinate_loops.LINE + coordinate_loops._APART)
    turned = np.zeros((2, *shape), dtype=kind)
    coordinate_loops.turn(others, 0, 0, turned[0])
    coordinate_loops._turn_plain(others, 0, 0, turned[1])
    assert (turned[0] == turned[1]).all()
    sums, least = np.zeros((4, shape[1]), dtype=kind), np.finfo(kind).tiny
    found = np.ones((2, 6, 9), dtype=kind)
    for add, out in zip((coordinate_loops._add, coordinate_loops._add_plain), found, strict=True):
        add(rows, turned[0], 0, term, least, begun, sums, out)
    np.testing.assert_allclose(*found, rtol=32 * np.finfo(kind).eps)


def test_categories_and_moments():
    left, right = RNG.integers(0, 3, size=(6, 5)).astype(np.uint64), RNG.integers(0, 3, size=(9, 5)).astype(np.uint64)
    found = np.empty((2, 6, 9))
    categorical._matches(left, right, found[0])
    categorical._matches_plain(left, right, found[1])
    np.testing.assert_allclose(*found, rtol=1e-15)  # one divides, the other multiplies by the reciprocal
    for rows in (RNG.normal(size=(20, 3)), RNG.normal(size=(1, 3)).astype(np.float32)):
        moments = np.empty((2, 2, 3))
        _column_moments(rows, *moments[0])
        _column_moments_plain(rows, *moments[1])
        np.testing.assert_allclose(*moments, rtol=1e-12, atol=1e-14)

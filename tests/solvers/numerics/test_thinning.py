"""A few of many objects."""

import numpy as np

from mercer.solvers.numerics.thinning import thinned


def test_penalties_make_up_for_what_is_left_out():
    C = np.linspace(0.5, 2.0, 100)
    few, heavier = thinned(C, 8)
    assert len(C[few]) == 13
    np.testing.assert_allclose(heavier.sum(), C.sum())
    np.testing.assert_allclose(heavier / C[few], heavier[0] / C[0])


def test_every_class_keeps_its_share():
    classes = np.repeat([0.0, 1.0, 2.0], [80, 16, 8])
    few, _ = thinned(np.ones(104), 8, np.random.default_rng(0).permutation(classes))
    assert len(few) == 13
    assert (np.diff(few) > 0).all()
    assert np.unique(classes[thinned(np.ones(104), 8, classes)[0]], return_counts=True)[1].tolist() == [10, 2, 1]


def test_a_class_that_would_be_lost_forbids_it():
    assert thinned(np.ones(100), 8, np.append(np.zeros(99), 1.0)) is None

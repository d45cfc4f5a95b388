"""How far to go along a direction."""

import math

import pytest

from mercer.solvers.numerics.line_search import backtrack, flat_point


def test_backtracking_takes_the_first_step_that_helps():
    tried = []

    def value(size):
        tried.append(size)
        return (size - 0.1) ** 2

    assert backtrack(value, 0.01, -0.2, noise=0.0) == 0.125
    assert tried == [1.0, 0.5, 0.25, 0.125]
    assert backtrack(value, 0.01, -0.2, noise=1.0) == 1.0  # all that is rounding
    assert backtrack(value, 0.01, -0.2, noise=0.0, size=0.15) == 0.15


@pytest.mark.parametrize("descent", [0.0, 1.0, math.nan])
def test_no_step_leads_down_where_the_slope_does_not(descent):
    assert backtrack(lambda size: -size, 0.0, descent, noise=0.0) is None


def test_backtracking_gives_up_on_steps_that_are_rounding():
    assert backtrack(lambda size: 1.0, 0.0, -1.0, noise=0.0) is None


@pytest.mark.parametrize("least", [1e-3, 0.3, 1.0, 2.7, 12.0])
def test_the_flat_point_of_a_parabola_and_of_a_kinked_function(least):
    for slope in (lambda t: t - least, lambda t: math.tanh(5.0 * (t - least)), lambda t: (t - least) ** 3):
        found, start = flat_point(slope, slope(0.0)), abs(slope(0.0))
        assert abs(slope(found)) <= 0.1 * start + 1e-12 or abs(found - least) < 0.1 * max(least, 0.05)


def test_a_function_without_a_minimum_ends_somewhere():
    assert flat_point(lambda t: -1.0, -1.0) == 16.0

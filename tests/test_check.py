"""Checks of parameters: canonical types come back, and refusals say the rule, the value and a remedy."""

import math

import numpy as np
import pytest

from mercer import _check
from mercer.errors import ParameterError


@pytest.mark.parametrize(
    ("value", "expected"), [(1, 1.0), (np.float32(0.5), 0.5), (np.int64(3), 3.0), (math.inf, math.inf)]
)
def test_real_numbers_become_floats(value, expected):
    found = _check.real("SVC", "C", value, low=0, low_open=True)
    assert type(found) is float
    assert found == expected


@pytest.mark.parametrize("value", [0, -1.0, math.nan, True, "1", None, 1j, np.array([1.0])])
def test_other_values_are_no_real_numbers(value):
    with pytest.raises(ParameterError, match=r"The 'C' parameter of SVC must be a float in \(0, inf\]\. Got "):
        _check.real("SVC", "C", value, low=0, low_open=True)


def test_ends_of_an_interval():
    assert _check.real("a", "b", 1.0, low=0, high=1) == 1.0
    with pytest.raises(ParameterError, match=r"a float in \[0, 1\)"):
        _check.real("a", "b", 1.0, low=0, high=1, high_open=True)
    with pytest.raises(ParameterError, match=r"a float in \(0, 1\]"):
        _check.real("a", "b", 0.0, low=0, high=1, low_open=True)


def test_integers():
    found = _check.integer("a", "b", np.int32(3), low=1, high=3)
    assert type(found) is int
    assert found == 3
    for value in (True, 3.0, "3", None):
        with pytest.raises(ParameterError, match=r"must be an int\. Got"):
            _check.integer("a", "b", value)
    for value, limits, rule in (
        (0, {"low": 1}, r"an int in \[1, inf\)"),
        (4, {"high": 3}, r"an int in \(-inf, 3\]"),
        (2**63, {}, "64 bits"),
        (-(2**63) - 1, {}, "64 bits"),
    ):
        with pytest.raises(ParameterError, match=rule):
            _check.integer("a", "b", value, **limits)


def test_truth_values():
    assert _check.boolean("a", "b", np.True_) is True
    for value in (0, 1, "True", None):
        with pytest.raises(ParameterError, match="must be a bool"):
            _check.boolean("a", "b", value)


def test_choices_suggest_the_nearest_name():
    assert _check.choice("a", "b", "auto", ["auto", "scale"]) == "auto"
    with pytest.raises(ParameterError, match=r"one of 'auto', 'scale'. Got 'sclae' instead. Did you mean 'scale'"):
        _check.choice("a", "b", "sclae", ["auto", "scale"])
    with pytest.raises(ParameterError) as caught:
        _check.choice("a", "b", 7, ["auto", "scale"])
    assert "Did you mean" not in str(caught.value)


def test_instances():
    assert _check.instance("a", "b", [1], list, "a list") == [1]
    with pytest.raises(ParameterError, match=r"must be a list. Got \(1,\) instead. Use brackets."):
        _check.instance("a", "b", (1,), list, "a list", "Use brackets.")


def test_long_values_are_cut():
    message = str(_check.fail("a", "b", "short", "x" * 1000))
    assert "... instead." in message
    assert len(message) < 150


def test_lists_of_numbers():
    assert _check.reals("Owner", "knots", [1, 2.5], low=0) == (1.0, 2.5)
    for wrong in (7, "12", b"12", None):
        with pytest.raises(ParameterError, match="The 'knots' parameter of Owner must be a list of numbers"):
            _check.reals("Owner", "knots", wrong)
    with pytest.raises(ParameterError, match=r"must be a float in \[0, inf\]. Got -1"):
        _check.reals("Owner", "knots", [1, -1], low=0)

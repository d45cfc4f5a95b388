"""What is computed from columns of numbers and dates."""

import numpy as np
import pytest

from mercer.jobs.features import GAP, LOG, Feature, features_of, unit_of
from mercer.readers.data import DATE, NUMBER, Column

RANDOM = np.random.default_rng(0)


def parts(values, kind=NUMBER):
    return [feature.part for feature in features_of(Column("c", kind, np.asarray(values, dtype=float)))]


def test_ordinary_numbers_are_left_alone():
    assert parts(RANDOM.normal(size=200)) == [""]
    assert parts([0, 1] * 50) == [""]


def test_skewed_numbers_have_a_logarithm_and_gaps_are_offered():
    assert parts(RANDOM.lognormal(sigma=2, size=200)) == ["", LOG]
    values = RANDOM.normal(size=200)
    values[:10] = np.nan
    assert parts(values) == ["", GAP]
    values[4:] = 1.0
    assert GAP not in parts(values)  # four are too few


def test_cycles_need_time_to_show():
    days = np.arange(0.0, 1000.0, 7.5)
    assert parts(days, DATE) == ["", *(f"{c} {w}" for c in ("day", "week", "year") for w in ("sine", "cosine"))]
    assert parts(np.arange(100.0), DATE) == ["", "week sine", "week cosine"]
    assert parts(np.arange(10.0), DATE) == [""]


def test_values():
    values = np.array([0.0, 10.0, np.nan])
    assert Feature("c").of(values, 5.0, 1.0).tolist() == [0, 10, 5]
    assert Feature("c", GAP).of(values, 5.0, 1.0).tolist() == [0, 0, 1]
    np.testing.assert_allclose(Feature("c", LOG).of(values, 5.0, 2.0), np.arcsinh([0, 5, 2.5]))
    assert unit_of(np.array([0.0, -4.0, 4.0, np.nan])) == 4.0
    mondays = np.array([4.0, 11.0, 18.0])  # 5 January 1970 was a Monday
    np.testing.assert_allclose(Feature("c", "week sine").of(mondays, 0.0, 1.0), 0.0, atol=1e-12)
    np.testing.assert_allclose(Feature("c", "week cosine").of(mondays, 0.0, 1.0), 1.0)


def test_names():
    assert Feature("age").name == "age"
    assert Feature("age", LOG).name == "age (log)"
    assert all(map(Feature.is_part, ("", LOG, GAP, "week sine")))
    assert not any(map(Feature.is_part, ("week", "month sine", "x")))


@pytest.mark.parametrize("values", [[], [np.nan, np.nan], [1e300, -1e300, 1e300, 0.0], [5.0] * 9])
def test_odd_columns_break_nothing(values):
    assert features_of(Column("c", NUMBER, np.array(values)))[0] == Feature("c")

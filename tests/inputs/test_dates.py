"""Dates are days, and never nanoseconds by accident."""

from datetime import date, datetime

import numpy as np
import pytest

from mercer import SVC, KernelRidge, kernels
from mercer.errors import DataWarning, InputError
from mercer.inputs.dates import days
from mercer.inputs.series import Series


@pytest.mark.parametrize(
    "column",
    [
        ["1970-01-02", "1970-01-03T12:00"],
        [datetime(1970, 1, 2), datetime(1970, 1, 3, 12)],
        np.array(["1970-01-02T00", "1970-01-03T12"], dtype="datetime64[h]"),
    ],
    ids=["text", "datetime", "numpy"],
)
def test_days(column):
    assert days(column).values.tolist() == [[1.0], [2.5]]


def test_days_of_a_series():
    pd = pytest.importorskip("pandas")
    column = pd.Series(pd.to_datetime(["1970-01-02 00:00", "1970-01-03 12:00"]))
    assert days(column).values.tolist() == [[1.0], [2.5]]


def test_dates_without_a_time_and_bad_ones():
    assert days([date(1970, 1, 11)]).values.tolist() == [[10.0]]
    with pytest.raises(InputError, match="not dates"):
        days(["soon"])
    with pytest.raises(InputError, match="row 1 holds no date"):
        days(np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"))
    with pytest.raises(InputError, match="one column"):
        days(np.array([["2020-01-01"]], dtype="datetime64[D]"))
    for numbers in ([2019, 2020], np.array([1.5, 2.5]), np.array([1, 2], dtype=object)):
        with pytest.raises(InputError, match="not dates, but numbers, such as"):
            days(numbers)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_dates_among_numbers_are_not_counted_in_microseconds(frame):
    frames = pytest.importorskip(frame)
    when = [datetime(2020, 1, day) for day in (1, 2, 3, 4)]
    for column in (when, [one - when[0] for one in when]):
        with pytest.raises(InputError, match=r"dates or times.*as_="):
            SVC().fit(frames.DataFrame({"when": column, "size": [0.0, 1.0, 2.0, 3.0]}), [0, 0, 1, 1])
    with pytest.raises(InputError, match="as_="):
        SVC().fit([[one] for one in when], [0, 0, 1, 1])


def test_vectors_refuse_dates_and_say_what_to_do():
    when = np.array(["2020-01-01", "2020-02-01"], dtype="datetime64[ns]")
    for X in (when[:, None], np.array([[1], [2]], dtype="timedelta64[D]")):
        with pytest.raises(InputError, match=r"dates or times.*as_=\"days\""):
            SVC().fit(X, [0, 1])
    with pytest.raises(InputError, match=r"'when' holds dates or times.*as_=\"days\""):
        kernels.on("when", kernels.RBF()).fit({"when": when})


def test_vectors_refuse_dates_of_a_frame():
    pd = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=r"dates or times.*as_=\"days\""):
        SVC().fit(pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2020-02-01"])}), [0, 1])


def test_periodic_and_lasting_parts_of_dates_in_a_table():
    when = np.arange("2015-01-01", "2019-01-01", dtype="datetime64[D]")[::7]
    t = when.astype("datetime64[us]").astype(np.int64) / 86_400_000_000
    y = np.sin(2 * np.pi * t / 365.25) + t / 2000
    kernel = kernels.on("when", kernels.Periodic(period=365.25), as_="days") + kernels.on(
        "when", kernels.Linear(), as_="days"
    )
    K = kernel.fit({"when": when})({"when": when})
    expected = np.exp(-2 * np.sin(np.pi * (t[:, None] - t) / 365.25) ** 2) + np.outer(t, t)
    np.testing.assert_allclose(K, expected, rtol=1e-9)
    model = KernelRidge(1e-3, kernel=kernel).fit({"when": when[:150]}, y[:150])
    assert np.abs(model.predict({"when": when[150:]}) - y[150:]).max() < 0.05


def test_series_that_are_wider_than_long_are_asked_about():
    X = np.zeros((4, 3, 50))
    with pytest.warns(DataWarning, match=r"length 3 with 50 channels.*transpose\(0, 2, 1\)"):
        Series.coerce(X)
    assert Series.coerce(X.transpose(0, 2, 1)).channels == 3
    assert Series.coerce(list(X)).channels == 50


@pytest.mark.parametrize("one", [[0.0, 1.0, 2.0], np.ones((5, 2))])
def test_a_single_series(one):
    found = Series.coerce([one])
    assert len(found) == 1
    assert found.channels == np.atleast_2d(np.transpose(one)).shape[0]
    np.testing.assert_array_equal(found.values.ravel(), np.ravel(one))

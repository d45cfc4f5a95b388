"""Dates in the forms that people write, against Python's own parser."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import DataFileError
from mercer.readers import read
from mercer.readers.dates import day_text, days_of

WRITINGS = {
    "ymd": ("%Y-%m-%d", "%Y/%m/%d"),
    "dmy": ("%d.%m.%Y", "%d-%m-%Y"),
    "mdy": ("%m/%d/%Y",),
    "day month year": ("%d %b %Y", "%a, %d %B %Y"),
    "month day year": ("%b %d, %Y", "%B %d %Y"),
}
days = st.lists(st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)), min_size=1, max_size=5)


@given(days, st.sampled_from([(form, way) for form, ways in WRITINGS.items() for way in ways]))
def test_every_form(dates, written):
    form, way = written
    clear = [dt.date(2020, 5, 28), *dates]  # no month has the number 28
    values, found = days_of([date.strftime(way) for date in clear])
    assert found == form
    assert values.tolist() == [(date - dt.date(1970, 1, 1)).days for date in clear]


def test_times_and_gaps():
    values, form = days_of(["2020-01-01T12:00", "", "2020-01-02 06:00:00Z", "2020-01-02 06:00:00.5+02:00"])
    assert form == "ymd"
    np.testing.assert_allclose(values - 18262, [0.5, np.nan, 1.25, 1.25 + 0.5 / 86400])
    values, form = days_of(["1:30 PM", "00:15"])
    assert (form, values.tolist()) == ("clock", [13.5 / 24, 0.25 / 24])


def test_ambiguous_days():
    assert days_of(["03/04/2020"])[1] == "mdy"
    assert days_of(["03.04.2020"])[1] == "dmy"
    assert days_of(["03/04/2020", "13/04/2020"])[1] == "dmy"


@pytest.mark.parametrize("cells", [["2020-02-30"], ["2020-01-01", "soon"], ["13/13/2020"], ["", ""], ["25:61"], ["5"]])
def test_what_is_no_date(cells):
    assert days_of(cells) is None


def test_text():
    assert day_text(18262.0) == "2020-01-01"
    assert day_text(18262.5) == "2020-01-01 12:00"
    assert day_text(0.25) == "06:00"


def test_files(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when,y\n" + "\n".join(f"{n % 28 + 1}/2/2021,{n % 2}" for n in range(40)))
    data = read(path, target="y")
    assert (data.objects["when"].kind, data.styles) == ("date", {"when": "dmy"})
    assert any("read as dates" in note for note in data.notes)
    path.write_text("when\n3/2/2021\n")
    again = read(path, require_target=False, styles=(("when", "dmy"),))
    assert day_text(again.objects["when"].values[0]) == "2021-02-03"
    path.write_text("when\nsoon\n")
    with pytest.raises(DataFileError, match='column "when": "soon" is not a date'):
        read(path, require_target=False, styles=(("when", "dmy"),))
    assert read(path, require_target=False, categories=("when",)).objects["when"].kind == "category"

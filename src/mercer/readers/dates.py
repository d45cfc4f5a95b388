"""Dates and times of day as people write them, as days since 1970."""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer._types import Float64
from mercer.readers.cells import MISSING

_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d+)?))?\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
_TIME = rf"(?:[ T,]\s*{_CLOCK}\s*(?:Z|UTC|[+-]\d{{2}}:?\d{{2}})?)?"
_SHORT = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = dict(zip(_SHORT, range(1, 13), strict=True))
_MONTH = r"(?P<month>(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\.?"
FORMS: dict[str, re.Pattern[str]] = {
    "ymd": re.compile(rf"(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}}))?{_TIME}"),
    "dmy": re.compile(rf"(?P<day>\d{{1,2}})[-/.](?P<month>\d{{1,2}})[-/.](?P<year>\d{{4}}|\d{{2}}){_TIME}"),
    "mdy": re.compile(rf"(?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})[-/.](?P<year>\d{{4}}|\d{{2}}){_TIME}"),
    "day month year": re.compile(
        rf"(?:[A-Za-z]{{3,9}},?\s+)?(?P<day>\d{{1,2}})[. -]+{_MONTH}[ ,-]+(?P<year>\d{{4}}){_TIME}"
    ),
    "month day year": re.compile(rf"{_MONTH}\s+(?P<day>\d{{1,2}}),?\s+(?P<year>\d{{4}}){_TIME}"),
    "clock": re.compile(_CLOCK),
}
"""The date formats. `dmy` comes before `mdy`: if both fit every value, points mean `dmy` and slashes `mdy`."""
_BY_NAME = ("ymd", "day month year", "month day year")
MIXED = {"mixed dmy": (*_BY_NAME, "dmy"), "mixed mdy": (*_BY_NAME, "mdy")}
"""Forms that one column may mix: each date has one of them. Files that several people write, or one spreadsheet after
another, have such columns."""
DIGITS = "digits"
"""The form of 20240131, in a column of numbers."""
_PATTERNS = FORMS | {DIGITS: re.compile(rf"(?P<year>\d{{4}})(?P<month>\d\d)(?P<day>\d\d){_TIME}")}
_DIGITS_FROM, _DIGITS_TO, _DIGITS_DISTINCT = 18000101, 21001231, 5
"""Numbers are dates if all are days of these years, and there are as many different ones: of other numbers of eight
digits one in 80 would be, so five by chance are out of the question."""
_LOOKED_AT = 100  # number of cells that determine the possible date formats; all others are then read in one of these
_YOUNG = 70  # two-digit years: 70 to 99 are in the last century, as in POSIX
_EPOCH = dt.date(1970, 1, 1).toordinal()


def is_form(style: str) -> bool:
    """Whether a style of a column is a form of dates."""
    return style in FORMS or style in MIXED or style == DIGITS


def days_of(cells: Sequence[str], form: str | None = None) -> tuple[Float64, str] | None:
    """Days since 1970 (NaN if missing), and the form in which they are written; None if they are not dates.

    A time of day is a fraction of a day in local time, so daily cycles follow the clock.
    """
    present = list(itertools.islice((cell for cell in cells if cell not in MISSING), _LOOKED_AT))
    if not present:
        return (np.full(len(cells), np.nan), form) if form is not None else None
    for name in _plausible(present) if form is None else (form,):
        found = _read(cells, name)
        if found is not None:
            return found, name
    return None


def _plausible(present: Sequence[str]) -> list[str]:
    fitting = [name for name, pattern in FORMS.items() if all(map(pattern.fullmatch, present))]
    mixed = [name for name, forms in MIXED.items() if all(_first_fit(cell, forms) for cell in present)]
    if {"dmy", "mdy"} <= set(fitting) and "/" in present[0]:
        fitting.sort(key=lambda name: name == "dmy")
    return fitting + mixed


def _first_fit(cell: str, forms: Sequence[str]) -> re.Match[str] | None:
    return next((match for form in forms if (match := _PATTERNS[form].fullmatch(cell))), None)


def _read(cells: Sequence[str], form: str) -> Float64 | None:
    forms, days = MIXED.get(form, (form,)), dict[str, float]()
    for cell in dict.fromkeys(cells):  # dates usually repeat
        if cell in MISSING:
            continue
        match = _first_fit(cell, forms)
        day = None if match is None else _day(match.groupdict())
        if day is None:
            return None
        days[cell] = day
    return np.fromiter((days.get(cell, np.nan) for cell in cells), dtype=np.float64, count=len(cells))


def _day(parts: dict[str, Any]) -> float | None:
    """The day and the time of day; None if there is no such day."""
    clock = _clock(parts)
    if clock is None or "year" not in parts:
        return clock
    year, month = int(parts["year"]), parts["month"]
    if len(parts["year"]) == 2:
        year += 1900 if year >= _YOUNG else 2000
    number = int(month) if month.isdigit() else _MONTHS[month[:3].lower()]
    try:
        return dt.date(year, number, int(parts["day"] or 1)).toordinal() - _EPOCH + clock
    except ValueError:
        return None


def _clock(parts: dict[str, Any]) -> float | None:
    if parts["hour"] is None:
        return 0.0
    hour, minute, second = int(parts["hour"]), int(parts["minute"]), float((parts["second"] or "0").replace(",", "."))
    if parts["half"]:
        hour = hour % 12 + (12 if parts["half"][0] in "Pp" else 0)
    return (hour + (minute + second / 60.0) / 60.0) / 24.0 if hour < 25 and minute < 60 and second < 61 else None


def days_of_digits(numbers: Float64) -> Float64 | None:
    """Days since 1970 of numbers such as 20240131 (NaN if missing); None unless they are dates."""
    present = np.unique(numbers[~np.isnan(numbers)])
    if len(present) < _DIGITS_DISTINCT or not _DIGITS_FROM <= present[0] <= present[-1] <= _DIGITS_TO:
        return None
    texts = [f"{number:.0f}" if number.is_integer() else "" for number in present.tolist()]
    days = _read(texts, DIGITS) if all(texts) else None
    if days is None:
        return None
    places = np.searchsorted(present, numbers)  # NaN comes after all others
    return np.where(np.isnan(numbers), np.nan, days[np.minimum(places, len(days) - 1)])


def day_text(days: float, style: str = "") -> str:
    """A day since 1970 as text, with its time if it has one.

    A time of day without a date is a day between 0 and 1. The style of the column tells whether this one is.
    """
    whole = int(np.floor(days))
    alone = style == "clock" if style else 0 <= days < 1
    date = "" if alone else dt.date.fromordinal(whole + _EPOCH).isoformat()
    minutes = round((days - whole) * 1440)
    clock = f"{minutes // 60:02d}:{minutes % 60:02d}" if minutes or not date else ""
    return f"{date} {clock}".strip()

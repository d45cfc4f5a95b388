"""Numbers on axes stand clear of the names of these, and read like numbers."""

import re

import pytest

from mercer.report.drawing import Axes


@pytest.mark.parametrize("top", [1.0, 900.0, 231_545.0, 48_000_000.0])
def test_numbers_on_an_axis_stand_clear_of_its_name(top):
    picture = Axes((1970.0, 1987.0), (0.0, top), "year", "the prediction", "a picture").svg()
    numbers = re.findall(r'<text x="([\d.]+)" y="[\d.]+" font-size="11" text-anchor="end">([^<]+)</text>', picture)
    assert len(numbers) >= 4
    for end, text in numbers:
        assert float(end) - 6.5 * len(text) >= 18, text  # the name stands at 12, 12 pixels high
        assert "e" not in text
    assert ">1975<" in picture  # a year has no comma
    assert top < 10_000 or any("," in text for _, text in numbers)

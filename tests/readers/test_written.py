"""Numbers as people write them, read the same way in training and later."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import DataFileError
from mercer.readers import read
from mercer.readers.written import SCALES, Style, on_scale, written_numbers


@pytest.mark.parametrize(
    ("cells", "values", "style"),
    [
        (["12%", "7.5 %", "-3%"], [12, 7.5, -3], "number .%"),
        (["$1,234.50", "$5", "-$2", "($7)"], [1234.5, 5, -2, -7], "number .$"),
        (["12 €", "1.234,50 €"], [12, 1234.5], "number ,€"),
        (["EUR 5", "EUR 6.5"], [5, 6.5], "number .EUR"),
        (["1,234", "56", "7,654,321"], [1234, 56, 7654321], "number ."),
        (["1,5", "0,25", "3"], [1.5, 0.25, 3], "number ,"),
        (["0,518", "1,234"], [0.518, 1.234], "number ,"),  # nobody groups the thousands of zero
        (["1.234.567", "12"], [1234567, 12], "number ,"),
        (["1 234", "1'234,5"], [1234, 1234.5], "number ,"),
        (["70.5 kg", "81 kg", ""], [70.5, 81, np.nan], "number .kg"),
        (["5", "-", "7,000"], [5, np.nan, 7000], "number ."),
        (["1e3 m", "2.5E-1 m"], [1000, 0.25], "number .m"),
    ],
)
def test_forms(cells, values, style):
    found = written_numbers(cells)
    np.testing.assert_array_equal(found.values, values)
    assert (str(found.style), found.wrong) == (style, ())
    assert Style.of(style) == found.style
    np.testing.assert_array_equal(written_numbers(cells, found.style).values, values)


@pytest.mark.parametrize(
    "cells",
    [["a", "b"], ["5 km", "300 m"], ["12-03", "13-04"], ["1,23,4"], ["(5", "6)"], ["$5 kg"], ["1.2.3"], ["--5", "5--"]],
)
def test_other_words_are_no_numbers(cells):
    found = written_numbers(cells)
    assert found is None or found.wrong


def test_mistakes_are_told_from_words():
    assert written_numbers(["1%"] * 9 + ["lots"]).wrong == ("lots",)
    assert written_numbers(["1%"] * 7 + ["lots"] * 3) is None


def test_a_known_style_does_not_change_with_the_rows():
    comma, point = Style(","), Style(".")
    assert written_numbers(["1,234"], comma).values.tolist() == [1.234]
    assert written_numbers(["1,234"], point).values.tolist() == [1234]
    assert written_numbers(["5 g"], Style(".", "kg")).wrong == ("5 g",)
    assert written_numbers(["5"], Style(".", "kg")).values.tolist() == [5]


@given(st.floats(-1e9, 1e9).map(lambda value: round(value, 2)))
def test_grouped_numbers_come_back(value):
    assert written_numbers([f"${value:,.2f}", "$1"]).values[0] == pytest.approx(value)
    european = f"{value:,.2f}".translate(str.maketrans(",.", ".,"))
    assert written_numbers([european], Style(",")).values[0] == pytest.approx(value)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["low", "High", "medium"], [1, 3, 2]),
        (["yes", "no", ""], [1, 0, np.nan]),
        (["True", "False"], [1, 0]),
        (["none", "severe"], [0, 3]),
    ],
)
def test_scales(cells, values):
    found = on_scale(cells)
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_array_equal(on_scale(cells[:1], found.style).values, values[:1])


def test_what_is_no_scale():
    for cells in (["low", "blue"], ["low", "low"], [""], ["a", "b"]):
        assert on_scale(cells) is None
    assert np.isnan(on_scale(["maybe"], Style(scale=0)).values).all()
    for steps in SCALES:
        words = [word for step in steps for word in step]
        assert len(set(words)) == len(words)
    assert Style.of("scale 99") is Style.of("number") is Style.of("x") is None


def test_files_are_read_as_in_training(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f'"{number},{number % 9}00",{number % 7}%,{("no", "yes")[number % 2]},{number % 3}' for number in range(30)]
    path.write_text("amount,share,paid,y\n" + "\n".join(rows))
    data = read(path, target="y")
    assert {key: column.kind for key, column in data.objects.items()} == dict.fromkeys(
        ("amount", "share", "paid"), "number"
    )
    assert data.objects["amount"].values[5] == 5.5
    assert any("decimal commas" in note for note in data.notes)
    path.write_text('amount,share,paid\n"1,234",3%,yes\n')
    again = read(path, require_target=False, styles=tuple(data.styles.items()), numbers=tuple(data.objects))
    assert [column.values.tolist() for column in again.objects.values()] == [[1.234], [3], [1]]
    path.write_text("amount,share,paid\n5,3 kg,yes\n")
    with pytest.raises(DataFileError, match='"3 kg" is not a number'):
        read(path, require_target=False, styles=tuple(data.styles.items()))


def test_the_target_may_be_money(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,price\n" + "\n".join(f'{n % 7},"${1000 + n * 37:,}.00"' for n in range(30)))
    assert read(path, target="price").labels[1] == 1037


def _written(folder, content):
    path = folder / "t.csv"
    path.write_text(content)
    return path


def test_a_note_on_steps_names_those_that_occur(tmp_path):
    data = read(_written(tmp_path, "a,label\n" + "low,x\nmedium,y\nhigh,x\n" * 3))
    assert any("steps from 'low' to 'high'" in note for note in data.notes)


def test_few_values_of_which_some_are_words_are_categories(tmp_path):
    data = read(_written(tmp_path, "cylinders,label\n" + "4,x\n6,y\n8,x\n4,y\n6,x\n" * 6 + "rotary,y\n"))
    assert data.objects["cylinders"].kind == "category"
    assert any("cylinders" in note and '"rotary" is not a number' in note for note in data.notes)

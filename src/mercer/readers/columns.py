"""The kind of a column of a table: numbers, categories, dates, prose, sequences, molecules or trees."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from mercer._check import did_you_mean
from mercer._types import Float64
from mercer.readers.cells import MISSING, Cells, is_finite, is_number, numbers_of
from mercer.readers.data import CATEGORY, DATE, NUMBER, SEQUENCE, SMILES, TEXT, TREE, Column
from mercer.readers.dates import DIGITS, days_of, days_of_digits, is_form
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted, some
from mercer.readers.written import Style, Written, on_scale, written_numbers

_LETTERS = re.compile(r"[A-Za-z*-]+")
_PLAIN = Style()
_EXAMPLES = {
    "ymd": "year-month-day",
    "dmy": "day.month.year",
    "mdy": "month/day/year",
    "day month year": "1 Jan 2020",
    "month day year": "Jan 1, 2020",
    "clock": "13:45",
    "mixed dmy": "in several forms; 1/2/2020 is in February",
    "mixed mdy": "in several forms; 1/2/2020 is in January",
    DIGITS: "20200131",
}
ID_NAMES = re.compile(
    r"(row|index|id|name|instance|instance_name|identifier|key|uuid|.*[ _-]id|id[ _-].*|num|number|mol_id|"
    r"rownames?|unnamed: 0|(?-i:.*[a-z0-9]I[Dd]))",  # PassengerId, customerID
    re.IGNORECASE,
)

# Rules of thumb for tables made by people, which the user overrides with --category, --text and the like.
_DISTINCT = 0.5  # with more than this share of distinct values, words are not categories
_CATEGORIES = 50  # up to this many distinct values always are categories; more make one-hot vectors long and thin
_PROSE = 20  # characters: longer words on average are prose, not names of categories
_SHORTEST_SEQUENCE = 8  # characters on average: shorter strings of letters are words
_CODES = 15  # numbers and words together are codes up to this many distinct values, each some four times on average
_ALPHABET = 6  # letters: DNA and RNA with gaps and N have no more; larger alphabets need a name that says so


@final
@dataclass(frozen=True)
class ColumnReader:
    """Determines the kinds of the columns of one table; `lines` are those of the rows, for messages."""

    name: str
    lines: Sequence[int]
    options: Options
    decided: dict[str, list[str]] = field(default_factory=dict)
    """Decisions, and the columns they are about."""

    def read(self, key: str, raw: Cells) -> Column:
        """The column `key`, of the kind given by the user or detected from its cells."""
        if isinstance(raw, np.ndarray):
            infinite = np.flatnonzero(np.isinf(raw))
            if len(infinite):
                line = self.lines[int(infinite[0])]
                raise problem(self.name, "an infinite number", line=line, column=key, hint="Correct or remove it.")
            return self._of_numbers(key, raw)
        values = list(map(str.strip, raw))
        kind = self._given_kind(key)
        if kind is not None and kind != NUMBER:
            return _words(key, kind, values)
        style = dict(self.options.styles).get(key)
        if style is not None:
            return self._styled(key, values, style)
        if self.options.decimal_comma:
            commas = written_numbers(values, Style(","))
            if commas is not None and not commas.wrong:
                dates = self._of_numbers(key, commas.values)
                return dates if dates.kind == DATE else Column(key, NUMBER, commas.values, str(commas.style))
        numbers = numbers_of(values)
        if numbers is not None:
            return self._of_numbers(key, numbers)
        self._refuse_infinite(key, values)
        found = self._written(key, values, must_be_numbers=kind == NUMBER)
        if found is not None:
            return found
        return _words(key, kind_of_words(key, [value for value in values if value not in MISSING]), values)

    def _of_numbers(self, key: str, numbers: Float64) -> Column:
        """A column of plain numbers, which are quantities or, with eight digits, may be dates."""
        if dict(self.options.styles).get(key) == DIGITS:
            return self._styled(key, ["" if np.isnan(one) else f"{one:.16g}" for one in numbers.tolist()], DIGITS)
        days = None if key in self.options.numbers else days_of_digits(numbers)
        if days is None:
            return Column(key, NUMBER, numbers)
        self._note_dates(key, DIGITS)
        return Column(key, DATE, days, DIGITS)

    def _note_dates(self, key: str, form: str) -> None:
        self._note(key, f"read as dates ({_EXAMPLES[form]}; --category reads them as words)")

    def _written(self, key: str, values: list[str], *, must_be_numbers: bool) -> Column | None:
        """Numbers in any notation, dates or steps of a scale; a few other words among numbers are an error."""
        dated = None if must_be_numbers else days_of(values)
        if dated is not None:
            self._note_dates(key, dated[1])
            return Column(key, DATE, *dated)
        found = written_numbers(values, _PLAIN if must_be_numbers else None)
        if (found is None or found.wrong) and not must_be_numbers:
            found = on_scale(values) or found
        if found is None or found.wrong:
            self._refuse_mistakes(key, values, found, must_be_numbers=must_be_numbers)
            return None
        style = "" if found.style == _PLAIN else str(found.style)
        if style or found.grouped:
            self._note(key, f"read as {found.words}")
        return Column(key, NUMBER, found.values, style)

    def _refuse_mistakes(self, key: str, values: list[str], found: Written | None, *, must_be_numbers: bool) -> None:
        """Raise the error for a few words among numbers, or for any word in a column that must be numeric.

        A few repeated values are codes, and thus categories, not measurements with a mistake.
        """
        present = [value for value in values if value not in MISSING]
        wrong = found.wrong if found is not None else present if must_be_numbers else ()
        if wrong and not must_be_numbers and _are_codes(present):
            self._note(key, f"read as categories, because {quoted(wrong[0])} is not a number")
        elif wrong:
            hint = _mixed_hint(key, sum(value in set(wrong) for value in values), len(present))
            raise self._error(key, values, wrong[0], "is not a number", hint)

    def _styled(self, key: str, values: list[str], style: str) -> Column:
        """A column written as in training."""
        if is_form(style):
            dated = days_of(values, style)
            if dated is None:
                wrong = next(value for value in values if value not in MISSING and days_of([value], style) is None)
                hint = f"In training, dates were written as {_EXAMPLES[style]}."
                raise self._error(key, values, wrong, "is not a date", hint)
            return Column(key, DATE, *dated)
        known = Style.of(style)
        if known is None:
            raise problem(self.name, f"there is no notation of numbers called {quoted(style)}", column=key)
        found = on_scale(values, known) if known.scale is not None else written_numbers(values, known)
        if found is not None and found.wrong:
            unit = f" in {known.unit}" if known.unit else ""
            raise self._error(key, values, found.wrong[0], "is not a number", f"In training, numbers were{unit}.")
        return Column(key, NUMBER, np.full(len(values), np.nan) if found is None else found.values, style)

    def _note(self, key: str, words: str) -> None:
        self.decided.setdefault(words, []).append(key)

    @property
    def notes(self) -> list[str]:
        """What the user should know about the columns that were read."""
        return [
            f"{'Column' if len(keys) == 1 else 'Columns'} {some([quoted(key) for key in keys], 5)} {words}."
            for words, keys in self.decided.items()
        ]

    def _refuse_infinite(self, key: str, values: list[str]) -> None:
        """Raise the error for numbers that do not fit in a float."""
        present = [value for value in dict.fromkeys(values) if value not in MISSING]
        if present and all(map(is_number, present)):
            beyond = next(value for value in present if not is_finite(value))
            raise self._error(key, values, beyond, "is too large a number", "Rescale the column.")

    def _given_kind(self, key: str) -> str | None:
        options = self.options
        given = {
            CATEGORY: options.categories,
            TEXT: options.text,
            SMILES: options.smiles,
            TREE: options.trees,
            NUMBER: options.numbers,
        }
        return next((kind for kind, names in given.items() if key in names), None)

    def _error(self, key: str, values: list[str], wrong: str, message: str, hint: str) -> Exception:
        line = self.lines[values.index(wrong)]
        return problem(self.name, f"{quoted(wrong)} {message}", line=line, column=key, hint=hint)


def _words(key: str, kind: str, values: list[str]) -> Column:
    """A column of strings; "none" may be a word of a text, but never a category."""
    column = np.empty(len(values), dtype=object)
    missing = MISSING if kind == CATEGORY else MISSING - {"NA", "nan", "null", "none", "None"}
    column[:] = [None if value in missing else value for value in values]
    return Column(key, kind, column)


def _are_codes(present: Sequence[str]) -> bool:
    """Whether these are few values that repeat."""
    return 4 * len(set(present)) <= len(present) and len(set(present)) <= _CODES


def _mixed_hint(key: str, times: int, n: int) -> str:
    values = "value is" if n == 1 else "values is" if times == 1 else "values are"
    return f"{times:,} of {n:,} {values} not a number. Correct it, or use --category {shlex.quote(key)}."


def kind_of_words(key: str, present: Sequence[str]) -> str:
    """The kind of a column of words, judged by its name and by their number and length."""
    if "smiles" in key.lower():
        return SMILES
    if all(value.startswith("(") and value.endswith(")") for value in present):
        return TREE
    mean = sum(map(len, present)) / len(present)
    distinct = len(set(present))
    varied = distinct > _DISTINCT * len(present)
    if mean >= _SHORTEST_SEQUENCE and (varied or "sequence" in key.lower()) and _are_sequences(key, present[:1000]):
        return SEQUENCE
    return TEXT if distinct > _CATEGORIES and (varied or mean > _PROSE) else CATEGORY


def _are_sequences(key: str, values: Sequence[str]) -> bool:
    if not all(map(_LETTERS.fullmatch, values)):
        return False
    named = any(word in key.lower() for word in ("seq", "protein", "dna", "peptide"))
    return named or len(set("".join(values).upper())) <= _ALPHABET


def is_identifier(key: str, values: Cells) -> bool:
    """Whether a column only names the rows: its name says so, hardly any value repeats, and it is not prose."""
    if len(values) < 2 or isinstance(values, np.ndarray) or ID_NAMES.fullmatch(key) is None:
        return False
    if len({value.strip() for value in values}) <= 0.95 * len(values):  # tolerates a few rows that occur twice
        return False
    return not all(" " in value.strip() and len(value) > 40 for value in values[:20])


def column_called(given: str, columns: Mapping[str, object], name: str, option: str) -> str:
    """A column by its name, or by its number from 1, or from the end (-1)."""
    if given in columns:
        return given
    folded = [key for key in columns if key.lower() == given.lower()]
    if len(folded) == 1:
        return folded[0]
    names = list(columns)
    try:
        number = int(given)
    except ValueError:
        number = 0
    if number and abs(number) <= len(names):
        return names[number - 1 if number > 0 else number]
    hint = f"{did_you_mean(given, names)} Columns: {some(names, 20)}.".strip()
    raise problem(name, f"there is no column {quoted(given)} ({option})", hint=hint)

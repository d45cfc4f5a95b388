"""What a column of a table holds: numbers, categories, prose, sequences, molecules or trees; dates are refused."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer.readers.cells import MISSING, Cells, is_finite, is_number, numbers_of
from mercer.readers.data import CATEGORY, NUMBER, SEQUENCE, SMILES, TEXT, TREE, Column
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted

_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})"  # a day
    r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"  # and perhaps a time
)
_LETTERS = re.compile(r"[A-Za-z*-]+")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
ID_NAMES = re.compile(
    r"(row|index|id|name|instance|instance_name|identifier|key|uuid|.*[ _-]id|id[ _-].*|num|number|mol_id|rownames?|unnamed: 0|(?-i:.*[a-z0-9]I[Dd]))",
    re.IGNORECASE,
)

# Rules of thumb for tables made by people, which the user overrides with --category, --text and the like.
_MOSTLY = 0.8  # with this share of numbers a column is numeric, and the rest are mistakes; lower hides typing errors
_DISTINCT = 0.5  # with more than this share of distinct values, words are not categories
_CATEGORIES = 50  # up to this many distinct values always are categories; more make one-hot vectors long and thin
_PROSE = 20  # characters: longer words on average are prose, not names of categories
_SHORTEST_SEQUENCE = 8  # characters on average: shorter strings of letters are words
_ALPHABET = 6  # letters: DNA and RNA with gaps and N have no more; longer alphabets need a telling name


@final
@dataclass(frozen=True)
class ColumnReader:
    """Gives the columns of one table their kinds; `lines` are those of the rows, for messages."""

    name: str
    lines: Sequence[int]
    options: Options

    def read(self, key: str, raw: Cells) -> Column:
        """The column called `key`, of the kind that the user gave or that its cells show."""
        if isinstance(raw, np.ndarray):
            return Column(key, NUMBER, raw)
        values = [value.strip() for value in raw]
        kind = self._given_kind(key)
        if kind is not None and kind != NUMBER:
            return _words(key, kind, values)
        if self.options.decimal_comma:
            values = [value.replace(",", ".", 1) if _DECIMAL_COMMA.fullmatch(value) else value for value in values]
        numbers = numbers_of(values)
        if numbers is not None:
            return Column(key, NUMBER, numbers)
        self._refuse_almost_numbers(key, values, must_be_numbers=kind == NUMBER)
        return _words(key, kind_of_words(key, [value for value in values if value not in MISSING]), values)

    def _refuse_almost_numbers(self, key: str, values: list[str], *, must_be_numbers: bool) -> None:
        """Raise the error for dates, for numbers that no float holds, and for a few words among numbers."""
        present = [value for value in values if value not in MISSING]
        wrong = [value for value in present if not is_number(value)]
        if not wrong:
            beyond = next(value for value in present if not is_finite(value))
            raise self._error(key, values, beyond, "is too large a number", "Rescale the column.")
        if all(map(_DATE.fullmatch, present[:100])):
            hint = f"Convert it to a number (days since some day, say), or leave it out with --drop {shlex.quote(key)}."
            raise self._error(key, values, present[0], "is a date, and there is no kernel on dates", hint)
        if must_be_numbers or len(present) - len(wrong) >= _MOSTLY * len(present):
            raise self._error(key, values, wrong[0], "is not a number", _mixed_hint(key, wrong, len(present)))

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


def _mixed_hint(key: str, wrong: list[str], n: int) -> str:
    if _DECIMAL_COMMA.fullmatch(wrong[0]):
        return "Decimal commas are read with --decimal-comma."
    values = "value is" if n == 1 else "values is" if len(wrong) == 1 else "values are"
    return f"{len(wrong):,} of {n:,} {values} not a number. Correct it, or use --category {shlex.quote(key)}."


def kind_of_words(key: str, present: Sequence[str]) -> str:
    """The kind of a column of words, by its name, and by how many and how long they are."""
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
    """Whether a column only names the rows: a name that says so, and hardly a value twice, but no prose."""
    if len(values) < 2 or isinstance(values, np.ndarray) or ID_NAMES.fullmatch(key) is None:
        return False
    if len({value.strip() for value in values}) <= 0.95 * len(values):
        return False
    return not all(" " in value.strip() and len(value) > 40 for value in values[:20])

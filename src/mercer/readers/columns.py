"""What a column of text holds: numbers, categories, prose, sequences, molecules, trees; dates are refused."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

import numpy as np

from mercer.readers.data import CATEGORY, NUMBER, SEQUENCE, SMILES, TEXT, TREE, Column
from mercer.readers.grid import Cells, numbers_of
from mercer.readers.labels import MISSING, is_number
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted

_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})"  # a day
    r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"  # and perhaps a time
)
_SEQUENCE = re.compile(r"[A-Za-z*-]+")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
ID_NAMES = re.compile(
    r"(row|index|id|name|instance|instance_name|identifier|key|uuid|.*[ _-]id|id[ _-].*|num|number|mol_id)",
    re.IGNORECASE,
)
_MOSTLY = 0.8
_FEW_SHARE = 0.5
_FEW = 50
_LONG = 20


class Typist:
    """Gives each column its kind; `notes` collects what should be said."""

    def __init__(self, name: str, lines: Sequence[int], options: Options) -> None:
        self.name = name
        self.lines = lines
        self.options = options
        self.notes: list[str] = []

    def column(self, key: str, raw: Cells) -> Column:
        if isinstance(raw, np.ndarray):
            return Column(key, NUMBER, raw)
        values = [value.strip() for value in raw]
        present = [value for value in values if value not in MISSING]
        told = self._told(key)
        if told is not None and told != NUMBER:
            return self._words(key, told, values)
        if not present:
            return Column(key, NUMBER, np.full(len(values), np.nan))
        if self.options.decimal_comma:
            values = [value.replace(",", ".", 1) if _DECIMAL_COMMA.fullmatch(value) else value for value in values]
            present = [value for value in values if value not in MISSING]
        quickly = numbers_of(values)
        if quickly is not None:
            return Column(key, NUMBER, quickly)
        numbers = sum(map(is_number, present))
        if numbers == len(present):
            raise self._beyond(key, values)
        if all(_DATE.fullmatch(value) for value in present[:100]):
            raise self._date(key, values, present[0])
        if numbers >= _MOSTLY * len(present) or told == NUMBER:
            raise self._mixed(key, values, present, len(present) - numbers)
        return self._words(key, kind_of_words(key, present), values)

    def _told(self, key: str) -> str | None:
        kinds: tuple[tuple[tuple[str, ...], str], ...] = (
            (self.options.categories, CATEGORY),
            (self.options.text, TEXT),
            (self.options.smiles, SMILES),
        )
        kinds += ((self.options.trees, TREE), (self.options.numbers, NUMBER))
        return next((kind for names, kind in kinds if key in names), None)

    def _beyond(self, key: str, values: list[str]) -> Exception:
        wrong = next(value for value in values if value not in MISSING and abs(float(value)) == np.inf)
        return self._at(key, values, wrong, f"{quoted(wrong)} is too large a number", "Rescale the column.")

    def _words(self, key: str, kind: str, values: list[str]) -> Column:
        column = np.empty(len(values), dtype=object)
        gaps = MISSING if kind == CATEGORY else MISSING - {"NA", "nan", "null", "none", "None"}
        column[:] = [None if value in gaps else value for value in values]
        return Column(key, kind, column)

    def _date(self, key: str, values: list[str], day: str) -> Exception:
        drop = f"--drop {shlex.quote(key)}"
        hint = f"Make it a number (days since some day, month of the year), or leave it out with {drop}."
        return self._at(key, values, day, f"{quoted(day)} is a date, and there is no kernel on dates", hint)

    def _mixed(self, key: str, values: list[str], present: list[str], many: int) -> Exception:
        wrong = next(value for value in present if not is_number(value))
        told = f"{count(many, 'value')} of {len(present):,} {'is' if many == 1 else 'are'} no number"
        hint = f"{told}. Correct it, or use --category {shlex.quote(key)}."
        if _DECIMAL_COMMA.fullmatch(wrong):
            hint = "Decimal commas are read with --decimal-comma."
        return self._at(key, values, wrong, f"{quoted(wrong)} is not a number", hint)

    def _at(self, key: str, values: list[str], wrong: str, message: str, hint: str) -> Exception:
        return problem(self.name, message, line=self.lines[values.index(wrong)], column=key, hint=hint)


def kind_of_words(key: str, present: Sequence[str]) -> str:
    """What words in a column are, from its name and from how often and how long they are."""
    lower = key.lower()
    if "smiles" in lower:
        return SMILES
    if all(value.startswith("(") and value.endswith(")") for value in present):
        return TREE
    distinct = set(present)
    mean = sum(map(len, present)) / len(present)
    letters = all(_SEQUENCE.fullmatch(value) for value in present[:1000])
    if letters and mean >= 8 and (len(distinct) > _FEW_SHARE * len(present) or "sequence" in lower):
        alphabet = set("".join(value.upper() for value in present[:1000]))
        if len(alphabet) <= 6 or ("seq" in lower or "protein" in lower or "dna" in lower or "peptide" in lower):
            return SEQUENCE
    many = len(distinct) > _FEW_SHARE * len(present) and len(distinct) > _FEW
    if many or (mean > _LONG and len(distinct) > _FEW):
        return TEXT
    return CATEGORY


def is_identifier(key: str, values: Cells) -> bool:
    """Whether a column only names the rows: every value another, and a name that says so."""
    if len(values) < 2 or isinstance(values, np.ndarray) or ID_NAMES.fullmatch(key) is None:
        return False
    distinct = len({value.strip() for value in values})
    if distinct > 0.95 * len(values):
        return not all(" " in value.strip() and len(value) > 40 for value in values[:20])
    return False

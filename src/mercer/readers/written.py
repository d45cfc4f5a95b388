"""Numbers as people write them: percentages, currencies, thousands separators, decimal commas, units, scales of words.

The notation of a column is detected once, in training, and kept as a short text (a `Style`): new files are read in the
same way, even if their few rows look different.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.readers.cells import MISSING

_CURRENCY = r"[$€£¥₹₩₽¢]|(?:USD|EUR|GBP|JPY|CHF|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|BRL|kr)"
_CELL = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[-+−–]?)\s*(?P<before>{_CURRENCY})?\s*(?P<late>[-−–]?)"
    r"(?P<body>\d[\d.,'’ \u00a0\u202f]*|\.\d+)(?P<power>[eE][+-]?\d+)?"
    rf"\s*(?P<after>%|‰|{_CURRENCY}|[A-Za-zµμ°Ω][A-Za-zµμ°Ω²³/.]{{0,9}})?\s*(?P<close>\))?"
)
_GROUPED = {mark: re.compile(rf"\d{{1,3}}(?:[{mark}'’ \u00a0\u202f]\d{{3}})+|\d+") for mark in ",."}
_MINUS = ("-", "−", "–")
_BLANKS = frozenset(
    ("-", "--", "---", "—", "–", ".", "..", "n.a.", "N.A.", "na", "n/d", "unknown", "Unknown", "missing", "Missing",
     "#DIV/0!", "#VALUE!", "#REF!")
)  # fmt: skip
"""Marks of missing numbers, besides the usual words for them; in a column of words they may be words."""
MOSTLY = 0.8
"""A column with at least this fraction of numbers is numeric, and the rest are mistakes; a lower value hides typing
errors."""

SCALES: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("false", "f"), ("true", "t")),
    (("no", "n"), ("yes", "y")),
    (("off",), ("on",)),
    (("absent",), ("present",)),
    (("very low", "vlow"), ("low",), ("medium", "med", "moderate", "middle", "mid"), ("high",), ("very high", "vhigh")),
    (("xxs",), ("xs",), ("s", "small"), ("m", "medium"), ("l", "large"), ("xl",), ("xxl",)),
    (("never",), ("rarely", "seldom"), ("sometimes",), ("often", "frequently"), ("always",)),
    (("none",), ("mild",), ("moderate",), ("severe",), ("critical",)),
    (("poor", "po"), ("fair", "fa"), ("average", "typical", "ta"), ("good", "gd"), ("excellent", "ex")),
    (("very bad",), ("bad",), ("ok", "neutral"), ("good",), ("very good",)),
    (("fair",), ("good",), ("very good",), ("premium",), ("ideal",)),
    (("strongly disagree",), ("disagree",), ("neutral", "undecided"), ("agree",), ("strongly agree",)),
    (("first",), ("second",), ("third",), ("fourth",), ("fifth",)),
    (("mon", "monday"), ("tue", "tuesday"), ("wed", "wednesday"), ("thu", "thursday"), ("fri", "friday"),
     ("sat", "saturday"), ("sun", "sunday")),
    (("jan", "january"), ("feb", "february"), ("mar", "march"), ("apr", "april"), ("may",), ("jun", "june"),
     ("jul", "july"), ("aug", "august"), ("sep", "september"), ("oct", "october"), ("nov", "november"),
     ("dec", "december")),
)  # fmt: skip
"""Words in ascending order, with alternative spellings of each step."""


@final
@dataclass(frozen=True)
class Style:
    """The notation of the numbers of a column: the decimal mark and the unit (``%``, ``kg``, ``$``).

    A column of ordered words has the number of its scale in `SCALES` instead.
    """

    decimal: str = "."
    unit: str = ""
    scale: int | None = None

    def __str__(self) -> str:
        return f"scale {self.scale}" if self.scale is not None else f"number {self.decimal}{self.unit}"

    @classmethod
    def of(cls, text: str) -> Style | None:
        """The style with this text; None if there is none."""
        kind, _, rest = text.partition(" ")
        if kind == "scale" and rest.isdigit() and int(rest) < len(SCALES):
            return cls(scale=int(rest))
        return cls(rest[0], rest[1:]) if kind == "number" and rest[:1] in (",", ".") else None


@final
@dataclass(frozen=True, eq=False)
class Written:
    """A column of numbers as written, and the cells that are not numbers."""

    values: Float64
    style: Style
    wrong: tuple[str, ...] = ()
    grouped: bool = False
    """Whether commas group thousands."""

    @property
    def words(self) -> str:
        """How a note describes the way a column is read."""
        style = self.style
        if style.scale is not None:
            steps = [step[0] for step in SCALES[style.scale]]
            found = self.values[~np.isnan(self.values)].astype(int)
            return f"steps from {steps[found.min()]!r} to {steps[found.max()]!r} (--category reads them as words)"
        how = " with decimal commas" if style.decimal == "," else ""
        if self.grouped:
            how = " with commas between thousands (--decimal-comma reads them as decimal)"
        return f"numbers{f' in {style.unit}' if style.unit else ''}{how}"


def written_numbers(cells: Sequence[str], known: Style | None = None) -> Written | None:
    """The numbers in these cells, NaN if missing; None unless most of them are numbers."""
    present = Counter(cells)
    for cell in [cell for cell in present if _is_blank(cell)]:
        del present[cell]
    style = known or _style(present)
    if style is None or not present:
        return None
    read, wrong = _each_number(present, style)
    if known is None and sum(present[cell] for cell in read) < MOSTLY * present.total():
        return None
    grouped = style.decimal == "." and any("," in cell for cell in present)
    return Written(_looked_up(read, cells), style, tuple(wrong), grouped)


def _each_number(cells: Iterable[str], style: Style) -> tuple[dict[str, float], list[str]]:
    """The numbers by cell, and the cells that are not numbers."""
    read, wrong = dict[str, float](), list[str]()
    for cell in cells:
        value = _number(cell, style)
        if value is None:
            wrong.append(cell)
        else:
            read[cell] = value
    return read, wrong


def _looked_up(values: dict[str, float], cells: Sequence[str]) -> Float64:
    """The value of each cell, NaN for cells that have none. Every distinct cell is read once."""
    return np.fromiter((values.get(cell, np.nan) for cell in cells), dtype=np.float64, count=len(cells))


def _style(present: Counter[str]) -> Style | None:
    """The decimal mark and the unit that most of these cells share."""
    matches = {cell: match for cell in present if (match := _CELL.fullmatch(cell))}
    if not matches or sum(present[cell] for cell in matches) < MOSTLY * present.total():
        return None
    units = Counter[str]()
    for cell, match in matches.items():
        units[match["before"] or match["after"] or ""] += present[cell]
    return Style(_decimal([match["body"] for match in matches.values()]), units.most_common(1)[0][0])


def _decimal(bodies: Sequence[str]) -> str:
    """The decimal mark: the later one if a number has both; a comma unless all commas group thousands."""
    both = [body for body in bodies if "," in body and "." in body]
    if both:
        return "," if both[0].rfind(",") > both[0].rfind(".") else "."
    commas = [body.strip() for body in bodies if "," in body]
    if commas:
        return "." if all(_GROUPED[","].fullmatch(body) and body[0] != "0" for body in commas) else ","
    return "," if any(body.count(".") > 1 for body in bodies) else "."


def _is_blank(cell: str) -> bool:
    return cell in MISSING or cell in _BLANKS


def _number(cell: str, style: Style) -> float | None:
    match = _CELL.fullmatch(cell)
    if match is None or not _is_sound(match, style):
        return None
    size = _size(match["body"].strip(), match["power"] or "", style.decimal)
    negative = bool(match["open"] or match["late"]) or match["sign"] in _MINUS
    return size if size is None or not negative else -size


def _is_sound(match: re.Match[str], style: Style) -> bool:
    """Whether brackets are closed, and there is at most one sign and one unit, that of the style."""
    unit = match["before"] or match["after"] or ""
    twice = (match["before"] and match["after"]) or (match["sign"] and match["late"])
    return bool(match["open"]) == bool(match["close"]) and not twice and unit in ("", style.unit)


def _size(body: str, power: str, decimal: str) -> float | None:
    """A number without its sign; None if its thousands are grouped wrongly, or it does not fit in a float."""
    whole, _, fraction = body.partition(decimal)
    grouped = not whole or _GROUPED["." if decimal == "," else ","].fullmatch(whole)
    if not grouped or not (fraction or "0").isdigit():
        return None
    value = float(f"{re.sub(r'[^0-9]', '', whole) or 0}.{fraction or 0}{power}")
    return None if value == np.inf else value


def on_scale(cells: Sequence[str], known: Style | None = None) -> Written | None:
    """Words as the numbers of their steps on a scale; None if no scale has all of them, or all are the same step.

    With a `known` scale, words that it does not have are missing values.
    """
    folded = {cell: cell.lower() for cell in dict.fromkeys(cells)}
    present = {word for cell, word in folded.items() if _is_present(cell, word)}
    places = range(len(SCALES)) if known is None else [known.scale or 0]
    for place in places:
        steps = {word: float(number) for number, step in enumerate(SCALES[place]) for word in step}
        if known is None and not (present <= set(steps) and len({steps[word] for word in present}) > 1):
            continue
        read = {cell: steps[word] for cell, word in folded.items() if word in steps}
        return Written(_looked_up(read, cells), Style(scale=place))
    return None


def _is_present(cell: str, word: str) -> bool:
    return cell not in MISSING or word == "none"

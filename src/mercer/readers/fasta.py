"""FASTA: sequences over several lines, with labels in their header lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted
from mercer.readers.source import Source, empty

_NAMED = re.compile(r"(?i)(?:^|[\s|;,])(?:label|class|target|y)\s*[=:]\s*([^\s|;,]+)")
_WHOLE, _LAST = r"^(.*)$", r"[\s|]([^\s|]*)$"
_SYMBOLS = re.compile(r"[A-Za-z*.-]+")
_SYMBOLS_HINT = "Letters, *, . and - are. For other text use one string per line."


def read_fasta(source: Source, options: Options) -> Data:
    """Sequences in upper case, with their gaps; a record without a sequence is an error."""
    headers, lines, written = _records(source)
    sequences = [text.upper() for text in written]
    notes = ["Lower case is read as upper case."] if sequences != written else []
    pattern = None if options.labels is not None else options.label_pattern or _pattern(headers, notes)
    labels = None if pattern is None else _matched(source.name, headers, lines, pattern)
    ids: list[str] | None = [header.split()[0] if header else str(place) for place, header in enumerate(headers, 1)]
    if options.require_target and len(set(ids or ())) < len(headers):
        ids = None
    found = None if labels is None else np.array(labels)
    known = {"label_pattern": pattern}
    return Data(source.name, "fasta", "strings", sequences, found, "label", ids, lines, tuple(notes), known)


def _records(source: Source) -> tuple[list[str], list[int], list[str]]:
    """Headers, their lines, and sequences as they are written."""
    headers: list[str] = []
    lines: list[int] = []
    parts: list[list[str]] = []
    for number, line in source.numbered:
        text = line.strip()
        if text.startswith(">"):
            headers.append(text[1:].strip())
            lines.append(number)
            parts.append([])
        elif headers and text:
            wrong = next((one for one in text if not _SYMBOLS.fullmatch(one)), None)
            if wrong is not None:
                what = f"{quoted(wrong)} is not a symbol of a sequence"
                raise problem(source.name, what, line=number, hint=_SYMBOLS_HINT)
            parts[-1].append(text)
        elif text and not text.startswith(";"):  # old files begin with comments
            what = f"{quoted(text)} before the first header line"
            raise problem(source.name, what, line=number, hint="Header lines start with >.")
    if not headers:
        raise empty(source.name)
    for header, start, part in zip(headers, lines, parts, strict=True):
        if not part:
            what = f"the record {quoted(header)} has no sequence"
            raise problem(source.name, what, line=start, hint="Add its sequence, or remove the record.")
    return headers, lines, ["".join(part) for part in parts]


def _pattern(headers: Sequence[str], notes: list[str]) -> str | None:
    """Where labels are: written as `label=...`, or few enough words for many records; None if nowhere."""
    if all(map(_NAMED.search, headers)):
        return _NAMED.pattern
    if _may_be_labels(headers):
        notes.append("The header lines are the labels.")
        return _WHOLE
    last = [re.split(r"[\s|]+", header)[-1] for header in headers]
    if all(re.search(r"[\s|]", header) for header in headers) and _may_be_labels(last):
        notes.append("The last word of each header line is its label (--label-pattern chooses another).")
        return _LAST
    return None


def _may_be_labels(words: Sequence[str]) -> bool:
    """Whether words recur as labels do: twice each on average, and not all the same."""
    return len(words) > 3 and 1 < len(set(words)) <= len(words) / 2


def _matched(name: str, headers: Sequence[str], lines: Sequence[int], pattern: str) -> list[str]:
    if len(pattern) > 200:  # longer than any useful pattern, and short enough to compile quickly
        raise problem(name, "a label pattern has at most 200 characters", hint="Shorten --label-pattern.")
    example = "Put the label in brackets: 'class=([a-z]+)'."
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        what = f"{quoted(pattern)} is not a regular expression: {error}"
        raise problem(name, what, hint=example) from error
    if wanted.groups < 1:
        raise problem(name, f"the label pattern {quoted(pattern)} has no group", hint=example)
    labels = []
    for header, line in zip(headers, lines, strict=True):
        match = wanted.search(header[:10_000])
        if match is None or match.group(1) is None:
            what = f"{quoted(header)} has no label of the form {quoted(pattern)}"
            raise problem(name, what, line=line, hint="Correct --label-pattern or the header line.")
        labels.append(match.group(1))
    return labels

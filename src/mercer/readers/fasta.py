"""FASTA: sequences over several lines, labels in their header lines or in a table beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mercer.readers.data import Data
from mercer.readers.finishing import finished
from mercer.readers.options import Options
from mercer.readers.problems import problem, quoted
from mercer.readers.source import Source

_NAMED = re.compile(r"(?:^|[\s|;,])(?:label|class|target|y)\s*[=:]\s*([^\s|;,]+)", re.IGNORECASE)
_SYMBOLS = re.compile(r"[A-Za-z*.-]+")
_FEW = 0.5


def read_fasta(source: Source, options: Options) -> Data:
    """Sequences in upper case, gaps and all; a record without a sequence is an error that names it."""
    headers: list[str] = []
    lines: list[int] = []
    parts: list[list[str]] = []
    lower = False
    for number, line in source.numbered:
        text = line.strip()
        if text.startswith((">", ";")) and (text.startswith(">") or not headers):
            if text.startswith(">"):
                headers.append(text[1:].strip())
                lines.append(number)
                parts.append([])
        elif text:
            if not headers:
                raise problem(
                    source.name, f"{quoted(text)} before the first header line, which starts with >", line=number
                )
            if not _SYMBOLS.fullmatch(text):
                wrong = next(one for one in text if not _SYMBOLS.fullmatch(one))
                raise problem(
                    source.name,
                    f"{quoted(wrong)} is no symbol of a sequence",
                    line=number,
                    hint="Letters, * and - are. For other text use one string per line.",
                )
            lower = lower or text != text.upper()
            parts[-1].append(text.upper())
    for header, start, part in zip(headers, lines, parts, strict=True):
        if not part:
            raise problem(source.name, f"the record {quoted(header)} has no sequence", line=start)
    if not headers:
        raise problem(source.name, "the file is empty")
    notes = ["Lower case is read as upper case."] if lower else []
    labels = _labels(source.name, headers, lines, options, notes)
    ids = [header.split()[0] if header else str(number) for number, header in enumerate(headers, 1)]
    unique = len(set(ids)) == len(ids)
    sequences = ["".join(part) for part in parts]
    return finished(
        source.name,
        "fasta",
        "strings",
        sequences,
        labels,
        options,
        ids=ids if unique or not options.require_target else None,
        lines=lines,
        notes=notes,
    )


def _labels(
    name: str, headers: Sequence[str], lines: Sequence[int], options: Options, notes: list[str]
) -> list[str] | None:
    if options.labels is not None:
        return None
    if options.label_pattern is not None:
        return _matched(name, headers, lines, options.label_pattern)
    found = [_NAMED.search(header) for header in headers]
    if all(found):
        return [match.group(1) for match in found if match]
    if len(headers) > 3 and 1 < len(set(headers)) <= _FEW * len(headers):
        notes.append("The header lines are the labels.")
        return list(headers)
    last = [re.split(r"[\s|]+", header)[-1] for header in headers]
    if (
        all(re.search(r"[\s|]", header) for header in headers)
        and 1 < len(set(last)) <= _FEW * len(last)
        and len(last) > 3
    ):
        notes.append("The last word of each header line is its label (--label-pattern says otherwise).")
        return last
    return None


def _matched(name: str, headers: Sequence[str], lines: Sequence[int], pattern: str) -> list[str]:
    if len(pattern) > 200:
        raise problem(name, "a label pattern has at most 200 characters")
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise problem(name, f"{quoted(pattern)} is no regular expression: {error}") from error
    if wanted.groups < 1:
        raise problem(
            name,
            f"the label pattern {quoted(pattern)} has no group",
            hint="Put the label in brackets: 'class=([a-z]+)'.",
        )
    labels = []
    for header, line in zip(headers, lines, strict=True):
        match = wanted.search(header[:10_000])
        if match is None or match.group(1) is None:
            raise problem(name, f"{quoted(header)} has no label of the form {quoted(pattern)}", line=line)
        labels.append(match.group(1))
    return labels

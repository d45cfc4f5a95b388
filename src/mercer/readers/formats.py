"""The supported formats: their readers, and how to recognise them by first bytes, suffix and lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from mercer.readers.problems import problem
from mercer.readers.source import Source, empty, refuse_pickle


@final
@dataclass(frozen=True)
class Format:
    """One format of files or folders.

    `module` and `function` name its reader, which takes a `Source` (for folders, a path) and `Options`, and returns
    `Data` with the labels that the file holds, as text or numbers. Modules are imported when a file needs them; a dot
    in front stands for `mercer.readers`.
    """

    module: str
    function: str
    suffixes: tuple[str, ...] = ()
    magic: bytes | None = None
    """The first bytes of every file of a binary format."""
    folder: bool = False
    pieces: str | None = None
    """Where long files may be split: "lines", "records" (headers with >) or "paragraphs". None: read whole."""


FORMATS: dict[str, Format] = {
    "csv": Format(".delimited", "read_csv", (".csv", ".data"), pieces="lines"),
    "tsv": Format(".delimited", "read_tsv", (".tsv", ".tab"), pieces="lines"),
    "parquet": Format(".parquet", "read_parquet", (".parquet", ".pq"), magic=b"PAR1"),
    "feather": Format(".parquet", "read_feather", (".feather", ".arrow", ".ipc"), magic=b"ARROW1"),
    "excel": Format(
        ".spreadsheets", "read_spreadsheet", (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), magic=b"\xd0\xcf\x11\xe0"
    ),
    "sqlite": Format(".sqlite", "read_sqlite", (".sqlite", ".sqlite3", ".db"), magic=b"SQLite format 3\0"),
    "npy": Format(".arrays", "read_npy", (".npy",), magic=b"\x93NUMPY"),
    "npz": Format(".arrays", "read_npz", (".npz",), magic=b"PK\x03\x04"),
    "svmlight": Format(".svmlight", "read_svmlight", (".svm", ".svmlight", ".libsvm"), pieces="lines"),
    "text": Format(".text", "read_text", pieces="lines"),
    "labelled-text": Format(".text", "read_labelled_text", pieces="lines"),
    "jsonl": Format(".json_lines", "read_jsonl", (".jsonl", ".ndjson"), pieces="lines"),
    "folder": Format(".folders", "read_folder", folder=True),
    "fasta": Format(".fasta", "read_fasta", (".fa", ".fasta", ".fna", ".faa", ".ffn"), pieces="records"),
    "smiles": Format(".molecules", "read_smiles", (".smi", ".smiles"), pieces="lines"),
    "sdf": Format(".molecules", "read_sdf", (".sdf", ".sd")),
    "tu": Format(".tu_dataset", "read_tu", folder=True),
    "graphml": Format(".graph_files", "read_graphml", (".graphml",)),
    "edges": Format(".graph_files", "read_edges", (".edges", ".edgelist"), pieces="paragraphs"),
    "trees": Format(".text", "read_trees", (".mrg", ".ptb", ".trees"), pieces="lines"),
    "gram": Format(".delimited", "read_gram"),
}
_SUFFIXES = {suffix: name for name, format_ in FORMATS.items() for suffix in format_.suffixes}
_SVMLIGHT = re.compile(r"\S+(\s+qid:\d+)?(\s+\d+:\S+)*\s*(#.*)?")
_ARFF = re.compile(r"@(relation|problemname)\b", re.IGNORECASE)
_NUMBER_CELL = re.compile(r"(^|,)\s*-?\d+(\.\d+)?\s*(,|$)")
_SHEETS = (b"[Content_Types].xml", b"xl/", b"opendocument.spreadsheet")
_ZIP_HEAD = 4096  # bytes of an archive in which the first member of a spreadsheet is named
_LINES = 50  # lines examined: enough to see whether they are alike, and quick for a long file


def detect(source: Source) -> str:
    """The name of the format; a suffix that the content contradicts is an error."""
    refuse_pickle(source.name, source.content)
    magic = by_magic(source)
    suffixed = by_suffix(source)
    if magic is not None:
        if suffixed is not None and FORMATS[suffixed].magic is None:
            raise problem(
                source.name,
                f"the name ends in {source.suffix}, but the content is {magic}",
                hint=f"Rename the file, or read it with --format {magic}.",
            )
        return magic
    if suffixed is not None and FORMATS[suffixed].magic is not None:
        raise problem(
            source.name,
            f"the name ends in {source.suffix}, but the file does not begin like one",
            hint=f"Is it damaged? Write it again as {suffixed}, or rename it to what it is.",
        )
    if not source.content.strip():
        raise empty(source.name)
    return suffixed or _by_lines(source)


def by_magic(source: Source) -> str | None:
    """The binary format whose first bytes these are."""
    if source.content.startswith(b"PK\x03\x04") and any(mark in source.content[:_ZIP_HEAD] for mark in _SHEETS):
        return "excel"
    marks = ((name, format_.magic) for name, format_ in FORMATS.items())
    return next((name for name, magic in marks if magic is not None and source.content.startswith(magic)), None)


def by_suffix(source: Source) -> str | None:
    """The format that a suffix implies; .txt and others imply none."""
    return _SUFFIXES.get(source.suffix)


def _by_lines(source: Source) -> str:
    lines = [line for line in source.head(2000) if line.strip()][:_LINES]
    if not lines:
        raise empty(source.name)
    _refuse_unread(source, lines)
    return next((name for name, looks_like in _LOOKS if looks_like(source, lines)), "text")


def _refuse_unread(source: Source, lines: list[str]) -> None:
    """Refuse formats that are known, but not supported."""
    if _ARFF.match(next((line for line in lines if line[0] not in "%#"), "")):
        what = "ARFF and the files of the time series archive are not read"
        raise problem(source.name, what, hint="Save it as CSV.")
    if lines[0].lstrip().startswith("<") and not _is_graphml(source, lines):
        what = "XML or HTML; of these, only GraphML is read"
        raise problem(source.name, what, hint="Save it as CSV or as text, one object per line.")


def _is_jsonl(source: Source, lines: list[str]) -> bool:
    first = lines[0].lstrip()
    return first.startswith("{") or (first.startswith("[") and source.suffix == ".json") or _is_array(lines)


def _is_array(lines: list[str]) -> bool:
    """Whether this begins like an array of JSON objects."""
    return re.match(r"\s*\[\s*\{", "\n".join(lines)) is not None


def _is_graphml(source: Source, lines: list[str]) -> bool:
    return lines[0].lstrip().startswith("<") and "<graphml" in source.text[:10_000]


def _is_sdf(source: Source, lines: list[str]) -> bool:
    return any(line.startswith(("$$$$", "M  END")) for line in source.head(10_000))


def _is_trees(source: Source, lines: list[str]) -> bool:
    bare = (line.partition("\t")[2] or line for line in lines)
    return all(line.lstrip().startswith("(") and line.rstrip().endswith(")") for line in bare)


def _is_svmlight(source: Source, lines: list[str]) -> bool:
    return any(":" in line for line in lines) and all(map(_SVMLIGHT.fullmatch, lines))


def _is_csv(source: Source, lines: list[str]) -> bool:
    """Every line has the same number of delimiters; in a .txt file, two commas at least, and numbers."""
    if source.suffix != ".txt":
        return any(_marks_per_line(lines, mark) > 0 for mark in ",;|")
    numbers = sum(_NUMBER_CELL.search(line) is not None for line in lines)
    # Four lines in five hold numbers: a header and a few gaps are fine, prose with two commas per line is not a table.
    return len(lines) > 2 and _marks_per_line(lines, ",") >= 2 and numbers >= 0.8 * len(lines)


def _marks_per_line(lines: list[str], mark: str) -> int:
    """How often a mark occurs in each line; 0 if the numbers differ."""
    found = {line.count(mark) for line in lines}
    return found.pop() if len(found) == 1 else 0


_LOOKS: tuple[tuple[str, Callable[[Source, list[str]], bool]], ...] = (
    ("fasta", lambda source, lines: lines[0].lstrip().startswith(">")),
    ("jsonl", _is_jsonl),
    ("graphml", _is_graphml),
    ("sdf", _is_sdf),
    ("trees", _is_trees),
    ("svmlight", _is_svmlight),
    ("labelled-text", lambda source, lines: _marks_per_line(lines, "\t") == 1),
    ("tsv", lambda source, lines: _marks_per_line(lines, "\t") > 1),
    ("csv", _is_csv),
)
"""What the lines of each format look like; the first that fits wins, and text fits always."""

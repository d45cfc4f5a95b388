"""Which format a file has: by the marks in its first bytes, then its suffix, then what its lines look like."""

from __future__ import annotations

import re

from mercer.readers.options import Options
from mercer.readers.problems import problem
from mercer.readers.source import Source

_MARKS = ((b"PAR1", "parquet"), (b"\x93NUMPY", "npy"), (b"PK\x03\x04", "npz"))
_SUFFIXES = {
    ".csv": "csv",
    ".data": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".npz": "npz",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".fa": "fasta",
    ".fasta": "fasta",
    ".fna": "fasta",
    ".faa": "fasta",
    ".ffn": "fasta",
    ".smi": "smiles",
    ".smiles": "smiles",
    ".sdf": "sdf",
    ".sd": "sdf",
    ".graphml": "graphml",
    ".edges": "edges",
    ".edgelist": "edges",
    ".mrg": "trees",
    ".ptb": "trees",
    ".trees": "trees",
}
_BINARY = ("parquet", "npy", "npz")
_SVMLIGHT = re.compile(r"\S+(\s+qid:\d+)?(\s+\d+:\S+)*\s*(#.*)?")
_SAMPLE = 50


def detect(source: Source, options: Options) -> str:
    """The format; a suffix that the content contradicts is an error that says so."""
    marked = next((name for mark, name in _MARKS if source.content.startswith(mark)), None)
    suffixed = _SUFFIXES.get(source.suffix)
    if marked is not None:
        if suffixed is not None and suffixed not in _BINARY:
            raise problem(
                source.name,
                f"called {source.suffix}, but its content is {marked}",
                hint=f"Rename it, or say --format {marked}.",
            )
        return marked
    if suffixed in _BINARY:
        raise problem(source.name, f"called {source.suffix}, but it does not begin as such a file does")
    if not source.content.strip():
        raise problem(source.name, "the file is empty")
    return suffixed or _by_content(source)


def _by_content(source: Source) -> str:
    lines = [line for line in source.head(2000) if line.strip()][:_SAMPLE]
    first = lines[0].lstrip()
    if first.startswith(">"):
        return "fasta"
    if first.startswith("{") or (first.startswith("[") and source.suffix == ".json"):
        return "jsonl"
    if re.match(r"@(relation|problemname)\b", next((one for one in lines if one[0] not in "%#"), ""), re.IGNORECASE):
        raise problem(
            source.name, "ARFF or a file of the time series archive, which are not read", hint="Save it as CSV."
        )
    if first.startswith("<"):
        if "<graphml" in source.text[:10_000]:
            return "graphml"
        raise problem(source.name, "XML or HTML, of which only GraphML is read")
    if any(line.startswith(("$$$$", "M  END")) for line in source.head(10_000)):
        return "sdf"
    bare = [line.partition("\t")[2] or line for line in lines]
    if all(line.lstrip().startswith("(") and line.rstrip().endswith(")") for line in bare):
        return "trees"
    if all(_SVMLIGHT.fullmatch(line) for line in lines) and any(":" in line for line in lines):
        return "svmlight"
    tabs = {line.count("\t") for line in lines}
    if tabs == {1}:
        return "labelled-text"
    if len(tabs) == 1 and tabs != {0}:
        return "tsv"
    for mark in ",;|":
        marks = {line.count(mark) for line in lines}
        if source.suffix != ".txt" and len(marks) == 1 and marks != {0}:
            return "csv"
    if source.suffix == ".txt" and _looks_tabular(lines):
        return "csv"
    return "text"


def _looks_tabular(lines: list[str]) -> bool:
    """A text file is a table only where the same number of commas, two at least, comes with numbers."""
    marks = {line.count(",") for line in lines}
    numbers = sum(bool(re.search(r"(^|,)\s*-?\d+(\.\d+)?\s*(,|$)", line)) for line in lines)
    return len(lines) > 2 and len(marks) == 1 and min(marks) >= 2 and numbers >= 0.8 * len(lines)

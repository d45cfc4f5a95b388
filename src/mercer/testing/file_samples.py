"""Small well-formed files of every format, with their contents, for the conformance suite of readers."""

from __future__ import annotations

import importlib.util
import io
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from mercer.testing.workbooks import workbook

_MANY = 40  # objects: enough to fill several of the small pieces in which the suite streams files
_LABELS = ["yes" if number % 2 else "no" for number in range(_MANY)]
_ROWS = [{"mass": number / 8, "colour": ("red", "blue", "grün")[number % 3]} for number in range(_MANY)]


@final
@dataclass(frozen=True, eq=False)
class FileSample:
    """A file of one format, in parts; or a folder of files."""

    format: str
    name: str
    objects: Sequence[Any]
    """What is in it: the cells of a row by name, the non-zero entries of a row, a text, an adjacency matrix."""
    parts: Sequence[bytes] = ()
    folder: Mapping[str, bytes] = field(default_factory=dict)
    labels: Sequence[Any] | None = None
    lines: Sequence[int] | None = None
    """The line that each object starts on."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Options that the file needs."""
    ignored: Sequence[bytes] = (b"\n",)
    """Lines that hold nothing, and may come between any two parts."""
    ignored_first: Sequence[bytes] = ()
    """Lines that hold nothing if they come before the first object."""
    binary: bool = False
    """Whether the content is not text: it has no lines and no encoding, and a truncated file is not read at all."""
    broken: tuple[bytes, int] | None = None
    """A part that is wrong when it comes last, and the number of its wrong line, from 1."""

    @property
    def content(self) -> bytes:
        return b"".join(self.parts)

    def __str__(self) -> str:
        return f"{self.format} in {self.name}"


def file_samples() -> Iterator[FileSample]:
    """At least one sample of every format, apart from those whose libraries are not installed.

    Formats that others define are written by their own libraries: NumPy, pyarrow, RDKit and networkx.
    """
    for make in (_tables, _sqlite, _arrays, _strings, _graphs, _folders):
        yield from make()
    libraries = {"pyarrow": _arrow, "python_calamine": _excel, "rdkit": _molecules, "networkx": _graphml}
    for library, make in libraries.items():
        if importlib.util.find_spec(library) is not None:
            yield from make()


def _text(
    format_: str, name: str, objects: Sequence[Any], texts: Sequence[str], *, head: str = "", **rest: Any
) -> FileSample:
    """A sample in which each text below `head` is an object that starts on its first line."""
    starts = np.cumsum([head.count("\n") + 1, *(text.count("\n") for text in texts[:-1])]).tolist()
    parts = [text.encode() for text in (head, *texts) if text]
    return FileSample(format_, name, objects, parts, lines=rest.pop("lines", starts), **rest)


def _tables() -> Iterator[FileSample]:
    given: dict[str, Any] = {"labels": _LABELS, "settings": {"target": "kind"}}
    for format_, name, mark in (("csv", "a.csv", ","), ("csv", "bars.csv", "|"), ("tsv", "a.tsv", "\t")):
        texts = [mark.join([str(row["mass"]), str(row["colour"]), label]) + "\n" for row, label in _labelled(_ROWS)]
        head, wrong = mark.join(["mass", "colour", "kind\n"]), mark.join(["1", "red", "yes", "more\n"])
        yield _text(format_, name, _ROWS, texts, head=head, broken=(wrong.encode(), 1), **given)
    texts = [json.dumps({**row, "kind": label}, ensure_ascii=False) + "\n" for row, label in _labelled(_ROWS)]
    yield _text("jsonl", "table.jsonl", _ROWS, texts, broken=(b"{\n", 1), **given)


def _binary_table(format_: str, name: str, content: bytes) -> FileSample:
    given = {"target": "kind"}
    return FileSample(format_, name, _ROWS, [content], labels=_LABELS, settings=given, binary=True)


def _arrow() -> Iterator[FileSample]:
    import pyarrow as pa
    import pyarrow.feather as pf
    import pyarrow.parquet as pq

    columns = {key: [row[key] for row in _ROWS] for key in ("mass", "colour")}
    table = pa.table({**columns, "kind": _LABELS})
    yield _binary_table("parquet", "a.parquet", _saved(lambda stream: pq.write_table(table, stream)))
    yield _binary_table("feather", "a.feather", _saved(lambda stream: pf.write_feather(table, stream)))


def _excel() -> Iterator[FileSample]:
    rows = [[row["mass"], row["colour"], label] for row, label in _labelled(_ROWS)]
    yield _binary_table("excel", "a.xlsx", workbook({"sheet": [["mass", "colour", "kind"], *rows]}))


def _sqlite() -> Iterator[FileSample]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE pets (mass REAL, colour TEXT, kind TEXT)")
    rows = [(row["mass"], row["colour"], label) for row, label in _labelled(_ROWS)]
    connection.executemany("INSERT INTO pets VALUES (?, ?, ?)", rows)
    yield _binary_table("sqlite", "a.sqlite", connection.serialize())
    connection.close()


def _arrays() -> Iterator[FileSample]:
    rows = np.arange(2.0 * _MANY).reshape(_MANY, 2) / 8
    objects = [_entries(row) for row in rows.tolist()]
    numbers = list(range(_MANY))
    content = _saved(lambda stream: np.save(stream, np.column_stack([rows, numbers])))
    yield FileSample("npy", "a.npy", objects, [content], labels=numbers, settings={"target": "-1"}, binary=True)
    content = _saved(lambda stream: np.savez(stream, X=rows, y=np.array(_LABELS)))
    yield FileSample("npz", "a.npz", objects, [content], labels=_LABELS, binary=True)
    objects = [{number % 5: number + 0.5, 7: 1.0} for number in range(_MANY)]
    texts = [f"{number % 2} {number % 5 + 1}:{number}.5 8:1\n" for number in range(_MANY)]
    labels = [number % 2 for number in range(_MANY)]
    ignored = (b"\n", b"# a comment\n")
    yield _text("svmlight", "a.svm", objects, texts, labels=labels, ignored=ignored, broken=(b"1 2:a\n", 1))
    yield _gram()


def _gram() -> FileSample:
    rows = [[float(min(left, right)) for right in range(1, 9)] for left in range(1, 9)]
    names = [f"o{number}" for number in range(8)]
    texts = [",".join([name, *map(str, row)]) + "\n" for name, row in zip(names, rows, strict=True)]
    settings = {"format": "gram", "require_labels": False}
    wrong = (b"bad,1,2,3,4,5,6,7,x\n", 1)
    objects = [_entries(row) for row in rows]
    head = ",".join(["", *names]) + "\n"
    return _text("gram", "a.csv", objects, texts, head=head, lines=None, settings=settings, broken=wrong)


def _strings() -> Iterator[FileSample]:
    sentences = [f"Satz {number} über Bäume" for number in range(_MANY)]
    texts = [f"{text}\n" for text in sentences]
    yield _text("text", "a.txt", sentences, texts, settings={"require_labels": False})
    texts = [f"{label}\t{text}\n" for text, label in _labelled(sentences)]
    wrong = (b"no tab here\n", 1)
    given = {"format": "labelled-text"}
    yield _text("labelled-text", "a.txt", sentences, texts, labels=_LABELS, settings=given, broken=wrong)
    texts = [f'{{"text": "{text}", "label": "{label}"}}\n' for text, label in _labelled(sentences)]
    yield _text("jsonl", "a.jsonl", sentences, texts, labels=_LABELS, broken=(b'{"text": 1}\n', 1))
    bases = ["ACGT" * (number % 4 + 1) + "GG" for number in range(_MANY)]
    texts = [f">s{number} label={label}\n{text[:-2]}\nGG\n" for number, (text, label) in enumerate(_labelled(bases))]
    wrong = (b">bad label=no\nACGT\nAC1T\n", 3)
    yield _text("fasta", "a.fa", bases, texts, labels=_LABELS, ignored_first=(b"; a comment\n",), broken=wrong)
    trees = [f"(S (N a{number}) (V b))" for number in range(_MANY)]
    texts = [f"{label}\t{tree}\n" for tree, label in _labelled(trees)]
    yield _text("trees", "a.trees", trees, texts, labels=_LABELS, broken=(b"yes\t(S (N a)\n", 1))


def _molecules() -> Iterator[FileSample]:
    from rdkit import Chem

    rows = [{"smiles": "C" * (number + 1)} for number in range(_MANY)]
    texts = [f"{row['smiles']} {label}\n" for row, label in _labelled(rows)]
    yield _text("smiles", "a.smi", rows, texts, labels=_LABELS, broken=(b"C1CC yes\n", 1))
    texts = [
        f"{Chem.MolToMolBlock(Chem.MolFromSmiles(row['smiles']))}>  <kind>\n{label}\n\n$$$$\n"
        for row, label in _labelled(rows)
    ]
    wrong = (b"bad\n\n\n  9  0\n$$$$\n", 1)
    given = {"target": "kind"}
    yield _text("sdf", "a.sdf", rows, texts, labels=_LABELS, settings=given, ignored=(), broken=wrong)


def _graphs() -> Iterator[FileSample]:
    objects = [_path(number + 1.0) for number in range(_MANY)]
    numbered = list(enumerate(_LABELS, 1))
    pattern = '{{"nodes": [0, 1, 2], "links": [[0, 1], {{"source": 1, "target": 2, "weight": {}}}], "label": "{}"}}\n'
    texts = [pattern.format(number, label) for number, label in numbered]
    wrong = (b'{"nodes": [0], "links": [{"source": 0}]}\n', 1)
    yield _text("jsonl", "graphs.jsonl", objects, texts, labels=_LABELS, broken=wrong)
    texts = [f"# {label}\na b\nb c {number}\n\n" for number, label in numbered]
    lines = [4 * number - 2 for number, _ in numbered]
    ignored, wrong = (b"\n", b"# a comment\n"), (b"# no\na b c d\n", 2)
    yield _text("edges", "a.edges", objects, texts, labels=_LABELS, lines=lines, ignored=ignored, broken=wrong)
    yield _tu()


def _graphml() -> Iterator[FileSample]:
    import networkx as nx

    writer = nx.readwrite.graphml.GraphMLWriter()
    for number, label in enumerate(_LABELS, 1):
        graph: Any = nx.Graph(label=label)
        graph.add_weighted_edges_from([(0, 1, 1), (1, 2, number)])
        writer.add_graph_element(graph)
    objects = [_path(number + 1.0) for number in range(_MANY)]
    yield FileSample("graphml", "a.graphml", objects, [_saved(writer.dump)], labels=_LABELS, ignored=())


def _tu() -> FileSample:
    edges = [f"{first}, {first + 1}\n{first + 1}, {first + 2}\n" for first in range(1, 3 * _MANY, 3)]
    back = [f"{first + 1}, {first}\n{first + 2}, {first + 1}\n" for first in range(1, 3 * _MANY, 3)]
    labels = [number % 2 for number in range(_MANY)]
    files = {
        "set_A.txt": "".join(edges + back),
        "set_graph_indicator.txt": "".join(f"{number}\n" * 3 for number in range(1, _MANY + 1)),
        "set_graph_labels.txt": "".join(f"{label}\n" for label in labels),
    }
    content = {name: text.encode() for name, text in files.items()}
    return FileSample("tu", "set", [_path(1.0)] * _MANY, folder=content, labels=labels)


def _folders() -> Iterator[FileSample]:
    files = {f"{label}/{number}.txt": f"letter {number}" for number, label in enumerate(("ham", "spam", "ham"))}
    objects = [files[name] for name in sorted(files)]
    content = {name: text.encode() for name, text in files.items()}
    yield FileSample("folder", "letters", objects, folder=content, labels=["ham", "ham", "spam"])
    lines = {label: [f"{label} number {number}" for number in range(5)] for label in ("ham", "spam")}
    content = {f"{label}.txt": "".join(f"{text}\n" for text in lines[label]).encode() for label in lines}
    objects = lines["ham"] + lines["spam"]
    yield FileSample("folder", "lines", objects, folder=content, labels=["ham"] * 5 + ["spam"] * 5)


def _path(weight: float) -> list[list[float]]:
    """Three nodes in a row, the second edge with this weight."""
    return [[0.0, 1.0, 0.0], [1.0, 0.0, weight], [0.0, weight, 0.0]]


def _entries(row: Sequence[float]) -> dict[int, float]:
    return {column: value for column, value in enumerate(row) if value}


def _labelled(objects: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    return zip(objects, _LABELS, strict=True)


def _saved(save: Callable[[io.BytesIO], Any]) -> bytes:
    stream = io.BytesIO()
    save(stream)
    return stream.getvalue()

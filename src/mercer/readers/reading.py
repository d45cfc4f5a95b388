"""`read`: a file or a folder, whatever it holds, as objects and labels."""

from __future__ import annotations

import importlib
import os
from typing import Any

from mercer._check import did_you_mean
from mercer.errors import ParameterError
from mercer.readers.data import Data
from mercer.readers.detect import detect
from mercer.readers.options import FORMATS, Options
from mercer.readers.problems import problem
from mercer.readers.smiles import sound
from mercer.readers.source import STDIN, Source, opened

_READERS = {
    "csv": ("delimited", "read_csv"),
    "tsv": ("delimited", "read_tsv"),
    "gram": ("delimited", "read_gram"),
    "parquet": ("parquet", "read_parquet"),
    "npy": ("arrays", "read_npy"),
    "npz": ("arrays", "read_npz"),
    "svmlight": ("svmlight", "read_svmlight"),
    "text": ("lines", "read_text"),
    "labelled-text": ("lines", "read_labelled_text"),
    "trees": ("lines", "read_trees"),
    "jsonl": ("json_lines", "read_jsonl"),
    "fasta": ("fasta", "read_fasta"),
    "smiles": ("molecules", "read_smiles"),
    "sdf": ("molecules", "read_sdf"),
    "graphml": ("graph_files", "read_graphml"),
    "edges": ("graph_files", "read_edges"),
}


def read(path: str | os.PathLike[str], options: Options | None = None, **settings: Any) -> Data:
    """What a file, a folder, or stdin (``-``) holds; `settings` are the fields of `Options`.

    >>> import os, tempfile
    >>> from mercer.readers import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pets.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("mass,colour,pet\\n4.5,black,cat\\n30,brown,dog\\n")
    ...     data = read(path, target="pet")
    >>> data.kind, list(data.objects), data.labels.tolist()
    ('table', ['mass', 'colour'], ['cat', 'dog'])
    """
    chosen = options if options is not None else Options(**settings)
    if chosen.format is not None and chosen.format not in FORMATS:
        hint = did_you_mean(chosen.format, FORMATS)
        raise ParameterError(f"There is no format {chosen.format!r}. {hint} Known: {', '.join(FORMATS)}.")
    name = os.fspath(path)
    if name != STDIN and os.path.isdir(name):
        return _folder(name, chosen)
    source = opened(name, chosen)
    return of_source(source, chosen.format or detect(source, chosen), chosen)


def _folder(name: str, options: Options) -> Data:
    from mercer.readers.folders import read_folder
    from mercer.readers.tu_dataset import prefix_of, read_tu

    if options.format not in (None, "tu", "folder"):
        raise problem(name, f"a folder, not a file of the format {options.format}")
    if options.format == "tu" or (options.format is None and prefix_of(name) is not None):
        return read_tu(name, options)
    return read_folder(name, options)


def of_source(source: Source, format_: str, options: Options) -> Data:
    """Readers are imported when a file needs them."""
    if format_ == "gram":
        marks = {b"\x93": "npy", b"PK": "npz"}
        format_ = next((name for mark, name in marks.items() if source.content.startswith(mark)), "gram")
    if format_ not in _READERS:
        raise problem(source.name, f"a file, where the format {format_} is a folder")
    module, function = _READERS[format_]
    reader = getattr(importlib.import_module(f"mercer.readers.{module}"), function)
    found: Data = reader(source, options)
    return sound(found, options)

"""Folders of objects: one folder per class, one file per class, or one file per object."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.inputs.graphs import Graphs
from mercer.readers.data import Data
from mercer.readers.formats import by_magic, by_suffix
from mercer.readers.graph_files import graphml_graphs, read_edges, to_graphs
from mercer.readers.merging import merged, read_alike
from mercer.readers.opening import PACKERS, open_source
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted
from mercer.readers.source import Source
from mercer.readers.text import whole_text

_MOST_FILES = 1_000_000  # listing and opening more takes longer than users wait; a single file is read faster
_ABOUT = ("README", "LICENSE", "LICENCE")
_TEXT = "text"
_HEADER = re.compile(r"\s*>[^\n]*\n")
_SEQUENCES = re.compile(r"(\s*>[^\n]*|[A-Za-z*.\s-]*)")
_HEAD = 50  # lines that tell sequences from prose: enough to see a space in a sentence


def read_folder(folder: str, options: Options) -> Data:
    """Objects in one folder per class, or in one file per class.

    Files of records (FASTA, SMILES, tables, trees and so on) contain one object per record. A text file is one object
    if there is a folder per class, and one object per line if there is a file per class; `whole_files` overrides this.
    """
    name = os.path.basename(os.path.abspath(folder))
    classes = sorted(
        entry.name
        for entry in os.scandir(folder)
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
    )
    if classes:
        files = [f"{label}/{file}" for label in classes for file in _files(os.path.join(folder, label))]
        if not files:
            what = f"{count(len(classes), 'folder')} without files"
            raise problem(name, what, hint="Put the objects of each class into its folder, one file each.")
        labels: list[str] | None = [file.partition("/")[0] for file in files]
        return _read(name, folder, files, labels, options, whole=options.whole_files is not False)
    return _read_flat(name, folder, list(_files(folder)), options)


def _read_flat(name: str, folder: str, files: list[str], options: Options) -> Data:
    """A folder without folders: a file per class, the parts of one table, or objects to be predicted."""
    parts_of_one = options.target is not None or options.label_pattern is not None or options.labels is not None
    if len(files) < 1 + (options.require_target and not parts_of_one):
        raise problem(
            name,
            "neither a folder per class nor a file per class",
            hint="Make one folder per class with one file per object, or name the file itself.",
        )
    if not options.require_target or options.labels is not None:  # to be predicted, or labelled elsewhere
        return _read(name, folder, files, None, options, whole=options.whole_files is not False)
    return _read(name, folder, files, [_class_of(file) for file in files], options, whole=bool(options.whole_files))


def _read(name: str, folder: str, files: list[str], labels: list[str] | None, options: Options, *, whole: bool) -> Data:
    """The objects of all files; `labels` are those of the files, and `whole` says that a text file is one object."""
    sources = _sources(name, folder, files, options)
    format_ = _common_format(name, sources, files)
    if format_ in ("graphml", "edges"):
        return _graphs(name, sources, files, format_, labels)
    if format_ == _TEXT and whole:
        texts = [whole_text(source) for source in sources]
        found = None if labels is None else np.array(labels)
        return Data(name, "folder", "strings", texts, found, "label", files, detail={"whole_files": True})
    return _records(name, sources, files, format_, labels, options)


def _records(
    name: str, sources: list[Source], files: list[str], format_: str, labels: list[str] | None, options: Options
) -> Data:
    """The records of all files that are not empty."""
    filled = [place for place, source in enumerate(sources) if source.content.strip()]
    if not filled:
        raise problem(name, "all of its files are empty", hint="Write one object per line.")
    parts = read_alike(name, [sources[place] for place in filled], format_, _unlabelled(options))
    data = merged(name, parts, [files[place] for place in filled])
    data = dataclasses.replace(data, detail={**data.detail, "whole_files": False})
    if data.labels is not None and (options.target is not None or options.label_pattern is not None):
        return data  # the files are parts of one table, and have their labels
    if labels is None:
        return dataclasses.replace(data, labels=None, target="label")
    own = _repeated([labels[place] for place in filled], parts)
    flat = not any("/" in file for file in files)
    notes = (f"One file per class: {', '.join(dict.fromkeys(labels))}.",) if flat else ()
    return dataclasses.replace(data, labels=own, target="label", notes=(*notes, *data.notes))


def _unlabelled(options: Options) -> Options:
    return dataclasses.replace(options, require_target=False, require_labels=False, labels=None)


def _repeated(labels: Sequence[str], parts: Sequence[Data]) -> npt.NDArray[np.str_]:
    return np.repeat(np.array(labels), [len(part) for part in parts])


def _common_format(name: str, sources: Sequence[Source], files: Sequence[str]) -> str:
    """The format of all files; refuses files of several formats."""
    found = [_format(source) for source in sources]
    other = next((place for place, format_ in enumerate(found) if format_ != found[0]), None)
    if other is not None:
        what = f"{quoted(files[0])} is {found[0]}, but {quoted(files[other])} is {found[other]}"
        raise problem(name, what, hint="Keep files of one format in the folder, and move the others elsewhere.")
    return found[0]


def _format(source: Source) -> str:
    """Detect the format from first bytes and suffix; other files are sequences, trees or prose."""
    known = by_magic(source) or by_suffix(source)
    if known is not None:
        return known
    head = [line for line in source.head(_HEAD) if line.strip()]
    if head and _HEADER.match(source.text) and all(map(_SEQUENCES.fullmatch, head)):
        return "fasta"
    if head and all(line.lstrip().startswith("(") and line.rstrip().endswith(")") for line in head):
        return "trees"
    return _TEXT


def _sources(name: str, folder: str, files: Sequence[str], options: Options) -> list[Source]:
    """The files, whose total size must not exceed that of the largest allowed file."""
    sources: list[Source] = []
    room = options.max_bytes
    for file in files:
        sources.append(open_source(os.path.join(folder, file), options))
        room -= len(sources[-1].content)
        if room < 0 or len(sources) > _MOST_FILES:
            what = "too large: the files together exceed the cap"
            raise problem(name, what, hint="Raise the cap with --max-mb, or make one file of them.")
    return sources


def _graphs(name: str, sources: Sequence[Source], files: Sequence[str], format_: str, labels: list[str] | None) -> Data:
    """The graphs of all files; several in one file are numbered."""
    if format_ == "graphml":
        found: list[list[Any]] = [graphml_graphs(source) for source in sources]
        graphs = to_graphs(name, [graph for own in found for graph in own])
    else:
        batches = [read_edges(source, Options(require_target=False)).objects for source in sources]
        found = [[batch.adjacency(place) for place in range(len(batch))] for batch in batches]
        graphs = Graphs.coerce([graph for own in found for graph in own])
    ids = [
        file if len(own) == 1 else f"{file}:{number}"
        for file, own in zip(files, found, strict=True)
        for number in range(1, len(own) + 1)
    ]
    repeated = None if labels is None else np.repeat(np.array(labels), [len(own) for own in found])
    return Data(name, "folder", "graphs", graphs, repeated, "label", ids)


def _files(folder: str) -> Iterator[str]:
    """The names of data files, in order."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_file() and not entry.name.startswith(".") and _class_of(entry.name).upper() not in _ABOUT:
            yield entry.name


def _class_of(file: str) -> str:
    base, suffix = os.path.splitext(file)
    return os.path.splitext(base)[0] if suffix in PACKERS else base

"""Folders of objects: one folder per class, or one file per class."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.inputs.graphs import Graphs
from mercer.readers.data import Data
from mercer.readers.graph_files import graphml_graphs, read_edges, to_graphs
from mercer.readers.opening import PACKERS, open_source
from mercer.readers.options import Options
from mercer.readers.problems import count, problem
from mercer.readers.source import Source

_MOST_FILES = 1_000_000  # beyond, listing and opening them takes longer than users wait; a single file is read faster
_ABOUT = ("README", "LICENSE", "LICENCE")


def read_folder(folder: str, options: Options) -> Data:
    """Texts or graphs in one folder per class, one object per file; or one file per class, one text per line."""
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
        return _objects(name, folder, files, np.array([file.partition("/")[0] for file in files]), options)
    files = list(_files(folder))
    if len(files) < 1 + options.require_target:
        raise problem(
            name,
            "neither a folder per class nor a file per class",
            hint="Make one folder per class with one file per object, or name the file itself.",
        )
    if not options.require_target:  # objects to be predicted
        return _objects(name, folder, files, None, options)
    return _file_per_class(name, folder, files, options)


def _file_per_class(name: str, folder: str, files: list[str], options: Options) -> Data:
    objects: list[str] = []
    labels: list[str] = []
    for source, file in zip(_sources(name, folder, files, options), files, strict=True):
        found = [line for line in source.lines if line.strip()]
        objects += found
        labels += [_class_of(file)] * len(found)
    if not objects:
        raise problem(name, "all of its files are empty", hint="Write one object per line.")
    notes = (f"One file per class: {', '.join(_class_of(file) for file in files[:10])}.",)
    return Data(name, "folder", "strings", objects, np.array(labels), "label", notes=notes)


def _sources(name: str, folder: str, files: Sequence[str], options: Options) -> list[Source]:
    """The files, which together must not be larger than one file may be."""
    sources: list[Source] = []
    room = options.max_bytes
    for file in files:
        sources.append(open_source(os.path.join(folder, file), options))
        room -= len(sources[-1].content)
        if room < 0 or len(sources) > _MOST_FILES:
            what = "too large: the files together exceed the cap"
            raise problem(name, what, hint="Raise the cap with --max-mb, or make one file of them.")
    return sources


def _objects(name: str, folder: str, files: list[str], labels: npt.NDArray[np.str_] | None, options: Options) -> Data:
    """One object per file: a graph or a text."""
    sources = _sources(name, folder, files, options)
    suffixes = {source.suffix for source in sources}
    if suffixes == {".graphml"}:
        graphs = to_graphs(name, [_only(source, graphml_graphs(source))[0] for source in sources])
        return Data(name, "folder", "graphs", graphs, labels, "label", files)
    if suffixes <= {".edges", ".edgelist"}:
        unlabelled = Options(require_target=False)
        batches = (_only(source, read_edges(source, unlabelled).objects) for source in sources)
        graphs = Graphs.coerce([batch.adjacency(0) for batch in batches])
        return Data(name, "folder", "graphs", graphs, labels, "label", files)
    return Data(name, "folder", "strings", [source.text for source in sources], labels, "label", files)


def _only(source: Source, graphs: Any) -> Any:
    """The graphs of a file, which must hold exactly one."""
    if len(graphs) > 1:
        what = f"{len(graphs)} graphs, but in a folder each file has one"
        raise problem(source.name, what, hint="Split the file, or name the file itself.")
    return graphs


def _files(folder: str) -> Iterator[str]:
    """The names of data files, in order."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_file() and not entry.name.startswith(".") and _class_of(entry.name).upper() not in _ABOUT:
            yield entry.name


def _class_of(file: str) -> str:
    base, suffix = os.path.splitext(file)
    return os.path.splitext(base)[0] if suffix in PACKERS else base

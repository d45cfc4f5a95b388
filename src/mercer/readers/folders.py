"""Folders: graphs of the TU collection; one folder per class; one file per class."""

from __future__ import annotations

import os
from collections.abc import Iterator

from mercer.readers.data import Data
from mercer.readers.finishing import finished
from mercer.readers.options import Options
from mercer.readers.problems import count, problem
from mercer.readers.source import Source, opened

_MOST_FILES = 1_000_000
_ABOUT = ("README", "LICENSE", "LICENCE")
_PACKERS = (".gz", ".xz", ".bz2")


def read_folder(folder: str, options: Options) -> Data:
    """Documents or graphs in one folder per class, one object per file; or one file per class, one object per line."""
    name = os.path.basename(os.path.abspath(folder))
    classes = sorted(
        entry.name
        for entry in os.scandir(folder)
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
    )
    if classes:
        return _folder_per_class(name, folder, classes, options)
    files = sorted(_files(folder))
    if len(files) < 1 + options.require_target:
        raise problem(
            name,
            "neither folders of classes nor files of them",
            hint="Make one folder per class, one file per object; or give the file itself.",
        )
    if not options.require_target:  # a folder of objects to be predicted
        sources = [opened(os.path.join(folder, file), options) for file in files]
        return _objects(name, sources, None, files, options)
    objects, labels = [], []
    for file in files:
        found = [line for line in opened(os.path.join(folder, file), options).lines if line.strip()]
        objects += found
        labels += [_class_of(file)] * len(found)
    notes = [f"One file per class: {', '.join(_class_of(file) for file in files[:10])}."]
    return finished(name, "folder", "strings", objects, labels, options, notes=notes)


def _folder_per_class(name: str, folder: str, classes: list[str], options: Options) -> Data:
    sources: list[Source] = []
    labels: list[str] = []
    ids: list[str] = []
    room = options.max_bytes
    for label in classes:
        for file in sorted(_files(os.path.join(folder, label))):
            source = opened(os.path.join(folder, label, file), options)
            room -= len(source.content)
            if room < 0 or len(sources) >= _MOST_FILES:
                raise problem(name, "too large: the files together exceed the cap", hint="Raise the cap with --max-mb.")
            sources.append(source)
            labels.append(label)
            ids.append(f"{label}/{file}")
    if not sources:
        raise problem(name, f"{count(len(classes), 'folder')}, and no files in them")
    return _objects(name, sources, labels, ids, options)


def _objects(name: str, sources: list[Source], labels: list[str] | None, ids: list[str], options: Options) -> Data:
    suffixes = {source.suffix for source in sources}
    if suffixes == {".graphml"}:
        from mercer.readers.graph_files import graphml_graphs
        from mercer.readers.node_link import coerced

        graphs = []
        for source in sources:
            found = graphml_graphs(source)
            if len(found) > 1:
                raise problem(source.name, f"{len(found)} graphs, where a folder of classes has one per file")
            graphs += found
        return finished(name, "folder", "graphs", coerced(name, graphs), labels, options, ids=ids)
    if suffixes <= {".edges", ".edgelist"}:
        from mercer.readers.graph_files import read_edges
        from mercer.readers.node_link import coerced

        unlabelled = Options(require_target=False)
        lists = [read_edges(source, unlabelled) for source in sources]
        if any(len(item) > 1 for item in lists):
            raise problem(name, "a file with several graphs, where a folder of classes has one per file")
        from mercer.inputs.graphs import Graphs

        whole = Graphs.coerce([item.objects.adjacency(0) for item in lists])
        return finished(name, "folder", "graphs", whole, labels, options, ids=ids)
    return finished(name, "folder", "strings", [source.text for source in sources], labels, options, ids=ids)


def _files(folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        plain = entry.is_file() and not entry.name.startswith(".")
        if plain and _class_of(entry.name).upper() not in _ABOUT:
            yield entry.name


def _class_of(file: str) -> str:
    base, suffix = os.path.splitext(file)
    return os.path.splitext(base)[0] if suffix in _PACKERS else base

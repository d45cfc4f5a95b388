"""Text files with one object per line: plain, after a label, or as bracketed trees."""

from __future__ import annotations

from mercer.errors import InputError
from mercer.inputs.tree_parsing import parsed
from mercer.readers.data import Data
from mercer.readers.finishing import finished
from mercer.readers.options import Options
from mercer.readers.problems import problem
from mercer.readers.source import Source


def numbered(source: Source) -> list[tuple[int, str]]:
    """Lines that hold something, with their numbers."""
    found = [(number, line) for number, line in source.numbered if line.strip()]
    if not found:
        raise problem(source.name, "the file is empty")
    return found


def read_text(source: Source, options: Options) -> Data:
    """One string per line."""
    rows = numbered(source)
    strings = [line for _, line in rows]
    return finished(source.name, "text", "strings", strings, None, options, lines=[number for number, _ in rows])


def read_labelled_text(source: Source, options: Options) -> Data:
    """A label, a tab and a string on each line; lines without a tab are strings to be predicted, if all are."""
    rows = numbered(source)
    if not options.require_target and not any("\t" in line for _, line in rows):
        return read_text(source, options)
    labels, strings = [], []
    for number, line in rows:
        label, tab, text = line.partition("\t")
        if not tab:
            raise problem(source.name, "no tab between label and text", line=number)
        labels.append(label)
        strings.append(text)
    lines = [number for number, _ in rows]
    return finished(source.name, "labelled-text", "strings", strings, labels, options, lines=lines)


def read_trees(source: Source, options: Options) -> Data:
    """A bracketed tree on each line, after a label and a tab if there is one."""
    rows = numbered(source)
    labelled = all("\t" in line for _, line in rows)
    labels = [line.partition("\t")[0] for _, line in rows] if labelled else None
    trees = [line.partition("\t")[2].strip() if labelled else line.strip() for _, line in rows]
    lines = [number for number, _ in rows]
    for number, tree in zip(lines, trees, strict=True):
        try:
            parsed([tree])
        except InputError as error:
            raise problem(
                source.name, str(error).removeprefix("Tree 0, ").removeprefix("Tree 0 "), line=number
            ) from error
    return finished(source.name, "trees", "trees", trees, labels, options, lines=lines)

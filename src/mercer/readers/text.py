"""Text files: one object per line, plain, after a label, or as bracketed trees; or one object per file."""

from __future__ import annotations

import numpy as np

from mercer.errors import InputError
from mercer.inputs.trees import Trees
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.problems import problem
from mercer.readers.source import LINE_END, Source, empty


def read_text(source: Source, options: Options) -> Data:
    """One string per line, or the whole file as one string."""
    if options.whole_files:
        if not source.text.strip():
            raise empty(source.name)
        return Data(source.name, "text", "strings", [whole_text(source)], ids=[source.name])
    lines, strings = zip(*source.full_lines, strict=True)
    return Data(source.name, "text", "strings", list(strings), lines=lines)


def whole_text(source: Source) -> str:
    """A whole file as one string, with any kind of line ends."""
    return LINE_END.sub("\n", source.text)


def read_labelled_text(source: Source, options: Options) -> Data:
    """A label, a tab and a string per line; when predicting, the labels may be absent throughout."""
    rows = source.full_lines
    if not options.require_target and not any("\t" in line for _, line in rows):
        return read_text(source, options)
    bare = next((number for number, line in rows if "\t" not in line), None)
    if bare is not None:
        hint = "Write the label, a tab and the text, or read it with --format text."
        raise problem(source.name, "no tab between label and text", line=bare, hint=hint)
    labels, strings = zip(*(line.split("\t", 1) for _, line in rows), strict=True)
    lines = [number for number, _ in rows]
    return Data(source.name, "labelled-text", "strings", list(strings), np.array(labels), "label", lines=lines)


def read_trees(source: Source, options: Options) -> Data:
    """A bracketed tree per line, after a label and a tab if every line has one."""
    lines, texts = zip(*source.full_lines, strict=True)
    labelled = all("\t" in text for text in texts)
    labels = np.array([text.partition("\t")[0] for text in texts]) if labelled else None
    trees = [text.partition("\t")[2].strip() if labelled else text.strip() for text in texts]
    for line, tree in zip(lines, trees, strict=True):
        try:
            Trees.parse([tree])
        except InputError as error:
            what = str(error).removeprefix("Tree 0, ").removeprefix("Tree 0 ")
            raise problem(source.name, what, line=line, hint="Write one tree per line: (S (NP a) (VP b)).") from error
    return Data(source.name, "trees", "trees", trees, labels, "label", lines=lines)

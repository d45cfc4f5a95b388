"""`read`: a file or a folder of any format, as objects and labels."""

from __future__ import annotations

import importlib
import os
from typing import Any

from mercer._check import did_you_mean
from mercer.errors import ParameterError
from mercer.readers.data import SMILES, Data
from mercer.readers.formats import FORMATS, by_magic, detect
from mercer.readers.labels import with_labels
from mercer.readers.opening import STDIN, open_source
from mercer.readers.options import Options
from mercer.readers.problems import problem
from mercer.readers.row_roles import refuse_roles
from mercer.readers.source import Source, empty
from mercer.readers.useless_columns import without_useless_columns


def read(path: str | os.PathLike[str], options: Options | None = None, **settings: Any) -> Data:
    """Read a file, a folder, or stdin (``-``); `settings` are the fields of `Options`.

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
    check_format(chosen)
    name = os.fspath(path)
    if name != STDIN and os.path.isdir(name):
        from mercer.readers.tu_dataset import prefix_of

        return _read_as(chosen.format or ("folder" if prefix_of(name) is None else "tu"), name, name, chosen)
    source = open_source(name, chosen)
    return read_source(source, format_of(source, chosen), chosen)


def check_format(options: Options) -> None:
    """Refuse a format that does not exist."""
    if options.format is not None and options.format not in FORMATS:
        hint = did_you_mean(options.format, FORMATS)
        raise ParameterError(f"There is no format {options.format!r}. {hint} Known: {', '.join(FORMATS)}.")


def format_of(source: Source, options: Options) -> str:
    """The format given by the user, or detected."""
    if options.format == "gram":
        return by_magic(source) or "gram"  # Gram matrices are written as text and as arrays
    return options.format or detect(source)


def read_source(source: Source, format_: str, options: Options) -> Data:
    """The data in a file of a known format, or in a piece of it."""
    return _read_as(format_, source, source.name, options)


def _read_as(format_: str, source: Source | str, name: str, options: Options) -> Data:
    """The data in a file, or in the folder at this path."""
    chosen, is_folder = FORMATS[format_], isinstance(source, str)
    if chosen.folder != is_folder:
        there, wanted, remedy = ("folder", "file", "a file in it") if is_folder else ("file", "folder", "the folder")
        hint = f"Give {remedy}, or leave --format out: Mercer detects it."
        raise problem(name, f"this is a {there}, but the format {format_} is a {wanted}", hint=hint)
    reader = getattr(importlib.import_module(chosen.module, "mercer.readers"), chosen.function)
    data = reader(source, options)
    if not len(data):
        raise empty(name, "there are no objects in it", hint="Check that whatever wrote it has finished.")
    return completed(data, options)


def completed(data: Data, options: Options) -> Data:
    """The data of a reader, with labels typed, molecules checked and useless columns left out."""
    if options.more_targets:
        hint = "Leave the others out; `mercer fit` learns several, each by a model of its own."
        raise problem(data.name, f"{1 + len(options.more_targets)} targets, where only one is possible", hint=hint)
    refuse_roles(data, options)
    data = with_labels(data, options)
    if data.kind == "table" and any(column.kind == SMILES for column in data.objects.values()):
        from mercer.readers.molecules import without_bad_molecules

        data = without_bad_molecules(data, options)
    return without_useless_columns(data, options)

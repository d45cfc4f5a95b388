"""Readers with one bug each, in the place of correct ones; each named in a copy of its entry in `FORMATS`."""

import dataclasses
import io
import os

import numpy as np

from mercer.errors import DataFileError
from mercer.readers.arrays import read_npy
from mercer.readers.data import Data
from mercer.readers.folders import read_folder
from mercer.readers.formats import FORMATS
from mercer.readers.problems import problem
from mercer.readers.source import Source
from mercer.readers.svmlight import read_svmlight

READERS = []
"""The format that a reader is planted in, its entry in the table, the check that finds it, and others that may."""


def planted(format_, check, *others):
    def register(function):
        entry = dataclasses.replace(FORMATS[format_], module=__name__, function=function.__name__)
        READERS.append((format_, entry, f"reader_{check}", {f"reader_{other}" for other in others}))
        return function

    return register


def with_text(source, text):
    """The same source with other content, as if it had been written so."""
    return Source(source.name, text.encode(), None, source.first)


@planted("svmlight", "objects")
def turned_labels(source, options):
    data = read_svmlight(source, options)
    return dataclasses.replace(data, labels=None if data.labels is None else data.labels[::-1])


@planted("svmlight", "objects", "ignored", "packed", "line_ends", "encodings", "cut_off")
def rounds_values(source, options):
    data = read_svmlight(source, options)
    return dataclasses.replace(data, objects=data.objects.floor())


@planted("svmlight", "pieces", "ignored", "line_ends", "encodings", "broken")
def counts_lines_from_one(source, options):
    return read_svmlight(dataclasses.replace(source, first=1), options)


@planted("svmlight", "pieces", "ignored", "line_ends")
def names_lines_within_a_piece(source, options):
    data = read_svmlight(source, options)
    return dataclasses.replace(data, ids=[f"row {place}" for place in range(len(data))])


@planted("svmlight", "ignored")
def refuses_comments_alone(source, options):
    if all(line.startswith("#") for line in source.lines):
        raise problem(source.name, "no data in it", hint="Write some.")
    return read_svmlight(source, options)


@planted("svmlight", "line_ends")
def loses_the_last_line_without_an_end(source, options):
    return read_svmlight(with_text(source, source.text[: source.text.rfind("\n") + 1] or source.text), options)


@planted("svmlight", "line_ends")
def knows_one_line_end(source, options):
    return read_svmlight(with_text(source, source.text.replace("\r", " ")), options)


@planted("svmlight", "encodings", "damaged")
def decodes_by_itself(source, options):
    return read_svmlight(with_text(source, source.content.decode()), options)


@planted("svmlight", "encodings")
def replaces_wrong_bytes(source, options):
    return read_svmlight(with_text(source, source.content.decode("utf-8", "ignore")), options)


@planted("svmlight", "empty", "ignored")
def makes_an_object_of_nothing(source, options):
    if all(line.startswith("#") or not line.strip() for line in source.lines):
        return Data(source.name, "svmlight", "vectors", np.zeros((1, 1)), np.zeros(1), "label", lines=[1])
    return read_svmlight(source, options)


@planted("npy", "cut_off")
def reads_what_is_there(source, options):
    stream = io.BytesIO(source.content)
    try:
        np.lib.format.read_magic(stream)
        (_, width), _, _ = np.lib.format.read_array_header_1_0(stream)
        values = np.frombuffer(stream.read(), dtype=np.float64)
    except ValueError:
        return read_npy(source, options)
    rows = values[: len(values) // width * width].reshape(-1, width)
    return Data(source.name, "npy", "vectors", rows[:, :-1], rows[:, -1].astype(str), "3")


@planted("svmlight", "broken")
def skips_what_is_wrong(source, options):
    good = [line if "a" not in line.partition("#")[0] else "" for line in source.lines]
    return read_svmlight(with_text(source, "\n".join(good)), options)


@planted("svmlight", "broken", "encodings")
def names_the_next_line(source, options):
    try:
        return read_svmlight(source, options)
    except DataFileError as error:
        name, line, rest = str(error).split(":", 2) if str(error).count(":") > 1 else (str(error), "", "")
        if not line.isdigit():
            raise
        raise problem(name, rest.strip(), line=int(line) + 1, hint="Look there.") from None


@planted("svmlight", "broken", "empty", "encodings", "cut_off", "damaged", "ignored")
def does_not_say_what_to_do(source, options):
    try:
        return read_svmlight(source, options)
    except DataFileError as error:
        raise DataFileError(str(error)) from None


@planted("svmlight", "broken", "empty", "encodings", "cut_off", "damaged")
def does_not_name_the_file(source, options):
    return read_svmlight(dataclasses.replace(source, name="data"), options)


@planted("svmlight", "damaged")
def stumbles_over_other_formats(source, options):
    if "{" in source.text:
        return {}["{"]
    return read_svmlight(source, options)


@planted("folder", "packed")
def opens_files_by_itself(folder, options):
    data = read_folder(folder, options)
    texts = []
    for name in data.ids:
        with open(os.path.join(folder, name), encoding="latin-1") as file:
            texts.append(file.read())
    return dataclasses.replace(data, objects=texts)


@planted("folder", "places")
def knows_no_cap(folder, options):
    return read_folder(folder, dataclasses.replace(options, max_bytes=2**30))

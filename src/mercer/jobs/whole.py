"""Files that are larger than memory: a sample of them is searched, and all of them is trained on in blocks.

One pass over the file counts its objects and draws the sample (`mercer.readers.thinning`). Everything is chosen on the
sample, as on a file of that size. A second pass prepares all objects as the sample was and writes them to a folder of
blocks, which a machine on landmarks is trained on.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._version import __version__
from mercer.blocks.npy import file_mark
from mercer.errors import InputError
from mercer.gram import budget
from mercer.readers.batches import IN_BATCHES, is_square, rows_in
from mercer.readers.data import Data
from mercer.readers.gram_files import may_be_gram
from mercer.readers.labels import read_labels, typed
from mercer.readers.opening import STDIN, open_stream
from mercer.readers.options import MOST_BYTES, Options
from mercer.readers.reservoir import Kept
from mercer.readers.streaming import Begun, begin, can_be_mapped
from mercer.readers.thinning import Thinned, thinned

_UNPACKED = 8.0
"""Bytes of memory that a byte of text takes, once it is read, prepared and trained on, about ..."""
_UNPACKED_NUMBERS = 4.0
"""... and a byte of numbers, in files that hold them as they are in memory."""
_SAMPLE_SHARE = 4
"""A sample takes a quarter of the memory ..."""
_FEWEST, _MOST = 5000, 100_000
"""... and has so many objects, at least and at most: enough for the largest search and for growing parts of it."""
_OURS = {"sample": "state.json", "blocks": "state.json", "run": "mark.json"}
"""The folders beside a model while it is made, and the file by which each is known to be ours."""
_MATRICES = 6
"""Matrices of float64 that a search holds at a time: of folds in two threads, and their copies."""


def beyond_memory(path: str | os.PathLike[str], options: Options, memory: float | None) -> Options | None:
    """Options for reading a file in pieces, if it would take more memory than it may and can be read so."""
    name = os.fspath(path)
    if name == STDIN or not os.path.isfile(name) or options.whole_files or options.format == "gram":
        return None
    size = os.path.getsize(name)
    if options.max_bytes != MOST_BYTES and size > options.max_bytes:
        return None  # the user has set the cap that refuses it
    room = room_of(memory)
    if size * _UNPACKED < min(room, options.max_bytes) / 250:  # however well it is packed
        return None
    free = dataclasses.replace(options, max_bytes=2**62)
    with open_stream(name, free) as file:
        begun = begin(file, free)
        unpacked = size * len(begun.head) / max(1.0, file.share * size)
    needed = _needed(name, begun, unpacked, options)
    if needed is None or (needed <= room and size <= options.max_bytes):
        return None
    return dataclasses.replace(free, format=begun.format)


def _needed(path: str, begun: Begun, unpacked: float, options: Options) -> float | None:
    """About how much memory a file takes if it is read whole; None for one that cannot be read otherwise."""
    if begun.format in IN_BATCHES and can_be_mapped(path, options):
        if options.format is None and is_square(path, begun.format):
            return None  # perhaps a Gram matrix, of which no part can be understood alone
        rows, each = rows_in(path, begun.format)
        return _UNPACKED_NUMBERS * rows * each
    if begun.cut is None or begun.format == "edges":
        return None
    first = [line.split(",") for line in begun.first.head(2)]
    if begun.format == "csv" and options.format is None and may_be_gram(first):
        return None
    return _UNPACKED * unpacked


def refuse_folders_of_others(beside: str) -> None:
    """Refuse to work where one of our folders would replace one that this program did not make."""
    for folder, mark in _folders(beside):
        if folder.exists() and not (folder / mark).exists() and (not folder.is_dir() or any(folder.iterdir())):
            error = InputError(f"{folder} is in the way: blocks would be kept there, and removed at the end.")
            error.add_note("Rename it, or choose another name for the model (-o).")
            raise error


def _folders(beside: str) -> list[tuple[Path, str]]:
    return [(Path(f"{beside}.{name}").absolute(), mark) for name, mark in _OURS.items()]


def room_of(memory: float | None) -> int:
    """Bytes that data may take."""
    return budget.stored_bytes("auto" if memory is None else memory)


@final
@dataclass(frozen=True, eq=False)
class Whole:
    """A file that is larger than the memory that it may take, seen through a sample."""

    path: str
    found: Thinned
    memory: float | None
    """MiB; None for half of what is free."""
    beside: str
    """The path next to which blocks are kept while they are needed."""
    labels: npt.NDArray[Any] | None = None
    """Of all objects, from a file of their own."""

    @classmethod
    def of(
        cls,
        path: str | os.PathLike[str],
        options: Options,
        memory: float | None,
        seed: int,
        beside: str,
        *,
        keeping: bool = False,
    ) -> Whole:
        """A file that is `beyond_memory`, whose options these are; `keeping` lets a killed run go on with it."""
        name = os.fspath(path)
        most = _sample_size(name, options, room_of(memory))
        separate = dataclasses.replace(options, as_written=options.labels is not None)
        kept = None
        if keeping:
            about = " ".join([__version__, file_mark(name), repr(separate), str(most), str(seed)])
            folder, mark = _folders(beside)[0]
            kept = Kept(folder / mark, hashlib.sha256(about.encode()).hexdigest())
        found = thinned(name, separate, most, seed, kept)
        labels = None
        if options.labels is not None:
            text, target = read_labels(options.labels, None, found.objects, options)
            labels = typed(np.array(text), options.labels)
            places = np.array([int(found.data.name_of(row)) - 1 for row in range(len(found.data))], dtype=np.intp)
            found = dataclasses.replace(
                found, data=dataclasses.replace(found.data, labels=labels[places], target=target)
            )
        return cls(name, found, memory, beside, labels)

    @property
    def data(self) -> Data:
        """The sample."""
        return self.found.data

    @property
    def objects(self) -> int:
        return self.found.objects

    @property
    def room(self) -> int:
        """Bytes that data may take."""
        return room_of(self.memory)

    @property
    def why(self) -> str:
        """A sentence for the user."""
        return (
            f"The file is too large for memory ({_shown(self.found.size)} of data for {_shown(self.room)} of memory, "
            f"--memory): everything was chosen on a random sample of {len(self.data):,} of {self.objects:,} objects"
        )

    def search_size(self, asked: int) -> int:
        """How many objects kernels are compared on, if so many can be afforded in time."""
        fits = math.isqrt(self.room // (8 * _MATRICES))
        return max(500, min(asked, fits, len(self.data) // 2))

    @property
    def folder(self) -> Path:
        """Where the prepared objects are while they are needed."""
        return _folders(self.beside)[1][0]

    @property
    def run(self) -> Path:
        """Where the state of training is kept."""
        return _folders(self.beside)[2][0]


def is_begun(beside: str) -> bool:
    """Whether something of a run is kept, from which the same command may go on."""
    return any((folder / mark).exists() for folder, mark in _folders(beside))


def remove(beside: str) -> None:
    """Delete what a run has kept: of another run, or once the model is written."""
    for folder, mark in _folders(beside):
        if (folder / mark).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _shown(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / 2**20:,.0f} MiB"


def _sample_size(path: str, options: Options, room: int) -> int:
    """How many objects a sample may have: those that can be read into a share of the memory."""
    if options.format in IN_BATCHES:
        each = _UNPACKED_NUMBERS * rows_in(path, options.format)[1]
    else:
        with open_stream(path, options) as file:
            head = begin(file, options).head
        each = _UNPACKED * len(head) / max(1, head.count(b">" if options.format == "fasta" else b"\n"))
    return int(min(_MOST, max(_FEWEST, room / _SAMPLE_SHARE / max(each, 1.0))))

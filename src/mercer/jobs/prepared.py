"""All objects of a file that is larger than memory, prepared as a sample of them was, in a folder of blocks."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._atomic import replacing
from mercer._progress import reporting
from mercer._types import Indices
from mercer._version import __version__
from mercer.blocks.folder import MANIFEST, FolderBlocks
from mercer.blocks.npy import file_mark
from mercer.blocks.writing import FolderWriter
from mercer.inputs.blocks import ROWS, Block
from mercer.inputs.tables import Table
from mercer.jobs.checkpoint import mark_of
from mercer.jobs.problem import Problem
from mercer.jobs.whole import Whole
from mercer.kernels.base import FittedKernel
from mercer.readers.cells import is_number
from mercer.readers.data import Data
from mercer.readers.labels import typed
from mercer.readers.problems import count, problem, quoted, some
from mercer.readers.streaming import Place, Sizes, stream_from

_BLOCKS = 16
"""Blocks that may be in memory at a time: read and joined ones, of each thread, and their features."""
_PIECE = 32
"""Pieces of text that may, with everything that is made of one ..."""
_PIECES = (1 << 18, 1 << 23)
"""... and how many bytes one has, at least and at most."""
_FEWEST, _NUMBERS = 64, 5000
"""Rows of a block, at least; and rows of binary files that are read at a time."""
_SAMPLE = 1000
"""Objects that tell how large they are on average."""
_STATE = "state.json"


@final
@dataclass(frozen=True, eq=False)
class Prepared:
    """What a machine is trained on, and what a user should know about it."""

    blocks: FolderBlocks
    notes: tuple[str, ...]


@final
@dataclass
class _State:
    """How far the file has been converted: enough to go on after the process was killed."""

    mark: str
    entries: list[dict[str, Any]] = field(default_factory=list)
    place: Place = field(default_factory=Place)
    """From which the file is read again."""
    kept: int = 0
    """Objects before that place that are learnt from."""
    unknown: dict[str, list[int]] = field(default_factory=dict)
    """Labels that the sample lacks: how many objects before that place have them, and the line of the first."""

    @classmethod
    def found(cls, folder: Path, mark: str) -> _State | None:
        try:
            told = json.loads((folder / _STATE).read_text(encoding="utf-8"))
            return cls(**{**told, "place": Place(*told["place"])}) if told["mark"] == mark else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, folder: Path) -> None:
        with replacing(folder / _STATE) as stream:
            stream.write(json.dumps({**vars(self), "place": dataclasses.astuple(self.place)}).encode())


def prepared(whole: Whole, asked: Problem, fitted: FittedKernel, held: Indices) -> Prepared:
    """Prepare all objects but those of the sample at `held` for a kernel; what is there already is not done again.

    The kernel is that of the landmarks, not the one on landmarks, whose features take long.
    """
    folder, mark = whole.folder, _mark(whole, asked, fitted, held)
    state = _State.found(folder, mark)
    if state is None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        state = _State(mark)
        state.write(folder)
    if not (folder / MANIFEST).exists():
        _convert(whole, asked, fitted, held, state)
    return Prepared(FolderBlocks(folder), _notes(whole, state))


def _convert(whole: Whole, asked: Problem, fitted: FittedKernel, held: Indices, state: _State) -> None:
    room = whole.room
    rows = int(min(ROWS, max(_FEWEST, room / _BLOCKS / _bytes_each(asked, fitted))))
    writer = FolderWriter(whole.folder, rows, state.entries)
    skip = writer.written - state.kept
    sizes = Sizes(piece=int(min(max(room // _PIECE, _PIECES[0]), _PIECES[1])), rows=_NUMBERS)
    labels, without = _Labels(whole, asked), _places(whole.data)[held]
    with reporting("Preparing all objects") as report:
        for data, after in stream_from(whole.path, _reading(whole, asked), sizes, state.place):
            unknown = {label: list(seen) for label, seen in state.unknown.items()}
            block = _block(data, asked, fitted, labels, np.isin(_places(data), without), unknown)
            many = 0 if block is None else len(block.objects)
            if block is not None and skip < many:
                before = len(writer.entries)
                writer.add(block if not skip else _after(block, skip))
                if len(writer.entries) > before:  # blocks end within this piece, from which reading would go on
                    state.entries = writer.entries
                    state.write(whole.folder)
            skip = max(0, skip - many)
            state.place, state.kept, state.unknown = after, state.kept + many, unknown
            report(after.objects / whole.objects)
        writer.finish()
        state.entries = writer.entries
        state.write(whole.folder)


def _bytes_each(asked: Problem, fitted: FittedKernel) -> float:
    """About how many bytes a prepared object takes."""
    part = _as_compared(asked.objects.take(slice(0, _SAMPLE)), fitted)
    return float(sum(array.nbytes for array in part.to_arrays().values()) / len(part))


def _as_compared(objects: Any, fitted: FittedKernel) -> Any:
    """Of tables, what the kernel compares, in its own form."""
    if not isinstance(objects, Table):
        return objects
    fitted.features(objects)
    return Table.from_arrays(objects.to_arrays())


def _reading(whole: Whole, asked: Problem) -> Any:
    """Options by which all pieces are read as the sample was."""
    data, options = whole.data, whole.found.options
    target = data.target if data.kind == "table" or data.format == "jsonl" else options.target
    words = (target,) if data.kind == "table" and asked.y.dtype.kind == "U" and target is not None else ()
    alike = dataclasses.replace(
        options,
        target=target,
        group=None,
        time=None,
        as_written=True,
        require_target=False,
        id="",
        categories=(*options.categories, *words),
        label_pattern=data.detail.get("label_pattern") or options.label_pattern,
        first_index=data.detail.get("first", options.first_index),
    )
    return asked.preparation.reading(alike)


def _places(data: Data) -> Indices:
    """What tells objects of a file apart: their lines or, where there are none, their numbers."""
    if data.lines is not None:
        return np.asarray(data.lines, dtype=np.intp)
    if data.ids is not None:
        return np.array([int(name) - 1 for name in data.ids], dtype=np.intp)
    return data.before + np.arange(len(data))


def _block(
    data: Data, asked: Problem, fitted: FittedKernel, labels: _Labels, out: Any, unknown: dict[str, list[int]]
) -> Block | None:
    """The objects that are learnt from; None if there are none."""
    y, known = labels.of(data, unknown)
    kept = np.flatnonzero(known & ~out)
    if not len(kept):
        return None
    part = data.take(kept)
    return Block(_as_compared(asked.preparation(part), fitted), y[kept], part.weights)


def _after(block: Block, skip: int) -> Block:
    rest = slice(skip, None)
    return Block(block.objects.take(rest), *(None if v is None else v[rest] for v in (block.y, block.weights)))


@final
class _Labels:
    """What is learnt about objects: numbers, or the places of classes among those of the sample."""

    def __init__(self, whole: Whole, asked: Problem) -> None:
        self._whole, self._asked = whole, asked
        self._classes = np.unique(asked.y) if asked.task == "classification" else None
        self._names = {} if whole.labels is not None else dict(whole.found.options.class_names)
        if self._classes is not None:
            text = self._classes.dtype.kind == "U"
            self._known = {str(label) if text else float(label): place for place, label in enumerate(self._classes)}

    def of(self, data: Data, unknown: dict[str, list[int]]) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """Targets of machines, and which objects have one."""
        separate, lines = self._whole.labels, data.lines
        given = data.labels if separate is None else separate[data.before : data.before + len(data)]
        column = data.target if data.kind == "table" else None
        if given is None:
            raise problem(data.name, "the objects have no labels", line=None if lines is None else lines[0])
        own = typed(np.asarray(given), data.name, lines, column)  # refuses missing ones
        if self._classes is None:
            y = self._numbers(own, data, column)
            known = np.isfinite(y)
        else:
            words = given if self._classes.dtype.kind == "U" else own
            y = np.array([self._code(label) for label in np.asarray(words).tolist()], dtype=np.int32)
            known = y >= 0
        for row in np.flatnonzero(~known):
            seen = unknown.setdefault(str(given[row]), [0, int(_places(data)[row])])
            seen[0] += 1
        return y, known

    def _numbers(self, own: npt.NDArray[Any], data: Data, column: str | None) -> npt.NDArray[Any]:
        """Numbers on the scale of the problem; one that has no logarithm is not known."""
        if own.dtype.kind == "U":
            row = next(row for row, label in enumerate(own.tolist()) if not is_number(label))
            line = None if data.lines is None else data.lines[row]
            hint = "Correct it, or leave the row out."
            raise problem(data.name, f"{quoted(own[row])} is not a number", line=line, column=column, hint=hint)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self._asked.link(np.asarray(own, dtype=np.float64)))

    def _code(self, label: Any) -> int:
        if self._classes is not None and self._classes.dtype.kind == "U":
            word = str(label).strip()
            return self._known.get(self._names.get(word, word), -1)
        try:
            return self._known.get(float(label), -1)
        except ValueError:
            return -1


def _notes(whole: Whole, state: _State) -> tuple[str, ...]:
    if not state.unknown:
        return ()
    many = sum(seen[0] for seen in state.unknown.values())
    names = some([f"{quoted(label)} (line {seen[1]:,})" for label, seen in state.unknown.items()], 5)
    told = f"{count(many, 'object')} left out, with labels that no object of the sample has: {names}."
    return (told,)


def _mark(whole: Whole, asked: Problem, fitted: FittedKernel, held: Indices) -> str:
    """A digest of everything that the blocks depend on."""
    told = [__version__, file_mark(whole.path), repr(whole.found.options), repr(fitted.kernel), mark_of(asked)]
    told += [repr(asked.preparation.columns), str(whole.memory), np.asarray(held).tobytes().hex()]
    return hashlib.sha256(" ".join(told).encode()).hexdigest()

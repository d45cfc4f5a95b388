"""A Gram matrix whose entries are computed tile by tile, as often as they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _deadline
from mercer._cached import cached_property
from mercer._process import single_threaded_blas
from mercer._progress import reporting
from mercer._types import Float64, Floating, Indices
from mercer.errors import KernelError
from mercer.gram import pages
from mercer.gram.contract import TILE_BYTES, Axis, Gram, Setting
from mercer.gram.executors import Sink, Work, elsewhere
from mercer.gram.sinks import ProductSink, StoreSink
from mercer.gram.stored import PairRows, StoredGram
from mercer.gram.tiles import Strip, plan
from mercer.gram.work import Computes, ExactWork, TileWork
from mercer.kernels.base import Features, Kernel
from mercer.kernels.loops.symmetry import nearly_symmetric

_SOONER = 4
"""Tiles of expensive kernels, some tenths of a second each on an idle machine, are smaller by this factor if there is a
time limit: it is checked between tiles."""
_ASYMMETRY = 1e-5
"""Up to this, relative to the largest entry, a difference between k(x, z) and k(z, x) is taken for rounding and
averaged away. A smaller bound would refuse kernels that round in float32, a larger one would hide mistakes."""


@final
@dataclass(frozen=True, eq=False)
class Source:
    """Where the entries of a matrix and of all its views come from."""

    compute: Computes
    setting: Setting
    diagonal: Float64 | None
    """k(x, x) of each object, if rows and columns are the same."""
    unproven: Kernel | None = None
    """A kernel whose symmetry has to be checked: all entries are computed, instead of half of them."""


@final
@dataclass(frozen=True, eq=False)
class FeatureAxis(Axis):
    """Objects with their features."""

    features: Any = None
    """The features of all objects of the underlying matrix."""

    @classmethod
    def all_of(cls, features: Features) -> FeatureAxis:
        return cls(len(features), None, features)

    @cached_property
    def taken(self) -> Any:
        """The features of the objects of this view. Taking copies them: once per view, not once per product."""
        return self.features if self.chosen is None else self.features.take(self.chosen)


class TiledGram(Gram):
    """Two axes with features, and what compares them."""

    def __init__(self, source: Source, rows: FeatureAxis, columns: FeatureAxis) -> None:
        super().__init__(source.setting, source.diagonal)
        self.source = source
        """Where entries come from."""
        self._rows = rows
        self._columns = columns

    @property
    def axes(self) -> tuple[FeatureAxis, FeatureAxis]:
        return self._rows, self._columns

    def _part(self, rows: FeatureAxis, columns: FeatureAxis) -> TiledGram:
        return type(self)(self.source, rows, columns)

    def rows(self, index: Any, columns: Any = None) -> Floating:
        columns = slice(None) if columns is None else columns
        return self._part(self._rows.select(index), self._columns.select(columns))._entries()

    def across(self, other: TiledGram) -> Floating:
        """The rows of this view against the columns of another one that shares no object with it.

        The features of a view are taken once, however many other views it is compared with.
        """
        return self._part(self._rows, other._columns)._computed(apart=True)

    def stored(self) -> Gram:
        return self._stored

    @cached_property
    def _stored(self) -> StoredGram:
        diagonal = self.diagonal() if self.symmetric else None
        setting = self.setting if self._rows.chosen is None else self.setting.of(self._rows.chosen)
        return StoredGram(PairRows.of(self.dense()), setting, diagonal)

    def each_tile(self, sink: Sink, *, by_columns: bool = False) -> None:
        strips = self._strips(by_columns=by_columns)
        work: Work = self.work()
        diagonal = self.source.diagonal
        if diagonal is not None:
            hits, places = coincident(*self.axes)
            work = ExactWork(work, hits, places, diagonal[self._rows.ids[hits]])
        self._run(work, strips, sink)

    def work(self) -> TileWork:
        """What computes a tile."""
        return TileWork(self.source.compute, self._rows.taken, self._columns.taken)

    def _product(self, vectors: Float64) -> Float64:
        out = np.zeros((self.shape[0], *vectors.shape[1:]))
        self.each_tile(ProductSink(out, vectors, self.dtype))
        return out

    def _entries(self) -> Floating:
        return self._computed(apart=False)

    def _computed(self, *, apart: bool) -> Floating:
        """All entries; `apart` if no object is among both rows and columns."""
        source = self.source
        out = pages.empty(self.shape, self.dtype)
        symmetric = not apart and self.symmetric
        half = symmetric and source.unproven is None
        if self.setting.at_once(out.size):
            with single_threaded_blas():
                source.compute.tile(self._rows.taken, self._columns.taken, out)
            self.setting.tally.entries += out.size
            if half:
                upper = np.triu(out, 1)
                out[...] = upper + upper.T
        else:
            strips = self._strips(symmetric=half)
            if not half:  # few long rows: there is no order to keep, so every tile is a strip
                strips = tuple((tile,) for strip in strips for tile in strip)
            self._run(self.work(), strips, StoreSink(out, mirror=half))
        if source.diagonal is not None and not apart:
            hits, places = coincident(*self.axes)
            out[hits, places] = source.diagonal[self._rows.ids[hits]]
        if symmetric and source.unproven is not None:
            refuse_asymmetry(out, source.unproven)
        return out

    def _strips(self, *, symmetric: bool = False, by_columns: bool = False) -> tuple[Strip, ...]:
        itemsize = np.dtype(self.dtype).itemsize
        most = self.source.compute.tile_entries(self._rows.taken, self._columns.taken)
        if self.expensive and _deadline.is_limited():
            most = max(1, most // _SOONER)
        bytes_at_once = min(TILE_BYTES, itemsize * most)
        return plan(*self.shape, itemsize=itemsize, budget=bytes_at_once, symmetric=symmetric, by_columns=by_columns)

    def _run(self, work: Work, strips: tuple[Strip, ...], sink: Sink) -> None:
        # More than one tile of an expensive kernel is about a second's work: worth being sent elsewhere.
        far = elsewhere() if self.expensive and (len(strips) > 1 or len(strips[0]) > 1) else None
        with reporting("Kernel values") as report:
            (far or self.executor).map(work, strips, sink, report)
        self.setting.tally.entries += sum(tile.entries for strip in strips for tile in strip)


def coincident(rows: Axis, columns: Axis) -> tuple[Indices, Indices]:
    """Positions (row, column) of equal objects, ordered by row."""
    if columns.chosen is None:
        return np.arange(len(rows)), rows.ids
    order = np.argsort(columns.chosen, kind="stable")
    if rows.chosen is None:
        return columns.chosen[order], order
    first = np.searchsorted(columns.chosen, rows.chosen, side="left", sorter=order)
    times = np.searchsorted(columns.chosen, rows.chosen, side="right", sorter=order) - first
    hits = np.repeat(np.arange(len(rows)), times)
    nth = np.arange(len(hits)) - np.repeat(np.cumsum(times) - times, times)
    return hits, order[first[hits] + nth]


def symmetric_by_construction(gram: Gram) -> bool:
    """Whether the entries below the diagonal can be ignored."""
    return gram.in_memory or (isinstance(gram, TiledGram) and gram.source.unproven is None)


def refuse_asymmetry(out: Floating, kernel: Kernel) -> None:
    """Average away rounding errors; refuse anything larger, which means that this is not a kernel."""
    if nearly_symmetric(out):
        return
    gap = np.abs(out - out.T)
    worst = float(gap.max(initial=0.0))
    if worst > _ASYMMETRY * max(1.0, float(np.abs(out).max(initial=0.0))):
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        raise KernelError(
            f"The matrix of {kernel} is not symmetric: entries ({i}, {j}) and ({j}, {i}) are {out[i, j]:g} and "
            f"{out[j, i]:g}, apart by {worst:g}. A kernel gives the same value both ways round; for example use "
            "(k(x, z) + k(z, x)) / 2."
        )
    out += out.T
    out *= 0.5

"""Chooses the implementation of `Gram`, and its precision."""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _deadline
from mercer._process import single_threaded_blas
from mercer._types import DType, Float64, Floating
from mercer.gram import budget, known
from mercer.gram.contract import Gram, Setting
from mercer.gram.executors import Threads
from mercer.gram.finer import Finer
from mercer.gram.of_features import DotProducts, FeatureRows, FeaturesGram
from mercer.gram.stored import PairRows, StoredGram
from mercer.gram.tiled import FeatureAxis, Source, TiledGram, refuse_asymmetry
from mercer.inputs.base import Objects
from mercer.inputs.vectors import is_sparse, squared_lengths
from mercer.kernels.base import ANY_TILE, Features, FittedKernel
from mercer.kernels.loops.epilogues import mirror_within

DOUBLE_ENTRIES = 2048 * 2048
"""Matrices up to this many entries are computed in float64: 32 MiB and some tens of milliseconds buy exact entries.
Larger ones would take twice the memory and twice the time of float32."""
_MOST_KEPT = 8 * 2**20
"""The most bytes of features that are kept between predictions: with more, keeping them saves little time and takes
memory.
"""


@final
class Compared:
    """Objects that new ones are repeatedly compared with: their features are kept, if they are small.

    Immutable but for its cache, so threads may share it; copies and pickles rebuild the cache.
    """

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self._keeps = objects.nbytes <= _MOST_KEPT
        self._kept: dict[DType, Features] = {}

    def features(self, fitted: FittedKernel, dtype: DType) -> Features:
        """The features of these objects; `fitted` must always be the same kernel."""
        found = self._kept.get(dtype)
        if found is None:
            found = fitted.features(self.objects, dtype)
            if self._keeps:
                self._kept[dtype] = found
        return found


_REHEARSED = 32
"""The sample of objects whose features are timed: a larger one is more accurate, and takes longer."""


def gram_of(
    fitted: FittedKernel,
    rows: Any,
    columns: Any = None,
    *,
    dtype: DType | None = None,
    memory: budget.Memory = "auto",
    executor: Threads | None = None,
) -> Gram:
    """Rows against columns; without `columns`, training objects against themselves.

    `rows` and `columns` are objects, or anything that the kernel can parse; `columns` are training objects.
    """
    row_objects = _objects(fitted, rows, new=columns is not None)
    if columns is None and known.KNOWN.get():
        found = known.find(fitted, row_objects, dtype)
        if found is not None:
            return found
    return _made(fitted, row_objects, _others(fitted, columns), dtype, memory, executor)


def _made(
    fitted: FittedKernel,
    row_objects: Objects,
    others: Compared | None,
    dtype: DType | None,
    memory: budget.Memory,
    executor: Threads | None,
) -> Gram:
    entries = len(row_objects) * len(row_objects if others is None else others.objects)
    dtype = dtype or (np.float64 if entries <= DOUBLE_ENTRIES else None)
    kind, left, right = _compared(fitted, row_objects, others, dtype)
    diagonal = fitted.diagonal(left) if others is None else None
    left, right = fitted.align(left, right)
    whole = _at_hand(fitted, left, right, dtype) if others is None else None
    if whole is not None:
        kind = np.float32 if whole.dtype == np.float32 else np.float64
    expensive = fitted.tile_entries(left, right) < ANY_TILE
    setting = _set(Setting(kind, executor or Threads(1), memory, expensive, _width(left)), executor, entries)
    setting = _remembering(setting, fitted, row_objects, left, diagonal)
    if whole is not None:
        return StoredGram(PairRows.of(whole), setting, diagonal)
    if executor is None and setting.at_once(entries) and _fits(entries, setting):
        return _computed_at_once(fitted, left, right, setting, diagonal)
    source = Source(fitted, setting, diagonal, None if fitted.kernel.symmetric else fitted.kernel)
    return TiledGram(source, FeatureAxis.all_of(left), FeatureAxis.all_of(right))


def _set(setting: Setting, executor: Threads | None, entries: int) -> Setting:
    """The setting with threads if there is work for them, unless an executor was given."""
    if executor is not None or setting.at_once(entries):
        return setting
    return dataclasses.replace(setting, executor=Threads())


def _at_hand(fitted: FittedKernel, left: Features, right: Features, dtype: DType | None) -> Floating | None:
    """A matrix that is already in memory, if it has the requested precision, or if none was requested."""
    whole = fitted.kernel.whole(left, right, fitted.state)
    return whole if whole is not None and dtype in (None, whole.dtype) else None


def _others(fitted: FittedKernel, columns: Any) -> Compared | None:
    return columns if columns is None or isinstance(columns, Compared) else Compared(_objects(fitted, columns))


def _remembering(
    setting: Setting, fitted: FittedKernel, objects: Objects, features: Features, diagonal: Float64 | None
) -> Setting:
    """The setting of a float32 matrix of objects with themselves, with a source of its entries in float64."""
    if diagonal is None or setting.dtype is np.float64:
        return setting
    sizes: Any = getattr(features, "squared_lengths", diagonal)
    finer = Finer(fitted, objects, _InDouble(fitted, setting), np.asarray(sizes, dtype=np.float64))
    return dataclasses.replace(setting, finer=finer)


@final
@dataclass(frozen=True, eq=False)
class _InDouble:
    """The matrix of objects with themselves in float64; a record, so that matrices can be pickled."""

    fitted: FittedKernel
    setting: Setting

    def __call__(self, some: Objects) -> Gram:
        fitted = self.fitted
        left = fitted.features(some, np.float64)
        diagonal = fitted.diagonal(left)
        left, right = fitted.align(left, left)
        own = dataclasses.replace(self.setting, dtype=np.float64)
        source = Source(fitted, own, diagonal, None if fitted.kernel.symmetric else fitted.kernel)
        return TiledGram(source, FeatureAxis.all_of(left), FeatureAxis.all_of(right))


def _width(features: Features) -> float:
    """The numbers in a row; for sparse rows, the average number that is stored."""
    rows: Any = getattr(features, "rows", None)
    if np.ndim(rows) != 2 and not is_sparse(rows):
        return 0.0
    return float(rows.nnz / max(1, rows.shape[0]) if is_sparse(rows) else rows.shape[1])


def _fits(entries: int, setting: Setting) -> bool:
    return setting.holds(entries * np.dtype(setting.dtype).itemsize)


def _computed_at_once(
    fitted: FittedKernel, left: Features, right: Features, setting: Setting, diagonal: Float64 | None
) -> Gram:
    """A matrix that is computed at once, because it is so small that planning tiles would take longer."""
    out: Floating = np.empty((len(left), len(right)), dtype=setting.dtype)
    with single_threaded_blas(out.size * setting.width or math.inf):
        fitted.tile(left, right, out)
    setting.tally.entries += out.size
    if diagonal is None:
        return StoredGram(PairRows.of(out), setting, None)
    if fitted.kernel.symmetric:
        mirror_within(out, 0, len(out))  # as in large matrices, the upper triangle counts
    else:
        refuse_asymmetry(out, fitted.kernel)
    np.fill_diagonal(out, diagonal)
    return StoredGram(PairRows.of(out), setting, diagonal)


def gram_of_rows(rows: Any, *, memory: budget.Memory = "auto") -> Gram:
    """The dot products of rows, dense or CSR, that stand for features of a kernel.

    As for kernel values, single precision is used if there are many objects.
    """
    if rows.shape[0] ** 2 <= DOUBLE_ENTRIES:
        rows = rows.astype(np.float64, copy=False)
    axis = FeatureAxis.all_of(FeatureRows(rows))
    kind: DType = np.float32 if rows.dtype == np.float32 else np.float64
    setting = Setting(kind, Threads(), memory, width=_width(axis.features))
    return FeaturesGram(Source(DotProducts(), setting, squared_lengths(rows)), axis, axis)


def gram_of_values(values: Floating, diagonal: Float64, like: Gram) -> Gram:
    """A symmetric matrix that is given, with the precision, memory and threads of another one."""
    entries: Floating = values.astype(like.dtype, copy=False)
    memory = max(like.budget, 2 * values.nbytes) / budget.MIB
    setting = dataclasses.replace(like.setting, memory=memory, expensive=False, finer=None)
    return StoredGram(PairRows.of(entries), setting, diagonal)


def _objects(fitted: FittedKernel, raw: Any, *, new: bool = False) -> Objects:
    if isinstance(raw, Objects):
        return raw
    return fitted.coerce(raw) if new else fitted.kernel.coerce(raw)


def _compared(
    fitted: FittedKernel, rows: Objects, columns: Compared | None, dtype: DType | None
) -> tuple[DType, Features, Features]:
    """The precision of the entries (single if it is safe and nothing else was requested), and what is compared."""
    kind = dtype or np.float32
    left, right = _features(fitted, rows, columns, kind)
    if dtype is None and not _single_precision(fitted, left, right):
        kind = np.float64
        left, right = _features(fitted, rows, columns, kind)
    return kind, left, right


def _features(fitted: FittedKernel, rows: Objects, columns: Compared | None, dtype: DType) -> tuple[Features, Features]:
    if _deadline.CURRENT.get() is not None:
        _refuse_slow(fitted, rows, dtype)
    left = fitted.features(rows, dtype)
    return left, left if columns is None else columns.features(fitted, dtype)


def _refuse_slow(fitted: FittedKernel, objects: Objects, dtype: DType) -> None:
    """Refuse features that would not be ready in time, judging by a sample of objects."""
    n = len(objects)
    if n <= _REHEARSED:
        return
    few = objects.take(np.linspace(0, n - 1, _REHEARSED).astype(np.intp))
    seconds = 0.0
    for _ in range(2):  # the first time may compile
        began = time.perf_counter()
        fitted.features(few, dtype)
        seconds = (time.perf_counter() - began) * n / _REHEARSED
        if seconds <= _deadline.left():
            return
    _deadline.refuse_longer(f"the features of {n:,} objects", seconds)


def _single_precision(fitted: FittedKernel, left: Features, right: Features) -> bool:
    safe = fitted.kernel.single_precision(left, fitted.state)
    return safe if left is right else safe and fitted.kernel.single_precision(right, fitted.state)

"""Gram matrices with one bug each, around a plain correct one."""

import numpy as np

from mercer.gram.contract import Axis, Gram, Setting
from mercer.gram.executors import Threads
from mercer.gram.tiles import plan

_FEATURES = np.random.default_rng(5).normal(size=(45, 3))
VALUES = _FEATURES @ _FEATURES.T
GRAMS = []


class Good(Gram):
    """All entries in one array, looked up."""

    def __init__(self, setting, values, own, axes=None):
        super().__init__(setting, own)
        self.values, self.own = values, own
        self._axes = axes or (Axis(len(values)), Axis(values.shape[1]))
        self._stored = None

    @classmethod
    def make(cls, threads, memory):
        setting = Setting(np.float64, Threads(threads), memory)
        return cls(setting, VALUES.copy(), VALUES.diagonal())

    @property
    def axes(self):
        return self._axes

    def _part(self, rows, columns):
        return type(self)(self.setting, self.values, self.own, (rows, columns))

    def _entries(self):
        return self.values[np.ix_(self.axes[0].ids, self.axes[1].ids)]

    def rows(self, index, columns=None):
        columns = slice(None) if columns is None else columns
        return self.values[np.ix_(self.axes[0].ids[index], self.axes[1].ids[columns])]

    def each_tile(self, sink, *, by_columns=False):
        entries = self._entries()
        for strip in plan(*self.shape, itemsize=8, budget=2**14, by_columns=by_columns):
            for tile in strip:
                block = sink.buffer(tile)
                block[...] = entries[tile.rows, tile.columns]
                sink.accept(tile, block)

    def _product(self, vectors):
        out = np.zeros((self.shape[0], *vectors.shape[1:]))
        for start in range(0, self.shape[1], 1000):
            part = np.arange(self.shape[1])[start : start + 1000]
            out += self.rows(slice(None), part) @ vectors[part]
        return out

    def stored(self):
        return self


def planted(check, *others):
    def register(cls):
        GRAMS.append((cls, check, set(others)))
        return cls

    return register


@planted("gram_entries", "gram_views", "gram_views_of_views", "gram_tiles")
class ForgetsTheLowerTriangle(Good):
    def _entries(self):
        return np.triu(super()._entries())


@planted("gram_precision")
class ComputesInWhateverPrecision(Good):
    def rows(self, index, columns=None):
        return super().rows(index, columns).astype(np.longdouble)


@planted("gram_views", "gram_views_of_views", "gram_diagonal", "gram_products", "gram_tiles")
class SortsItsRows(Good):
    def _part(self, rows, columns):
        return super()._part(rows.of(np.sort(rows.ids)), columns)


@planted(
    "gram_views", "gram_views_of_views", "gram_products", "gram_tiles", "gram_memory", "gram_diagonal", "gram_threads"
)
class DropsRepeatedColumns(Good):
    def _part(self, rows, columns):
        first = np.sort(np.unique(columns.ids, return_index=True)[1])
        return super()._part(rows, columns.of(columns.ids[first]))


@planted("gram_views_of_views")
class CutsItsEntriesOutTwice(Good):
    """The second view takes rows of the first one's entries by their place in the whole matrix."""

    def _part(self, rows, columns):
        own = self.axes[0]
        if own.chosen is None:
            return super()._part(rows, columns)
        wrong = rows.of(own.ids[rows.ids % len(own)])
        return super()._part(wrong, columns)


@planted("gram_rows")
class IgnoresTheOrderOfColumns(Good):
    def rows(self, index, columns=None):
        columns = slice(None) if columns is None else np.sort(np.arange(self.shape[1])[columns])
        return super().rows(index, columns)


@planted("gram_products")
class LosesTheLastColumnsOfAProduct(Good):
    def _product(self, vectors):
        whole = self.shape[1] // 50 * 50
        return self.rows(slice(None), np.arange(whole)) @ vectors[:whole]


@planted("gram_products", "gram_threads")
class ScalesTheVectorsInPlace(Good):
    def _product(self, vectors):
        vectors *= 2.0
        return super()._product(vectors) / 2.0


@planted("gram_diagonal")
class KnowsAnotherDiagonal(Good):
    def __init__(self, setting, values, own, axes=None):
        super().__init__(setting, values, np.abs(own) + 1e-14 if axes is None else own, axes)


@planted("gram_tiles")
class GivesTheLastTileTwice(Good):
    def each_tile(self, sink, *, by_columns=False):
        super().each_tile(sink, by_columns=by_columns)
        last = plan(*self.shape, itemsize=8, budget=2**14, by_columns=by_columns)[-1][-1]
        sink.accept(last, self._entries()[last.rows, last.columns])


@planted("gram_storing")
class StoresAgainAndAgain(Good):
    def stored(self):
        return type(self)(self.setting, self.values, self.own, self.axes)


@planted("gram_storing")
class ComputesWhatItStored(Good):
    def rows(self, index, columns=None):
        found = super().rows(index, columns)
        self.setting.tally.entries += found.size
        return found


@planted("gram_threads")
class AddsUpByThreads(Good):
    def _product(self, vectors):
        parts = np.array_split(np.arange(self.shape[1]), self.executor.count)
        return sum(self.rows(slice(None), part) @ vectors[part] for part in parts)


@planted("gram_memory")
class AllocatesWithoutAsking(Good):
    @property
    def in_memory(self):
        return True


@planted("gram_memory")
class AllocatesBeforeItAsks(Good):
    @property
    def in_memory(self):
        return self._entries() is None

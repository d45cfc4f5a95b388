"""The conformance suite of Gram matrices: every way to ask for entries, against the plain matrix of kernel values."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._cached import cached_property
from mercer._types import Float64, Floating
from mercer.errors import KernelError, MemoryBudgetError
from mercer.gram.budget import MIB
from mercer.gram.contract import Gram
from mercer.gram.tiles import Tile
from mercer.testing.checks import Check, Suite, require, require_close, require_raises, run_all

Make = Callable[[int, float], Gram]
"""Makes the matrix, given a number of threads and a budget in MiB."""

_TOLERANCE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}
"""How far entries may be from the given ones, relative to the largest: rounding, with some allowance for sums."""
_AMPLE, _SCARCE = 64.0, 4.0  # MiB: more than the samples need, less than what must be refused


@final
@dataclass(frozen=True, eq=False)
class _GramSuite(Suite):
    """A way to make a matrix, and its entries."""

    prefix = "gram"
    make: Make
    values: Float64

    @cached_property
    def gram(self) -> Gram:
        return self.make(1, _AMPLE)

    @cached_property
    def indices(self) -> dict[str, tuple[Any, Any]]:
        """Rows and columns to choose, named by what is unusual about them."""
        n, m = self.values.shape
        rng = np.random.default_rng(0)
        return {
            "shuffled": (rng.permutation(n), rng.permutation(m)),
            "repeated": (rng.integers(0, n, 40), rng.integers(0, m, 60)),
            "equal": ([0, 2, 1, 2], [0, 2, 1, 2]),
            "shared": ([n // 2, 1, 1, 0], [1, m // 2]),
            "wide": (rng.integers(0, n, 70), rng.integers(0, m, 5000)),
            "slices": (slice(1, None, 3), slice(None, None, -2)),
            "masks": (np.arange(n) % 3 == 0, np.arange(m) % 2 == 1),
            "all columns": ([n - 1, 0], slice(None)),
            "one": ([n - 1], [m - 1]),
            "none": ([], []),
        }

    def _at(self, rows: Any, columns: Any) -> Float64:
        return np.asarray(self.values[_listed(rows)][:, _listed(columns)])

    def _require_close(self, got: Floating, wanted: Float64, what: str, terms: float = 1.0) -> None:
        """Fail unless an array is as wanted, up to rounding in sums whose terms add up to at most `terms`."""
        allowed = _TOLERANCE[np.dtype(self.gram.dtype)] * float(np.abs(self.values).max()) * max(terms, 1.0)
        require_close(got, wanted, allowed, what)

    def entries(self) -> None:
        """`dense` and `exact` give the given entries; a symmetric matrix equals its transpose."""
        got = self.gram.dense()
        require(self.gram.shape == self.values.shape, f"the shape is {self.gram.shape}")
        self._require_close(got, self.values, "dense")
        self._require_close(self.gram.exact(), self.values, "exact")
        if self.gram.symmetric:
            require(np.array_equal(got, got.T), "a symmetric matrix differs from its transpose")

    def precision(self) -> None:
        """Entries come in the precision that the matrix states, or the one asked for; products in float64."""
        gram = self.gram
        for part in (gram, gram.view([0, 1], [1, 0])):
            kinds = {part.dense().dtype, part.rows([0]).dtype, part.stored().dense().dtype}
            require(kinds == {np.dtype(gram.dtype)}, f"entries are {kinds}, the matrix states {gram.dtype}")
            require(part.exact().dtype == np.float64, "exact is not in float64")
            for asked in (np.float32, np.float64):
                require(part.dense(asked).dtype == asked, f"dense({asked.__name__}) is {part.dense(asked).dtype}")
            require(part.matvec(np.ones(part.shape[1])).dtype == np.float64, "a product is not in float64")

    def views(self) -> None:
        """A view has the chosen rows and columns, in their order and as often as they were chosen."""
        for name, (rows, columns) in self.indices.items():
            got = self.gram.view(_listed(rows), _listed(columns))
            self._require_close(got.dense(), self._at(rows, columns), f"a view of {name} rows and columns")
            if self.gram.symmetric:
                same = self.gram.view(_listed(rows))
                require(same.symmetric, f"a view of {name} objects is not symmetric")
                self._require_close(same.dense(), self._at(rows, rows), f"a view of {name} objects")

    def views_of_views(self) -> None:
        """Positions are relative to the view that is asked."""
        rows, columns = self.indices["repeated"]
        outer = self.gram.view(rows, columns)
        for inner_rows, inner_columns in (([5, 1, 5], [0, 39]), (slice(3, 9), slice(None)), (slice(None), [7])):
            wanted = self._at(rows[inner_rows], columns[inner_columns])
            inner = outer.view(inner_rows, inner_columns)
            self._require_close(inner.dense(), wanted, "a view of a view")
            self._require_close(inner.view([0], [0]).dense(), wanted[:1, :1], "a view of a view of a view")
            self._require_close(outer.rows(inner_rows, inner_columns), wanted, "rows of a view")
            stored = outer.stored().view(inner_rows, inner_columns)
            self._require_close(stored.dense(), wanted, "a view that was stored")

    def rows(self) -> None:
        """`rows` gives whole rows, or only some of their columns."""
        for name, (chosen, columns) in self.indices.items():
            got = self.gram.rows(_listed(chosen))
            self._require_close(got, self._at(chosen, slice(None)), f"{name} rows")
            got = self.gram.rows(_listed(chosen), _listed(columns))
            self._require_close(got, self._at(chosen, columns), f"{name} rows and columns")

    def products(self) -> None:
        """`matvec` multiplies by a vector or a matrix, sparse ones too, and leaves them unchanged."""
        rng = np.random.default_rng(1)
        for name, (chosen, columns) in self.indices.items():
            view, wanted = self.gram.view(_listed(chosen), _listed(columns)), self._at(chosen, columns)
            some = rng.normal(size=(wanted.shape[1], 5))
            few = np.zeros_like(some)
            few[: len(few) // 3, 1], few[len(few) // 2 :, 3] = 1.0, -2.0
            for vectors in (some[:, 0], some[:, :1], some, few, few[:, ::-1], some[:, :0]):
                before = vectors.copy()
                got = view.matvec(vectors)
                terms = float(np.abs(vectors).sum(axis=0).max(initial=0.0))
                self._require_close(got, wanted @ vectors, f"a product of {name} rows and columns", terms)
                require(np.array_equal(vectors, before), "a product changes the vectors")

    def diagonal(self) -> None:
        """`diagonal` is that of the entries, exactly; a matrix of different rows and columns has none."""
        gram = self.gram
        if gram.symmetric:
            for chosen in (slice(None), [3, 0, 3, 1]):
                part = gram.view(chosen)
                require(part.diagonal().dtype == np.float64, f"the diagonal is {part.diagonal().dtype}")
                self._require_close(part.diagonal(), self.values.diagonal()[chosen], "the diagonal")
                same = np.array_equal(part.diagonal().astype(gram.dtype), part.dense().diagonal())
                require(same, "the diagonal differs from that of the entries")
        require_raises(KernelError, gram.view([0, 1], [1, 0]).diagonal, "the diagonal of different rows and columns")

    def tiles(self) -> None:
        """`each_tile` gives every entry once."""
        rows, columns = self.indices["wide"]
        for gram, wanted in ((self.gram, self.values), (self.gram.view(rows, columns), self._at(rows, columns))):
            for by_columns in (False, True):
                sink = _Collected(np.zeros(gram.shape), np.zeros(gram.shape, dtype=np.intp), gram.dtype)
                gram.each_tile(sink, by_columns=by_columns)
                require((sink.times == 1).all(), f"tiles give an entry {sink.times.min()} to {sink.times.max()} times")
                self._require_close(sink.out, wanted, "tiles")

    def storing(self) -> None:
        """`stored` gives the same bits, stores them once, and computes nothing after that."""
        gram = self.make(1, _AMPLE)
        kept = gram.stored()
        require(gram.stored() is kept and kept.stored() is kept, "asked for twice, it is stored twice")
        require(np.array_equal(kept.dense(), gram.dense()), "stored entries differ")
        if gram.symmetric:
            require(kept.symmetric and np.array_equal(kept.diagonal(), gram.diagonal()), "the stored diagonal differs")
        computed = kept.entries_computed
        kept.view([1, 0], [0, 1]).dense()
        kept.rows([1])
        kept.matvec(np.ones(kept.shape[1]))
        require(kept.entries_computed == computed, "a stored matrix computes entries")

    def threads(self) -> None:
        """Entries, views and products are the same to the last bit for any number of threads."""
        rows, columns = self.indices["wide"]
        vector = np.linspace(-1.0, 1.0, self.values.shape[1])
        block = np.cos(np.outer(np.arange(5000.0), [1.0, 2.0, 3.0]))

        def results(count: int) -> list[Floating]:
            gram = self.make(count, _AMPLE)
            part = gram.view(rows, columns)
            return [gram.dense(), part.dense(), gram.matvec(vector), part.matvec(block), part.matvec(block[:, 0])]

        alone = results(1)
        for count in (2, 3, 5):
            same = all(np.array_equal(one, other) for one, other in zip(alone, results(count), strict=True))
            require(same, f"results of {count} threads differ from those of one")

    def memory(self) -> None:
        """What exceeds the budget is refused before anything is allocated; products need no such memory."""
        n, m = self.values.shape
        gram = self.make(1, _SCARCE)
        many = np.zeros(3_000, dtype=np.intp)
        large = gram.view(many, many)
        require(not large.fits(), "a matrix beyond the budget is said to fit")
        tracemalloc.start()
        try:
            require_raises(MemoryBudgetError, large.dense, "a matrix beyond the budget")
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        require(peak < 8 * MIB, f"{peak / MIB:.0f} MiB were allocated before the refusal")
        once = gram.view(np.arange(n), many % m).matvec(np.ones(len(many)))
        self._require_close(once, self.values[:, 0] * len(many), "a product beyond the budget", len(many))


def gram_checks(make: Make, values: Float64) -> Iterator[Check]:
    """Every property that a Gram matrix promises, as named checks.

    `make(threads, memory)` makes the matrix anew; `values` are its entries. There must be at least four rows and
    columns; only matrices of several tiles, with some hundreds of rows, test the order of tiles.
    """
    return iter(_GramSuite(make, values))


def check_gram(make: Make, values: Float64) -> None:
    """Run every check of `gram_checks`; AssertionError lists those that fail."""
    run_all(type(make(1, _AMPLE)).__name__, gram_checks(make, values))


@final
@dataclass(frozen=True, eq=False)
class _Collected:
    """A sink that counts how often each entry arrives."""

    out: Float64
    times: Any
    dtype: Any

    def buffer(self, tile: Tile) -> Floating:
        return np.empty(tile.shape, dtype=self.dtype)

    def accept(self, tile: Tile, block: Floating) -> None:
        self.out[tile.rows, tile.columns] += block
        self.times[tile.rows, tile.columns] += 1


def _listed(index: Any) -> Any:
    return np.asarray(index, dtype=np.intp) if isinstance(index, list) else index

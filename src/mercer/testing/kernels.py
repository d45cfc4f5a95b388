"""The conformance suite of kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._cached import cached_property
from mercer._record import STRANGERS
from mercer._types import Float64, Floating
from mercer.errors import InputError
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of
from mercer.gram.sinks import StoreSink
from mercer.gram.tiles import plan
from mercer.gram.work import TileWork
from mercer.inputs.base import Objects
from mercer.inputs.items import Items
from mercer.kernels.base import Features, FittedKernel, Kernel, State
from mercer.kernels.probing import parts
from mercer.testing.checks import (
    COPIED,
    Check,
    RoundTrips,
    Suite,
    fingerprint,
    require,
    require_close,
    require_raises,
    require_unchanged,
    run_all,
)
from mercer.testing.records import RecordSuite
from mercer.testing.samples import as_new, objects_for

EXACT, SINGLE = 1e-9, 1e-5
"""How far values in float64 and in float32 may be from each other, relative to sqrt(k(x, x) k(z, z)): some hundred
times the rounding error of one number, since kernels add up many. A tighter tolerance would blame correct kernels.
"""
_STATE_KINDS = "fiubU"
_TWO_STRIPS = 258
"""The fewest objects whose Gram matrix is computed in more than one strip, by more than one thread."""


def block(fitted: FittedKernel, left: Features, right: Features, dtype: Any = np.float64) -> Any:
    """One tile between two batches of features."""
    out = np.full((len(left), len(right)), np.nan, dtype=dtype)
    fitted.tile(*fitted.align(left, right), out)
    return out


def close(got: Floating, wanted: Floating, allowance: Floating, what: str, tolerance: float = EXACT) -> None:
    """Fail unless two blocks agree up to rounding."""
    require_close(got, wanted, tolerance * allowance, what)


def kernel_checks(kernel: Kernel, objects: Any = None, *, round_trips: RoundTrips = COPIED) -> Iterator[Check]:
    """Every property that a kernel promises, as named checks to be called one by one.

    `objects` is what the kernel is tried on, at least a dozen, in any form that it parses; without them, the first of
    the samples of `objects_for`. `round_trips` are ways of copying that must keep equality and values.

    >>> from mercer import kernels
    >>> from mercer.testing import kernel_checks
    >>> for check in kernel_checks(kernels.RBF(gamma=0.5)):
    ...     check()
    """
    if objects is None and kernel.domain is Items:
        raise InputError(
            f"{type(kernel).__name__} compares items, which can be anything, so none can be made up. Pass at "
            "least 12 objects that your kernel understands: check_kernel(kernel, objects)."
        )
    given = next(iter(objects_for(kernel).values())) if objects is None else kernel.coerce(objects)
    if len(given) < 12:
        raise ValueError(f"The checks need at least 12 objects to slice and permute, got {len(given)}.")
    for part, _ in parts(kernel, given):  # the checks find more than one first trial, and name each mistake separately
        STRANGERS.discard(type(part))
    yield from RecordSuite(kernel)
    yield from _KernelSuite(kernel, given, round_trips)


def check_kernel(kernel: Kernel, objects: Any = None, *, round_trips: RoundTrips = COPIED) -> None:
    """Run every check of `kernel_checks`; AssertionError lists those that fail.

    >>> from mercer import kernels
    >>> from mercer.testing import check_kernel
    >>> check_kernel(kernels.Linear() * kernels.RBF(gamma=0.5))
    """
    run_all(kernel, kernel_checks(kernel, objects, round_trips=round_trips))


@final
@dataclass(frozen=True, eq=False)
class _KernelSuite(Suite):
    """What must hold of the values of every kernel; `objects` are what it is tried on."""

    prefix = "kernel"
    kernel: Kernel
    objects: Objects
    round_trips: RoundTrips | None = None

    @cached_property
    def fitted(self) -> FittedKernel:
        return self.kernel.fit(self.objects)

    @cached_property
    def features(self) -> Features:
        return self.fitted.features(self.objects)

    @cached_property
    def tile(self) -> Float64:
        """All pairs as the tile gives them, the diagonal included."""
        return np.asarray(block(self.fitted, self.features, self.features))

    @cached_property
    def own(self) -> Float64:
        """k(x, x) of each object."""
        return self.fitted.diagonal(self.features)

    @cached_property
    def allowance(self) -> Float64:
        """sqrt(k(x, x) k(z, z)), the unit of all tolerances, kept above the rounding of the largest value."""
        roots = np.sqrt(np.abs(self.own))
        floor = 1e-6 * np.abs(self.tile).max(initial=0.0)
        return np.asarray(np.maximum(np.maximum(np.outer(roots, roots), np.abs(self.tile)), floor))

    @property
    def everything(self) -> np.ndarray[Any, Any]:
        return np.arange(len(self.objects))

    @property
    def repeated(self) -> np.ndarray[Any, Any]:
        """Positions of enough objects for several tiles."""
        return np.arange(_TWO_STRIPS) % len(self.objects)

    def _require_close(self, got: Floating, rows: Any, columns: Any, what: str, tolerance: float = EXACT) -> None:
        """Fail unless a block agrees with the entries of `tile` at these rows and columns."""
        at = np.ix_(self.everything[rows], self.everything[columns])
        close(got, self.tile[at], self.allowance[at], what, tolerance)

    def input_untouched(self) -> None:
        """Neither fitting nor comparing writes to the objects, the features or the state."""
        before = fingerprint(self.objects)
        fitted = self.kernel.fit(self.objects)
        features = fitted.features(self.objects)
        held, learnt = fingerprint(features), fingerprint(fitted.state)
        first = block(fitted, features, features)
        fitted.diagonal(features)
        require_unchanged(before, self.objects, "the kernel")
        require_unchanged(held, features, "computing a tile")
        require_unchanged(learnt, fitted.state, "computing a tile")
        again = block(fitted, features, features)
        require(np.array_equal(first, again), "the same tile computed twice differs")

    def finite(self) -> None:
        """Finite objects give finite values."""
        require(np.isfinite(self.tile).all(), "a tile holds values that are not finite")
        diagonal = self.kernel.diagonal(self.features, self.fitted.state)
        require(np.isfinite(diagonal).all(), "the diagonal holds values that are not finite")

    def symmetry(self) -> None:
        """k(x, z) = k(z, x)."""
        close(self.tile, self.tile.T, self.allowance, "k(x, z) differs from k(z, x)")

    def same_objects_twice(self) -> None:
        """gram(X) = gram(X, X), where the second X is parsed into features of its own."""
        other = self.fitted.features(self.objects)
        apart = block(self.fitted, self.features, other)
        self._require_close(apart, slice(None), slice(None), "gram(X) differs from gram(X, X)")

    def diagonal(self) -> None:
        """`diagonal` gives the diagonal of the tile, in float64."""
        require(self.own.dtype == np.float64, f"the diagonal is of dtype {self.own.dtype}, not float64")
        tile, allowance = np.diagonal(self.tile), np.diagonal(self.allowance)
        close(self.own, tile, allowance, "diagonal() differs from the diagonal of the tile")

    def subblocks(self) -> None:
        """gram(X)[I, J] = gram(X[I], X[J]), by a slice, by an index array, and for single objects."""
        n = len(self.objects)
        rows: list[Any] = [slice(0, n // 2), np.arange(n)[::-2], np.asarray([n - 1, 0, n - 1]), slice(n - 1, n)]
        columns: list[Any] = [slice(n // 3, n), np.arange(n)[1::3], slice(0, 1), np.asarray([n // 2])]
        left, right = self.fitted.align(self.features, self.features)
        for chosen, others in zip(rows, columns, strict=True):
            before = block(self.fitted, self.features.take(chosen), self.features.take(others))
            self._require_close(before, chosen, others, f"features taken at {chosen} and {others} give another block")
            after = np.empty((len(self.everything[chosen]), len(self.everything[others])))
            self.fitted.tile(left.take(chosen), right.take(others), after)
            self._require_close(
                after, chosen, others, f"aligned features taken at {chosen} and {others} give another block"
            )

    def features_have_lengths(self) -> None:
        """There are as many features as objects, before and after `take`."""
        n = len(self.objects)
        require(len(self.features) == n, f"{len(self.features)} features for {n} objects")
        for index, size in ((slice(2, 7), 5), (np.asarray([3, 1, 1]), 3), (slice(n, n), 0)):
            got = len(self.features.take(index))
            require(got == size, f"features taken at {index} are {got}, not {size}")

    def take_objects_or_features(self) -> None:
        """features(X[I]) = features(X)[I]."""
        for chosen in (slice(1, len(self.objects) // 2), self.everything[::-2]):
            taken = self.fitted.features(self.objects.take(chosen))
            got = block(self.fitted, taken, self.features)
            self._require_close(got, chosen, slice(None), f"objects taken at {chosen} have other features")
            close(self.fitted.diagonal(taken), self.own[chosen], np.diagonal(self.allowance)[chosen],
                  f"objects taken at {chosen} have another diagonal")  # fmt: skip

    def batches(self) -> None:
        """A new object that equals a training object gets its row, whatever other objects come with it."""
        for chosen in (self.everything, self.everything[::-1], self.everything[3:4], self.everything[-2:]):
            new = self.fitted.features(as_new(self.objects, chosen))
            got = block(self.fitted, new, self.features)
            self._require_close(
                got, chosen, slice(None), f"new objects equal to the training objects {chosen} get other rows"
            )

    def train_test(self) -> None:
        """K(new, training) through the Gram matrix is the block of the matrix of all objects."""
        train, test = self.everything[::2], self.everything[1::2]
        gram = gram_of(self.fitted, as_new(self.objects, test), self.objects.take(train))
        self._require_close(gram.dense(), test, train, "K(new, training) differs from the matrix of all objects")
        whole = gram_of(self.fitted, self.objects)
        self._require_close(whole.dense(), slice(None), slice(None), "the Gram matrix differs from the tile")
        many = gram_of(self.fitted, self.objects.take(self.repeated)).dense()
        self._require_close(many, self.repeated, self.repeated, "the Gram matrix of many tiles differs from one")
        ones = np.ones(len(train))
        wanted = self.tile[np.ix_(test, train)] @ ones
        close(gram.matvec(ones), wanted, self.allowance[np.ix_(test, train)].sum(axis=1), "K @ 1 by tiles differs")

    def positive_semidefinite(self) -> None:
        """If the kernel claims it: no eigenvalue is below -1e-9 times the largest."""
        if not self.kernel.psd:
            return
        matrix = (self.tile + self.tile.T) / 2
        np.fill_diagonal(matrix, self.own)
        values = np.linalg.eigvalsh(matrix)
        bound = -EXACT * max(float(values[-1]), 0.0)
        require(values[0] >= bound, f"psd is claimed, but eigenvalues reach from {values[0]:g} to {values[-1]:g}")

    def single_precision(self) -> None:
        """float32 tiles agree to 1e-5 sqrt(k(x, x) k(z, z)), unless the kernel says that it needs float64."""
        features = self.fitted.features(self.objects, np.float32)
        if not self.kernel.single_precision(features, self.fitted.state):
            return
        got = block(self.fitted, features, features, np.float32)
        self._require_close(got, slice(None), slice(None), "a float32 tile is too far from the float64 one", SINGLE)

    def threads(self) -> None:
        """The same bits from one thread, two and five, in large tiles and in many small ones."""
        executors = (Threads(2), Threads(5))
        many = self.objects.take(self.repeated)
        alone = gram_of(self.fitted, many, executor=Threads(1)).dense()
        for executor in executors:
            got = gram_of(self.fitted, many, executor=executor).dense()
            require(np.array_equal(alone, got), f"{executor} and Threads(1) give different Gram matrices")
        small = self._in_small_tiles(Threads(1))
        for executor in executors:
            same = np.array_equal(small, self._in_small_tiles(executor))
            require(same, f"{executor} and Threads(1) give different values in small tiles")

    def _in_small_tiles(self, executor: Threads) -> Float64:
        n = len(self.objects)
        out = np.empty((n, n))
        strips = plan(n, n, itemsize=8, budget=8 * n * 2)
        work = TileWork(self.fitted, *self.fitted.align(self.features, self.features))
        executor.map(work, strips, StoreSink(out, mirror=False))
        return out

    def data_dependence(self) -> None:
        """`data_dependent` is true if and only if fitting on other objects changes the values."""
        n = len(self.objects)
        parts = (slice(0, n // 3), slice(n - n // 3, n), slice(0, 2), slice(n // 2, n // 2 + 3))
        first, *others = (self._values_after(part) for part in parts)
        if not self.kernel.data_dependent:
            for values in others:
                close(values, first, self.allowance, "data_dependent is False, but values depend on what fit saw")
            return
        differ = [np.abs(values - first) > EXACT * self.allowance for values in others]
        require(np.any(differ), "data_dependent is True, but fitting on other objects gives the same values")

    def _values_after(self, part: slice) -> Float64:
        """All values of the kernel fitted on some of the objects only."""
        fitted = self.kernel.fit(self.objects.take(part))
        features = fitted.features(self.objects)
        return np.asarray(block(fitted, features, features))

    def tile_fills_its_buffer(self) -> None:
        """Every entry of `out` is written, whatever was in it before."""
        left, right = self.fitted.align(self.features, self.features)
        for rubbish in (0.0, 1e3):
            out = np.full(self.tile.shape, rubbish)
            self.fitted.tile(left, right, out)
            require(np.array_equal(out, self.tile), f"a tile computed over {rubbish} differs from a fresh one")

    def state_is_storable(self) -> None:
        """The state holds arrays of numbers or text, states, and objects: what a model file can hold."""
        for path, state in _states(self.fitted.state, "state"):
            require(isinstance(state, State), f"{path} is a {type(state).__name__}, not a State")
            for name, value in state.values.items():
                ok = isinstance(value, np.ndarray) and value.dtype.kind in _STATE_KINDS
                require(ok, f"{path}.values[{name!r}] is a {type(value).__name__}, not an array of numbers or text")
            held = state.objects
            ok = held is None or isinstance(held, Objects)
            require(ok, f"{path}.objects is a {type(held).__name__}, not Objects")

    def nothing_is_refused(self) -> None:
        """Parsing parsed objects again changes nothing, and an empty input is an error with a message."""
        require(
            self.kernel.coerce(self.objects) is self.objects, "objects that are parsed already are parsed a second time"
        )
        require_raises(InputError, lambda: self.kernel.fit([]), "fit([])")

    def _round_trip(self, name: str, copied: Callable[[Any], Any]) -> None:
        """A copy of the kernel is equal; copies of the state, the fitted kernel and the features compute the same."""
        twin = copied(self.kernel)
        require(twin == self.kernel and hash(twin) == hash(self.kernel), f"the kernel after {name} is not equal")
        fitted: FittedKernel = copied(self.fitted)
        rebuilt = FittedKernel(twin, copied(self.fitted.state))
        for other, features in ((fitted, copied(self.features)), (rebuilt, self.features)):
            got = block(other, features, features)
            require(np.array_equal(got, self.tile), f"the fitted kernel after {name} computes other values")


def _states(state: Any, path: str) -> Iterator[tuple[str, Any]]:
    yield path, state
    if isinstance(state, State):
        for number, part in enumerate(state.parts):
            yield from _states(part, f"{path}.parts[{number}]")

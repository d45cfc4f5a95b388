"""What must hold of the values of every kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from mercer._types import Float64, Floating
from mercer.errors import InputError
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of
from mercer.gram.sinks import StoreSink
from mercer.gram.tiles import plan
from mercer.gram.work import TileWork
from mercer.inputs.base import Objects
from mercer.kernels.base import Features, FittedKernel, Kernel, State
from mercer.testing.checks import fingerprint, named, require, require_close, require_raises, require_unchanged
from mercer.testing.samples import as_new

EXACT, SINGLE = 1e-9, 1e-5
"""How far values in float64 and in float32 may be from each other, relative to sqrt(k(x, x) k(z, z)): some hundred
times the rounding of one number, since kernels add up many. Smaller ones would blame right kernels."""
_STATE_KINDS = "fiubU"
_TWO_STRIPS = 258
"""The fewest objects whose Gram matrix is computed in more than one strip, by more than one thread."""


@final
@dataclass(frozen=True, eq=False)
class Subject:
    """A kernel, objects to try it on, and what most checks need of the two."""

    kernel: Kernel
    objects: Objects

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
    def diagonal(self) -> Float64:
        return self.fitted.diagonal(self.features)

    @cached_property
    def allowance(self) -> Float64:
        """sqrt(k(x, x) k(z, z)), the unit of all tolerances, kept above the rounding of the largest value."""
        roots = np.sqrt(np.abs(self.diagonal))
        floor = 1e-6 * np.abs(self.tile).max(initial=0.0)
        return np.asarray(np.maximum(np.maximum(np.outer(roots, roots), np.abs(self.tile)), floor))

    @property
    def everything(self) -> np.ndarray[Any, Any]:
        return np.arange(len(self.objects))

    @property
    def repeated(self) -> np.ndarray[Any, Any]:
        """Positions of enough objects for several tiles."""
        return np.arange(_TWO_STRIPS) % len(self.objects)

    def require_close(self, got: Floating, rows: Any, columns: Any, what: str, tolerance: float = EXACT) -> None:
        """Fail unless a block agrees with the entries of `tile` at these rows and columns."""
        at = np.ix_(self.everything[rows], self.everything[columns])
        close(got, self.tile[at], self.allowance[at], what, tolerance)


def block(fitted: FittedKernel, left: Features, right: Features, dtype: Any = np.float64) -> Any:
    """One tile between two batches of features."""
    out = np.full((len(left), len(right)), np.nan, dtype=dtype)
    fitted.tile(*fitted.align(left, right), out)
    return out


def close(got: Floating, wanted: Floating, allowance: Floating, what: str, tolerance: float = EXACT) -> None:
    """Fail unless two blocks agree up to rounding."""
    require_close(got, wanted, tolerance * allowance, what)


def finite(subject: Subject) -> None:
    """Finite objects give finite values."""
    require(np.isfinite(subject.tile).all(), "a tile holds values that are not finite")
    diagonal = subject.kernel.diagonal(subject.features, subject.fitted.state)
    require(np.isfinite(diagonal).all(), "the diagonal holds values that are not finite")


def symmetry(subject: Subject) -> None:
    """k(x, z) = k(z, x)."""
    close(subject.tile, subject.tile.T, subject.allowance, "k(x, z) differs from k(z, x)")


def same_objects_twice(subject: Subject) -> None:
    """gram(X) = gram(X, X), where the second X is parsed into features of its own."""
    other = subject.fitted.features(subject.objects)
    apart = block(subject.fitted, subject.features, other)
    subject.require_close(apart, slice(None), slice(None), "gram(X) differs from gram(X, X)")


def diagonal(subject: Subject) -> None:
    """`diagonal` gives the diagonal of the tile, in float64."""
    require(subject.diagonal.dtype == np.float64, f"the diagonal is of dtype {subject.diagonal.dtype}, not float64")
    tile, allowance = np.diagonal(subject.tile), np.diagonal(subject.allowance)
    close(subject.diagonal, tile, allowance, "diagonal() differs from the diagonal of the tile")


def subblocks(subject: Subject) -> None:
    """gram(X)[I, J] = gram(X[I], X[J]), by a slice, by an index array, and for single objects."""
    n = len(subject.objects)
    rows: list[Any] = [slice(0, n // 2), np.arange(n)[::-2], np.asarray([n - 1, 0, n - 1]), slice(n - 1, n)]
    columns: list[Any] = [slice(n // 3, n), np.arange(n)[1::3], slice(0, 1), np.asarray([n // 2])]
    left, right = subject.fitted.align(subject.features, subject.features)
    for chosen, others in zip(rows, columns, strict=True):
        before = block(subject.fitted, subject.features.take(chosen), subject.features.take(others))
        subject.require_close(before, chosen, others, f"features taken at {chosen} and {others} give another block")
        after = np.empty((len(subject.everything[chosen]), len(subject.everything[others])))
        subject.fitted.tile(left.take(chosen), right.take(others), after)
        subject.require_close(
            after, chosen, others, f"aligned features taken at {chosen} and {others} give another block"
        )


def features_have_lengths(subject: Subject) -> None:
    """Features are as many as the objects, before and after being taken."""
    n = len(subject.objects)
    require(len(subject.features) == n, f"{len(subject.features)} features of {n} objects")
    for index, size in ((slice(2, 7), 5), (np.asarray([3, 1, 1]), 3), (slice(n, n), 0)):
        got = len(subject.features.take(index))
        require(got == size, f"features taken at {index} are {got}, not {size}")


def take_objects_or_features(subject: Subject) -> None:
    """features(X[I]) = features(X)[I]."""
    for chosen in (slice(1, len(subject.objects) // 2), subject.everything[::-2]):
        taken = subject.fitted.features(subject.objects.take(chosen))
        got = block(subject.fitted, taken, subject.features)
        subject.require_close(got, chosen, slice(None), f"objects taken at {chosen} have other features")
        close(subject.fitted.diagonal(taken), subject.diagonal[chosen], np.diagonal(subject.allowance)[chosen],
              f"objects taken at {chosen} have another diagonal")  # fmt: skip


def batches(subject: Subject) -> None:
    """A new object equal to a training object gets its row, in whatever company it comes."""
    for chosen in (subject.everything, subject.everything[::-1], subject.everything[3:4], subject.everything[-2:]):
        new = subject.fitted.features(as_new(subject.objects, chosen))
        got = block(subject.fitted, new, subject.features)
        subject.require_close(
            got, chosen, slice(None), f"new objects equal to the training objects {chosen} get other rows"
        )


def train_test(subject: Subject) -> None:
    """K(new, training) through the Gram matrix is the block of the matrix of all objects."""
    train, test = subject.everything[::2], subject.everything[1::2]
    gram = gram_of(subject.fitted, as_new(subject.objects, test), subject.objects.take(train))
    subject.require_close(gram.dense(), test, train, "K(new, training) differs from the matrix of all objects")
    whole = gram_of(subject.fitted, subject.objects)
    subject.require_close(whole.dense(), slice(None), slice(None), "the Gram matrix differs from the tile")
    many = gram_of(subject.fitted, subject.objects.take(subject.repeated)).dense()
    subject.require_close(many, subject.repeated, subject.repeated, "the Gram matrix of many tiles differs from one")
    ones = np.ones(len(train))
    wanted = subject.tile[np.ix_(test, train)] @ ones
    close(gram.matvec(ones), wanted, subject.allowance[np.ix_(test, train)].sum(axis=1), "K @ 1 by tiles differs")


def positive_semidefinite(subject: Subject) -> None:
    """If the kernel says so: no eigenvalue below -1e-9 of the largest."""
    if not subject.kernel.psd:
        return
    matrix = (subject.tile + subject.tile.T) / 2
    np.fill_diagonal(matrix, subject.diagonal)
    values = np.linalg.eigvalsh(matrix)
    bound = -EXACT * max(float(values[-1]), 0.0)
    require(values[0] >= bound, f"psd is claimed, but eigenvalues reach from {values[0]:g} to {values[-1]:g}")


def single_precision(subject: Subject) -> None:
    """float32 tiles agree to 1e-5 of sqrt(k(x, x) k(z, z)), unless the kernel says that it needs float64."""
    features = subject.fitted.features(subject.objects, np.float32)
    if not subject.kernel.single_precision(features, subject.fitted.state):
        return
    got = block(subject.fitted, features, features, np.float32)
    subject.require_close(got, slice(None), slice(None), "a float32 tile is too far from the float64 one", SINGLE)


def threads(subject: Subject) -> None:
    """The same bits from one thread, two and five, in large tiles and in many small ones."""
    executors = (Threads(2), Threads(5))
    many = subject.objects.take(subject.repeated)
    alone = gram_of(subject.fitted, many, executor=Threads(1)).dense()
    for executor in executors:
        got = gram_of(subject.fitted, many, executor=executor).dense()
        require(np.array_equal(alone, got), f"{executor} and Threads(1) give different Gram matrices")
    small = _in_small_tiles(subject, Threads(1))
    for executor in executors:
        same = np.array_equal(small, _in_small_tiles(subject, executor))
        require(same, f"{executor} and Threads(1) give different values in small tiles")


def _in_small_tiles(subject: Subject, executor: Threads) -> Float64:
    n = len(subject.objects)
    out = np.empty((n, n))
    strips = plan(n, n, itemsize=8, budget=8 * n * 2)
    work = TileWork(subject.fitted, *subject.fitted.align(subject.features, subject.features))
    executor.map(work, strips, StoreSink(out, mirror=False))
    return out


def data_dependence(subject: Subject) -> None:
    """`data_dependent` is true exactly when fitting on other objects gives other values."""
    n = len(subject.objects)
    parts = (slice(0, n // 3), slice(n - n // 3, n), slice(0, 2), slice(n // 2, n // 2 + 3))
    first, *others = (_values_after(subject, part) for part in parts)
    if not subject.kernel.data_dependent:
        for values in others:
            close(values, first, subject.allowance, "data_dependent is False, but values depend on what fit saw")
        return
    differ = [np.abs(values - first) > EXACT * subject.allowance for values in others]
    require(np.any(differ), "data_dependent is True, but fitting on other objects gives the same values")


def _values_after(subject: Subject, part: slice) -> Float64:
    """All values of the kernel fitted on some of the objects only."""
    fitted = subject.kernel.fit(subject.objects.take(part))
    features = fitted.features(subject.objects)
    return np.asarray(block(fitted, features, features))


def input_untouched(subject: Subject) -> None:
    """Neither fitting nor comparing writes to the objects, the features or the state."""
    before = fingerprint(subject.objects)
    fitted = subject.kernel.fit(subject.objects)
    features = fitted.features(subject.objects)
    held, learnt = fingerprint(features), fingerprint(fitted.state)
    first = block(fitted, features, features)
    fitted.diagonal(features)
    require_unchanged(before, subject.objects, "the kernel")
    require_unchanged(held, features, "computing a tile")
    require_unchanged(learnt, fitted.state, "computing a tile")
    again = block(fitted, features, features)
    require(np.array_equal(first, again), "the same tile computed twice differs")


def tile_fills_its_buffer(subject: Subject) -> None:
    """Every entry of `out` is written, whatever was in it before."""
    left, right = subject.fitted.align(subject.features, subject.features)
    for rubbish in (0.0, 1e3):
        out = np.full(subject.tile.shape, rubbish)
        subject.fitted.tile(left, right, out)
        require(np.array_equal(out, subject.tile), f"a tile computed over {rubbish} differs from a fresh one")


def state_is_storable(subject: Subject) -> None:
    """The state holds arrays of numbers or text, states, and objects: what a model file can hold."""
    for path, state in _states(subject.fitted.state, "state"):
        require(isinstance(state, State), f"{path} is a {type(state).__name__}, not a State")
        for name, value in state.values.items():
            ok = isinstance(value, np.ndarray) and value.dtype.kind in _STATE_KINDS
            require(ok, f"{path}.values[{name!r}] is a {type(value).__name__}, not an array of numbers or text")
        held = state.objects
        require(held is None or isinstance(held, Objects), f"{path}.objects is a {type(held).__name__}, not Objects")


def _states(state: Any, path: str) -> Iterator[tuple[str, Any]]:
    yield path, state
    if isinstance(state, State):
        for number, part in enumerate(state.parts):
            yield from _states(part, f"{path}.parts[{number}]")


def nothing_is_refused(subject: Subject) -> None:
    """Parsing what is parsed already changes nothing, and no objects at all are an error in words."""
    require(subject.kernel.coerce(subject.objects) is subject.objects, "objects are parsed a second time")
    require_raises(InputError, lambda: subject.kernel.fit([]), "fit([])")


value_checks = named(
    "kernel",
    input_untouched,  # first, before anybody has touched it
    finite,
    symmetry,
    same_objects_twice,
    diagonal,
    subblocks,
    features_have_lengths,
    take_objects_or_features,
    batches,
    train_test,
    positive_semidefinite,
    single_precision,
    threads,
    data_dependence,
    tile_fills_its_buffer,
    state_is_storable,
    nothing_is_refused,
)

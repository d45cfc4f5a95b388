"""Kernels on sets that measure the elements which two sets share or both lack."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64, Floating, Int64
from mercer.errors import InputError
from mercer.inputs.hashing import content_hash, text_of_label
from mercer.inputs.ragged import offsets_of
from mercer.inputs.sets import Sets
from mercer.kernels.algebra.with_diagonal import WithDiagonal
from mercer.kernels.base import SAFE_IN_SINGLE, Features, State
from mercer.kernels.features.counting import CountsFeatures
from mercer.kernels.features.counts import CountFeatures, align, inner_products
from mercer.kernels.features.occurrences import Spelling

Ambient = tuple[Hashable, ...]
_COMPLEMENT = np.uint64(0x9E3779B97F4A7C15)
"""A factor that turns the name of "x is present" into that of "x is absent"."""


@dataclass(frozen=True)
class SetMeasure(CountsFeatures):
    """A measure mu of what two subsets A, B of an ambient set D share, or both lack.

    `ambient` is D, any iterable of hashables; `measure_of` gives mu of each of its elements, in the same order:
    numbers >= 0 (1 each, if left out: then mu counts). Elements outside D are an error.
    """

    ambient: Ambient | None = None
    measure_of: tuple[float, ...] | None = None

    domain = Sets
    variants: ClassVar[tuple[Mapping[str, Any], ...]] = ({"ambient": tuple(range(10))},)

    @property
    @abstractmethod
    def of_shared(self) -> bool:
        """Whether elements in both sets count."""

    @property
    @abstractmethod
    def of_lacked(self) -> bool:
        """Whether elements in neither set count."""

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if self.ambient is not None:
            object.__setattr__(self, "ambient", _different(owner, self.ambient))
        elif self.of_lacked:
            remedy = "What both sets lack depends on all elements that could occur."
            raise _check.fail(owner, "ambient", "the declared ambient set", None, remedy)
        if self.measure_of is not None:
            if self.ambient is None:
                raise _check.fail(owner, "measure_of", "None unless an ambient set is given", self.measure_of)
            weights = _check.reals(owner, "measure_of", self.measure_of, low=0, high_open=True)
            if len(weights) != len(self.ambient):
                raise _check.fail(owner, "measure_of", f"{len(self.ambient)} numbers, one per element", self.measure_of)
            object.__setattr__(self, "measure_of", weights)

    def _table(self) -> tuple[Int64, Float64]:
        """The names of the elements of D, sorted, and the measure of each."""
        assert self.ambient is not None
        names = np.asarray([content_hash(element) for element in self.ambient], dtype=np.int64)
        weights = np.ones(len(names)) if self.measure_of is None else np.asarray(self.measure_of)
        order = np.argsort(names)
        return names[order], weights[order]

    @property
    def total(self) -> float:
        """mu(D)."""
        return float(self._table()[1].sum())

    def resolve(self, objects: Sets) -> State:
        self.weights_of(objects)  # refuses elements outside the ambient set
        return State()

    def weights_of(self, objects: Sets) -> Float64:
        """mu of every element of every set."""
        if self.ambient is None:
            return np.ones(len(objects.names))
        known, weights = self._table()
        place = np.minimum(np.searchsorted(known, objects.names), len(known) - 1)
        outside = known[place] != objects.names
        if outside.any():
            row = int(np.searchsorted(objects.offsets, np.flatnonzero(outside)[0], side="right")) - 1
            raise InputError(
                f"Set {row} has an element outside the ambient set of {type(self).__name__}, which has {len(known)} "
                f"elements ({int(outside.sum())} such elements in all). The ambient set is part of the kernel: declare "
                "every element that can occur."
            )
        return np.asarray(weights[place])

    def present(self, objects: Sets, dtype: DType) -> CountFeatures:
        """The square root of mu for every element of each set."""
        names = objects.names.astype(np.uint64)
        return CountFeatures.of(names, objects.offsets, dtype, np.sqrt(self.weights_of(objects)))

    def absent(self, objects: Sets, dtype: DType) -> CountFeatures:
        """The square root of mu for every element of D that is not in the set."""
        known, weights = self._table()
        rows = np.repeat(np.arange(len(objects)), np.diff(objects.offsets))
        lacking = np.ones((len(objects), len(known)), dtype=bool)
        self.weights_of(objects)
        lacking[rows, np.searchsorted(known, objects.names)] = False
        with np.errstate(over="ignore"):
            names = known.astype(np.uint64) * _COMPLEMENT
        where = np.nonzero(lacking)
        return CountFeatures.of(names[where[1]], offsets_of(lacking.sum(axis=1)), dtype, np.sqrt(weights)[where[1]])

    def spelling(self, objects: Sets, state: State) -> Iterator[Spelling]:
        if self.ambient is not None:
            names = np.asarray([content_hash(element) for element in self.ambient], dtype=np.int64).astype(np.uint64)
            with np.errstate(over="ignore"):
                yield names * _COMPLEMENT, lambda k: f"not {(self.ambient or ())[k]}"
        yield objects.names.astype(np.uint64), lambda k: text_of_label(int(objects.names[k]))

    def counts(self, objects: Sets, state: State, dtype: DType) -> CountFeatures:
        parts = [self.present(objects, dtype)] if self.of_shared else []
        parts += [self.absent(objects, dtype)] if self.of_lacked else []
        return parts[0] if len(parts) == 1 else CountFeatures.side_by_side(parts)

    def features(self, objects: Sets, state: State, dtype: DType) -> WithDiagonal:
        found = self.present(objects, dtype)
        return WithDiagonal(found, found.squared_lengths)

    def align(self, left: Any, right: Any, state: State) -> tuple[Features, Features]:
        rows, columns = align(left.inner, right.inner)
        return WithDiagonal(rows, left.diagonal), WithDiagonal(columns, right.diagonal)

    def tile(self, left: WithDiagonal, right: WithDiagonal, state: State, out: Floating) -> None:
        inner_products(left.inner, right.inner, out)
        if self.of_lacked:  # mu(D without A or B) = mu(D) - mu(A) - mu(B) + mu(A and B)
            out *= 2 if self.of_shared else 1
            out += (self.total - left.diagonal[:, None] - right.diagonal[None, :]).astype(out.dtype)
            np.maximum(out, 0, out=out)  # rounding of measures

    def diagonal(self, features: WithDiagonal, state: State) -> Float64:
        if self.of_shared and self.of_lacked:
            return np.full(len(features), self.total)
        return np.maximum(self.total - features.diagonal, 0.0) if self.of_lacked else features.diagonal

    def single_precision(self, features: WithDiagonal, state: State) -> bool:
        return bool(features.diagonal.max(initial=0.0) < SAFE_IN_SINGLE)


@final
@dataclass(frozen=True)
class SetIntersection(SetMeasure):
    """k(A, B) = mu(A and B): the number of shared elements, or their measure.

    The ambient set is optional here. Multiplicities are ignored: see `MultisetIntersection`.

    >>> from mercer import kernels
    >>> kernels.SetIntersection().fit([{"A", "B", "C", "D"}])([{"A", "B", "C", "D"}], [{"B", "C", "D", "E"}])
    array([[3.]])
    """

    of_shared, of_lacked = True, False
    variants = (
        {},
        {"ambient": tuple(range(10)), "measure_of": tuple((i + 1) / 55 for i in range(10))},
    )


@final
@dataclass(frozen=True)
class SetUnionComplement(SetMeasure):
    """k(A, B) = mu(D without A or B): the measure of the elements of the ambient set D that both sets lack.

    >>> from mercer import kernels
    >>> kernels.SetUnionComplement(range(10)).fit([{0, 1, 2, 3}])([{0, 1, 2, 3}], [{2, 3, 4}])
    array([[5.]])
    """

    of_shared, of_lacked = False, True


@final
@dataclass(frozen=True)
class SetAgreement(SetMeasure):
    """k(A, B) = mu(D) - mu(A without B, or B without A): the measure of the part of D on which two sets agree.

    The sum of `SetIntersection` and `SetUnionComplement`; k(A, A) = mu(D) for every A.

    >>> from mercer import kernels
    >>> kernels.SetAgreement(range(10)).fit([{0, 1, 2, 3}])([{0, 1, 2, 3}], [{2, 3, 4}])
    array([[7.]])
    """

    of_shared, of_lacked = True, True


def _different(owner: str, given: Any) -> Ambient:
    """The elements of an iterable, if they are hashable and none is repeated."""
    rule = "an iterable of different hashable elements"
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise _check.fail(owner, "ambient", rule, given)
    elements = tuple(given)
    try:
        repeated = len({content_hash(element) for element in elements}) < len(elements)
    except (TypeError, InputError):
        raise _check.fail(owner, "ambient", rule, given) from None
    if repeated or not elements:
        raise _check.fail(owner, "ambient", rule, given)
    return elements

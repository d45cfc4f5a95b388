"""Sums, products and positive multiples of kernels are kernels.

Terms that are functions of one measure, as in ``RBF(0.1) + RBF(1.0)``, share it: it is computed once per tile.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer.inputs.base import Index, Objects
from mercer.kernels.base import DType, Features, Float64, Floating, Kernel, Measure, State, same_domain
from mercer.kernels.pointwise import PointwiseOf


@final
@dataclass(frozen=True, eq=False)
class PartFeatures:
    """One batch of features for each distinct measure."""

    parts: tuple[Features, ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, index: Index) -> PartFeatures:
        return PartFeatures(tuple(part.take(index) for part in self.parts))


class Combination(Kernel):
    """Several kernels on the same objects, combined entry by entry."""

    terms: tuple[Kernel, ...]

    @staticmethod
    @abstractmethod
    def combine(total: Floating, values: Floating) -> None:
        """Fold the values of one more term into `total`, in place."""

    @classmethod
    def of(cls, left: Kernel, right: Kernel) -> Self:
        """Flatten what is of this very class, and nothing else: ``a + b*c`` keeps its product."""
        terms = [term for side in (left, right) for term in (side.terms if type(side) is cls else (side,))]
        return cls(tuple(terms))  # type: ignore[call-arg]

    def __post_init__(self) -> None:
        name = type(self).__name__
        rule = "a tuple of at least two kernels"
        _check.instance(name, "terms", self.terms, tuple, rule)
        if len(self.terms) < 2 or not all(isinstance(term, Kernel) for term in self.terms):
            raise _check.fail(name, "terms", rule, self.terms)
        same_domain(self.terms, name)

    @cached_property
    def _groups(self) -> tuple[tuple[Measure, tuple[int, ...]], ...]:
        groups: dict[Measure, list[int]] = {}
        for number, term in enumerate(self.terms):
            groups.setdefault(term.measure, []).append(number)
        return tuple((measure, tuple(numbers)) for measure, numbers in groups.items())

    def _shared(self, state: State) -> Iterator[tuple[Measure, State, tuple[int, ...]]]:
        for measure, numbers in self._groups:
            first = numbers[0]
            yield measure, self.terms[first].measure_state(state.parts[first]), numbers

    @property
    def domain(self) -> type[Objects]:
        return self.terms[0].domain

    @property
    def psd(self) -> bool:
        return all(term.psd for term in self.terms)

    @property
    def symmetric(self) -> bool:
        return all(term.symmetric for term in self.terms)

    @property
    def data_dependent(self) -> bool:
        return any(term.data_dependent for term in self.terms)

    def resolve(self, objects: Objects) -> State:
        return State(parts=tuple(term.resolve(objects) for term in self.terms))

    def features(self, objects: Objects, state: State, dtype: DType) -> PartFeatures:
        return PartFeatures(tuple(measure.features(objects, own, dtype) for measure, own, _ in self._shared(state)))

    def align(self, left: PartFeatures, right: PartFeatures, state: State) -> tuple[PartFeatures, PartFeatures]:
        pairs = [
            measure.align(row, column, own)
            for (measure, own, _), row, column in zip(self._shared(state), left.parts, right.parts, strict=True)
        ]
        return PartFeatures(tuple(pair[0] for pair in pairs)), PartFeatures(tuple(pair[1] for pair in pairs))

    def tile(self, left: PartFeatures, right: PartFeatures, state: State, out: Floating) -> None:
        empty = True
        for (measure, own, numbers), row, column in zip(self._shared(state), left.parts, right.parts, strict=True):
            base = out if empty and len(numbers) == 1 else np.empty_like(out)
            measure.tile(row, column, own, base)
            for number in numbers:
                values = base if number == numbers[-1] else base.copy()
                self.terms[number].pointwise(values, state.parts[number])
                if empty:
                    if values is not out:
                        out[...] = values
                    empty = False
                else:
                    self.combine(out, values)

    def diagonal(self, features: PartFeatures, state: State) -> Float64:
        total: Float64 | None = None
        for (measure, own, numbers), part in zip(self._shared(state), features.parts, strict=True):
            base = measure.diagonal(part, own).reshape(1, -1)
            for number in numbers:
                values = base.copy()
                with np.errstate(over="ignore"):
                    self.terms[number].pointwise(values, state.parts[number])
                    if total is None:
                        total = values
                    else:
                        self.combine(total, values)
        assert total is not None
        return np.asarray(total[0])

    def single_precision(self, features: PartFeatures, state: State) -> bool:
        shared = zip(self._shared(state), features.parts, strict=True)
        return all(measure.single_precision(part, own) for (measure, own, _), part in shared) and (
            super().single_precision(features, state)
        )


@final
@dataclass(frozen=True)
class Sum(Combination):
    """k(x, z) = k1(x, z) + k2(x, z) + ...: the features of all terms side by side.

    >>> from mercer import kernels
    >>> print(kernels.Linear() + 0.5 * kernels.RBF(gamma=0.1))
    linear() + 0.5*rbf(gamma=0.1)
    """

    terms: tuple[Kernel, ...]

    @staticmethod
    def combine(total: Floating, values: Floating) -> None:
        total += values

    def __str__(self) -> str:
        return " + ".join(str(term) for term in self.terms)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        from mercer.kernels.vectors.linear import Linear
        from mercer.kernels.vectors.rbf import RBF

        yield cls((RBF(gamma=0.1), RBF(gamma=1.0)))
        yield cls((Linear(), RBF(gamma=0.5), Linear() * RBF(gamma="scale")))


@final
@dataclass(frozen=True)
class Product(Combination):
    """k(x, z) = k1(x, z) k2(x, z) ...: all products of one feature of each term.

    >>> from mercer import kernels
    >>> print(kernels.Linear() * (kernels.Linear() + kernels.RBF(gamma=0.1)))
    linear()*(linear() + rbf(gamma=0.1))
    """

    terms: tuple[Kernel, ...]

    @staticmethod
    def combine(total: Floating, values: Floating) -> None:
        total *= values

    def __str__(self) -> str:
        return "*".join(f"({term})" if isinstance(term, Sum) else str(term) for term in self.terms)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        from mercer.kernels.vectors.linear import Linear
        from mercer.kernels.vectors.rbf import RBF

        yield cls((Linear(), RBF(gamma=0.5)))
        yield cls((RBF(gamma=0.1), Linear() + RBF(gamma=0.2)))


@final
@dataclass(frozen=True)
class Scaled(PointwiseOf):
    """k(x, z) = factor * k0(x, z) with factor > 0.

    >>> from mercer import kernels
    >>> (2.0 * kernels.Linear()).fit([[3.0]])([[3.0]])
    array([[18.]])
    """

    kernel: Kernel
    factor: float = 1.0

    def __post_init__(self) -> None:
        _check.instance("Scaled", "kernel", self.kernel, Kernel, "a kernel")
        remedy = "A negative multiple of a kernel is no kernel."
        _check.real("Scaled", "factor", self.factor, low=0, low_open=True, high_open=True, remedy=remedy)

    @classmethod
    def of(cls, kernel: Kernel, factor: Any) -> Self:
        return cls(kernel, float(factor))

    def outer(self, values: Floating) -> None:
        values *= values.dtype.type(self.factor)

    def __str__(self) -> str:
        return f"{self.factor!r}*({self.kernel})" if isinstance(self.kernel, Sum) else f"{self.factor!r}*{self.kernel}"

    @classmethod
    def examples(cls) -> Iterator[Self]:
        from mercer.kernels.vectors.rbf import RBF

        yield cls(RBF(gamma=0.5), 2.5)

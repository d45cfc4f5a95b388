"""Kernels made of several kernels on the same objects.

Terms that are functions of one measure, as in ``RBF(0.1) + RBF(1.0)``, share it: it is computed once per tile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

from mercer import _check
from mercer._cached import cached_property
from mercer._types import DType, Floating, Index
from mercer.errors import InputError
from mercer.inputs.base import Objects
from mercer.kernels.base import Features, Kernel, Measure, State


@final
@dataclass(frozen=True, eq=False)
class PartFeatures:
    """One batch of features for each distinct measure."""

    parts: tuple[Features, ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, index: Index) -> PartFeatures:
        return PartFeatures(tuple(part.take(index) for part in self.parts))


class Several(Kernel):
    """A combination of several kernels; subclasses define how their values are combined."""

    terms: tuple[Kernel, ...]

    @cached_property
    def groups(self) -> tuple[tuple[Measure, tuple[int, ...]], ...]:
        """The distinct measures, each with the indices of the terms that are functions of it."""
        groups: dict[Measure, list[int]] = {}
        for number, term in enumerate(self.terms):
            groups.setdefault(term.measure, []).append(number)
        return tuple((measure, tuple(numbers)) for measure, numbers in groups.items())

    def shared(self, state: State) -> Iterator[tuple[Measure, State, tuple[int, ...]]]:
        """The groups, with the state of each measure."""
        for measure, numbers in self.groups:
            first = numbers[0]
            yield measure, self.terms[first].measure_state(state.parts[first]), numbers

    def values_of_terms(self, measured: Callable[[int, Measure, State], Floating], state: State) -> Iterator[Floating]:
        """The values of each term, group by group; `measured` gives those of the measure of a group."""
        for place, (measure, own, numbers) in enumerate(self.shared(state)):
            base = measured(place, measure, own)
            for number in numbers:
                values = base if number == numbers[-1] else base.copy()
                self.terms[number].pointwise(values, state.parts[number])
                yield values

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
        return PartFeatures(tuple(measure.features(objects, own, dtype) for measure, own, _ in self.shared(state)))

    def align(self, left: PartFeatures, right: PartFeatures, state: State) -> tuple[PartFeatures, PartFeatures]:
        pairs = [
            measure.align(row, column, own)
            for (measure, own, _), row, column in zip(self.shared(state), left.parts, right.parts, strict=True)
        ]
        return PartFeatures(tuple(pair[0] for pair in pairs)), PartFeatures(tuple(pair[1] for pair in pairs))

    def tile_entries(self, left: PartFeatures, right: PartFeatures, state: State) -> int:
        shared = zip(self.shared(state), left.parts, right.parts, strict=True)
        return min(measure.tile_entries(row, column, own) for (measure, own, _), row, column in shared)

    def single_precision(self, features: PartFeatures, state: State) -> bool:
        # The features of a term are those of its measure, so each term can check for itself.
        return all(
            self.terms[number].single_precision(part, state.parts[number])
            for (_, numbers), part in zip(self.groups, features.parts, strict=True)
            for number in numbers
        ) and super().single_precision(features, state)


def check_terms(owner: str, terms: object, least: int) -> None:
    """Refuse anything but a tuple of at least `least` kernels on one kind of objects."""
    rule = f"a tuple of at least {'one kernel' if least == 1 else 'two kernels'}"
    if not isinstance(terms, tuple) or len(terms) < least or not all(isinstance(term, Kernel) for term in terms):
        raise _check.fail(owner, "terms", rule, terms)
    _refuse_mixed(terms, owner)


def _refuse_mixed(kernels: tuple[Kernel, ...], owner: str) -> None:
    """Refuse kernels that compare objects of different kinds."""
    kinds = {kernel.domain for kernel in kernels}
    if len(kinds) > 1:
        listed = " and ".join(sorted(kind.kind for kind in kinds))
        raise InputError(
            f"{owner} needs kernels on one kind of objects, got kernels on {listed}. "
            "To mix kinds, put them in a table and use kernels.on(column, kernel) for each."
        )

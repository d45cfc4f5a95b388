"""Finite sets of objects of another kind: bags of vectors, of strings, of graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
import scipy.sparse as sp

from mercer._registry import INPUTS, find
from mercer._types import Index, Int64
from mercer.errors import InputError, ModelFileError
from mercer.inputs.base import Arrays, Objects, bad_item, listed, misfit, refuse_masked, under
from mercer.inputs.ragged import RaggedObjects, fit_together, joined_offsets, offsets_of, take_rows
from mercer.inputs.vectors import Vectors

Kind = TypeVar("Kind", bound=Objects)


class Bags(RaggedObjects):
    """A batch of bags, each an iterable of elements that the kernel on elements understands.

    The elements of all bags are parsed together, on first use, as objects of the kind that a kernel needs. Numbers
    count as vectors of length one.

    >>> from mercer.inputs.bags import Bags
    >>> from mercer.inputs.vectors import Vectors
    >>> bags = Bags.coerce([{0, 1}, {1, 3, 5}])
    >>> len(bags), len(bags.elements(Vectors))
    (2, 5)
    """

    kind: ClassVar[str] = "bags"

    def __init__(self, raw: list[Any] | None, parsed: dict[type[Objects], Objects], offsets: Int64) -> None:
        self._raw = raw
        self._parsed = parsed
        self.offsets = offsets

    @classmethod
    def parse(cls, raw: Any) -> Self:
        bags = [_elements(bag, position) for position, bag in enumerate(listed(raw, cls.kind))]
        return cls([element for bag in bags for element in bag], {}, offsets_of(len(bag) for bag in bags))

    def elements(self, kind: type[Kind]) -> Kind:
        """The elements of all bags, one after another, as objects of one kind."""
        if kind not in self._parsed:
            self._parsed[kind] = self._parse(kind)
        return cast("Kind", self._parsed[kind])

    def _parse(self, kind: type[Kind]) -> Kind:
        if self._raw is None:
            held = ", ".join(parsed.kind for parsed in self._parsed)
            raise InputError(f"These bags hold {held}, and the kernel on elements compares {kind.kind}.")
        if not self._raw:
            raise InputError("Every bag is empty: there is no element to learn from.")
        try:
            return kind.coerce(_rows(self._raw) if issubclass(kind, Vectors) else self._raw)
        except InputError as error:
            raise type(error)(f"Among the elements of all bags, numbered consecutively: {error}") from error

    sizes = RaggedObjects.lengths

    def take(self, index: Index) -> Self:
        source, offsets = take_rows(index, self.offsets, np.arange(self.offsets[-1]))
        raw = None if self._raw is None else [self._raw[place] for place in source]
        return type(self)(raw, {kind: parsed.take(source) for kind, parsed in self._parsed.items()}, offsets)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        raw = None
        if all(part._raw is not None for part in parts):
            raw = [element for part in parts for element in part._raw or ()]
        shared = set.intersection(*(set(part._parsed) for part in parts))
        if raw is None and not shared:
            raise InputError("Bags of different kinds of elements cannot be joined.")
        parsed = {kind: kind.joined([part._parsed[kind] for part in parts]) for kind in shared}
        return cls(raw, parsed, joined_offsets(parts))

    def to_arrays(self) -> Arrays:
        """The elements as they were parsed, with the name of their kind."""
        if len(self._parsed) != 1:
            raise ModelFileError("Only bags that kernels have parsed, as one kind of elements, can be stored.")
        ((kind, elements),) = self._parsed.items()
        arrays = {f"elements/{name}": array for name, array in elements.to_arrays().items()}
        return {"offsets": self.offsets, "kind": np.asarray([kind.__name__], dtype=np.str_), **arrays}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        try:
            offsets = arrays["offsets"]
            kind: type[Objects] = find(INPUTS, str(arrays["kind"][0]), "kind of objects").load()
            elements = kind.from_arrays(under(arrays, "elements/"))
        except (KeyError, IndexError) as error:
            raise ModelFileError(f"The stored bags are incomplete: {error}") from error
        if not fit_together(offsets, np.arange(len(elements))):
            raise misfit(cls.kind, "offsets and elements disagree")
        return cls(None, {kind: elements}, offsets.astype(np.int64))


def _elements(bag: Any, position: int) -> list[Any]:
    if hasattr(bag, "to_numpy"):
        bag = np.asarray(bag)  # the rows of a frame, since iterating would give the names of its columns
    single = isinstance(bag, str | bytes | Mapping | Iterator)
    if single or not isinstance(bag, Iterable) or sp.issparse(bag) or (isinstance(bag, np.ndarray) and not bag.ndim):
        raise bad_item("bags", position, bag, "A bag is a list, a set or an array of elements.")
    refuse_masked(bag, f"Bag {position}")
    return list(bag)


def _rows(elements: list[Any]) -> Any:
    numbers = all(isinstance(element, int | float | np.number) for element in elements)
    return np.asarray(elements).reshape(-1, 1) if numbers else elements

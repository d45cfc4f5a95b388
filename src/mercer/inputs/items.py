"""Arbitrary Python objects, for kernels written by the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from mercer._types import Index
from mercer.inputs.base import Arrays, Objects, listed
from mercer.inputs.plain import pack, unpack


@dataclass(eq=False, repr=False)
class Items(Objects):
    """A list of whatever the user's own kernel understands; only its length is checked."""

    kind: ClassVar[str] = "objects"

    items: Sequence[Any]

    @classmethod
    def parse(cls, raw: Any) -> Self:
        return cls(listed(raw, cls.kind))

    def __len__(self) -> int:
        return len(self.items)

    def take(self, index: Index) -> Self:
        if isinstance(index, slice):
            return type(self)(self.items[index])
        return type(self)([self.items[int(position)] for position in np.asarray(index)])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        return cls([item for part in parts for item in part.items])

    def to_arrays(self) -> Arrays:
        """Plain data: numbers, strings, tuples, lists, dicts, sets, arrays, and dataclasses of these."""
        return pack(self.items)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        return cls(unpack(arrays))

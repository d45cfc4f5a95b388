"""The positions of features in an object, and how parts of the object contribute to a decision.

Every occurrence of a feature covers some parts of its object: a word covers its letters, a path its two ends. These
parts share the contribution of the feature equally, so the shares of all parts add up to the decision value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Float64, Int64, UInt64

Weigh = Callable[[UInt64], Float64]
"""The weights of the features with these names: one row per name, one column per output."""
Spelling = tuple[UInt64, Callable[[int], Any]]
"""Names of features, and a function that spells the k-th of them out."""


@final
@dataclass(frozen=True, eq=False)
class Shares:
    """The parts of one object (letters, nodes ...) and what each adds to the outputs: one row per part."""

    parts: tuple[Any, ...]
    contributions: Float64


@final
@dataclass(frozen=True, eq=False)
class Occurrences:
    """Every occurrence of a feature in one object.

    The parts that occurrence k covers are the first ``sizes[k]`` numbers of ``places[k]``; the rest is 0.
    """

    parts: tuple[Any, ...]
    names: UInt64
    values: Float64
    """What each occurrence adds to the value of its feature."""
    places: Int64
    sizes: Int64
    spell: Callable[[int], Any]
    """The readable name of the feature of the k-th occurrence."""

    @classmethod
    def on_single_parts(cls, parts: tuple[Any, ...], names: UInt64, spell: Callable[[int], Any]) -> Occurrences:
        """Features that each cover one part: `names` lists those of all parts, in one or several rounds."""
        places = np.tile(np.arange(len(parts)), len(names) // max(1, len(parts)))[:, None]
        return cls(parts, names, np.ones(len(names)), places, np.ones(len(names), dtype=np.int64), spell)

    def shares(self, weigh: Weigh) -> Shares:
        """What each part adds, given the weights of features."""
        amounts = self.values[:, None] * weigh(self.names)
        spread = np.zeros((len(self.parts), amounts.shape[1]))
        for place in range(self.places.shape[1]):
            used = self.sizes > place
            np.add.at(spread, self.places[used, place], amounts[used] / self.sizes[used, None])
        return Shares(self.parts, spread)

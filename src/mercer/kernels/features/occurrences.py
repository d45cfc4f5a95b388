"""Where the features of an object lie in it, and how parts of the object share a decision.

Every occurrence of a feature lies on some parts of its object: a word on its letters, a path on its two ends. What the
feature adds to a decision value is shared equally by these parts, so the shares of all parts add up to the value.
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

    The parts on which occurrence k lies are the first ``sizes[k]`` numbers of ``places[k]``; the rest is 0.
    """

    parts: tuple[Any, ...]
    names: UInt64
    values: Float64
    """What each occurrence adds to the value of its feature."""
    places: Int64
    sizes: Int64
    spell: Callable[[int], Any]
    """The feature of the k-th occurrence as people read it."""

    @classmethod
    def on_single_parts(cls, parts: tuple[Any, ...], names: UInt64, spell: Callable[[int], Any]) -> Occurrences:
        """Features that count parts: the names of those of all parts, once or several times round."""
        places = np.tile(np.arange(len(parts)), len(names) // max(1, len(parts)))[:, None]
        return cls(parts, names, np.ones(len(names)), places, np.ones(len(names), dtype=np.int64), spell)

    def shares(self, weigh: Weigh) -> Shares:
        """What each part adds, by the weights of features."""
        amounts = self.values[:, None] * weigh(self.names)
        spread = np.zeros((len(self.parts), amounts.shape[1]))
        for place in range(self.places.shape[1]):
            used = self.sizes > place
            np.add.at(spread, self.places[used, place], amounts[used] / self.sizes[used, None])
        return Shares(self.parts, spread)

"""Kernels that count named features: words, walks, subtrees, elements."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.kernels.base import Kernel, State
from mercer.kernels.features.counts import EXACT_IN_SINGLE, CountFeatures, align, inner_products
from mercer.kernels.features.feature_map import FeatureMap
from mercer.kernels.features.occurrences import Occurrences, Shares, Spelling, Weigh


class CountsFeatures(Kernel):
    """k(x, z) = <phi(x), phi(z)> with a sparse phi(x) of hashed names, whatever the way of computing the Gram matrix.

    Subclasses define `counts`, and `occurrences` or `spelling` to give features readable names.
    """

    @abstractmethod
    def counts(self, objects: Any, state: State, dtype: DType) -> CountFeatures:
        """phi of each object: 64-bit names of features, the same in any batch, and their values."""

    def occurrences(self, one: Any, state: State) -> Occurrences | None:
        """The positions of features in a single object, if they have any."""
        del one, state
        return None

    def spelling(self, objects: Any, state: State) -> Iterator[Spelling]:
        """Readable names of the features of these objects."""
        for number in range(len(objects)):
            found = self.occurrences(objects.take(slice(number, number + 1)), state)
            if found is not None:
                yield found.names, found.spell

    def shares(self, one: Any, state: State, weigh: Weigh) -> Shares | None:
        """What each part of a single object adds to a decision, given the weights of features."""
        found = self.occurrences(one, state)
        return None if found is None else found.shares(weigh)

    def feature_map(self, state: State) -> FeatureMap | None:
        return CountedFeatures(self, state)


@final
@dataclass(frozen=True, eq=False)
class CountedFeatures(FeatureMap):
    """The features that a kernel counts."""

    kernel: CountsFeatures
    state: State

    @property
    def counted(self) -> bool:
        return True

    def counts(self, objects: Any) -> CountFeatures:
        return self.kernel.counts(objects, self.state, np.float64)

    def spelling(self, objects: Any) -> Iterator[Spelling]:
        return self.kernel.spelling(objects, self.state)

    def shares(self, one: Any, weigh: Weigh) -> Shares | None:
        return self.kernel.shares(one, self.state, weigh)


class Counting(CountsFeatures):
    """A kernel whose Gram matrix is the product of its matrix of counts; subclasses give `counts`."""

    largest_in_single = EXACT_IN_SINGLE

    def features(self, objects: Any, state: State, dtype: DType) -> CountFeatures:
        return self.counts(objects, state, dtype)

    def align(self, left: CountFeatures, right: CountFeatures, state: State) -> tuple[Any, Any]:
        return align(left, right)

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        inner_products(left, right, out)

    def diagonal(self, features: CountFeatures, state: State) -> Float64:
        return features.squared_lengths

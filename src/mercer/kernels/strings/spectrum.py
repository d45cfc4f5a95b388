"""The p-spectrum kernel."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._jit import Array, jit
from mercer.errors import KernelWarning
from mercer.inputs.strings import Strings
from mercer.kernels.base import DType, Float64, Floating, Kernel, State
from mercer.kernels.counts import EXACT_IN_SINGLE, CountFeatures, align, inner_products


@final
@dataclass(frozen=True)
class Spectrum(Kernel):
    """The p-spectrum kernel: k(s, t) = sum over all words u of length p of count_u(s) count_u(t).

    Counts are of contiguous substrings; strings shorter than `p` have none and compare as 0 to everything.

    >>> from mercer import kernels
    >>> kernels.Spectrum(p=3).fit(["statistics"])(["statistics"], ["computation"])
    array([[2.]])
    """

    p: int = 3

    domain = Strings

    def __post_init__(self) -> None:
        _check.integer("Spectrum", "p", self.p, low=1)

    def resolve(self, objects: Strings) -> State:
        short = int((objects.lengths < self.p).sum())
        if short:
            warnings.warn(
                f"{short} of {len(objects)} strings are shorter than p={self.p}: they share no substring of that "
                "length with any string, and compare as 0 to all.",
                KernelWarning,
                stacklevel=2,
            )
        return State()

    def features(self, objects: Strings, state: State, dtype: DType) -> CountFeatures:
        hashes, offsets = _hash_substrings(objects.symbols, objects.offsets, self.p)
        return CountFeatures.of(hashes, offsets, dtype)

    def align(self, left: CountFeatures, right: CountFeatures, state: State) -> tuple[Any, Any]:
        return align(left, right)

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        inner_products(left, right, out)

    def diagonal(self, features: CountFeatures, state: State) -> Float64:
        return features.squared_lengths

    def single_precision(self, features: CountFeatures, state: State) -> bool:
        return bool(features.squared_lengths.max(initial=0.0) < EXACT_IN_SINGLE)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(p=1)
        yield cls(p=5)


@jit
def _hash_substrings(symbols: Array, offsets: Array, p: int) -> Any:
    """A 64-bit hash of every substring of length p, string after string.

    Each symbol goes through the finaliser of splitmix64, so equal substrings get equal names in any batch and
    two different ones among a million collide with probability below 1e-7.
    """
    bounds = np.zeros(offsets.shape[0], dtype=np.int64)
    for i in range(offsets.shape[0] - 1):
        bounds[i + 1] = bounds[i] + max(0, offsets[i + 1] - offsets[i] - p + 1)
    hashes = np.empty(bounds[-1], dtype=np.uint64)
    for i in range(offsets.shape[0] - 1):
        for k in range(bounds[i + 1] - bounds[i]):
            start = offsets[i] + k
            h = np.uint64(p)
            for q in range(p):
                h += np.uint64(0x9E3779B97F4A7C15) + np.uint64(symbols[start + q])
                h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                h = h ^ (h >> np.uint64(31))
            hashes[bounds[i] + k] = h
    return hashes, bounds

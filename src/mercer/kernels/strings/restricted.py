"""Gap-weighted subsequences with a bound on their gaps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer._jit import Array, jit
from mercer._record import integer, real
from mercer._types import DType
from mercer.inputs.strings import Strings
from mercer.kernels.base import SAFE_IN_SINGLE, State
from mercer.kernels.features.counting import Counting
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.occurrences import Occurrences
from mercer.kernels.loops.mixing import mix
from mercer.kernels.strings.base import StringKernel, at_places

_MOST_PATTERNS = 100_000
"""The most patterns of gaps: each gives a feature at every position of a string, and more would fill the memory."""


@final
@dataclass(frozen=True)
class RestrictedGapWeighted(StringKernel, Counting):
    """Gap-weighted subsequences of length p that skip at most m symbols: phi_u(s) = sum over index tuples i that spell
    u with len(i) <= p + m of decay^len(i).

    m = 0 gives decay^(2p) times the p-spectrum kernel, large m the gap-weighted kernel. Every subsequence is counted
    once, no matter how many windows contain it.

    >>> from mercer import kernels
    >>> kernels.RestrictedGapWeighted(p=2, m=1, decay=0.5).fit(["gatta"])(["gatta"], ["cata"])
    array([[0.1875]])
    """

    p: int = integer(3, low=1, high=1000)
    m: int = integer(2, low=0, high=1000)
    decay: float = real(0.5, low=0, low_open=True, high_open=True)

    largest_in_single = SAFE_IN_SINGLE
    variants = (
        {},
        {"p": 2, "m": 0, "decay": 1.0},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if comb(self.p + self.m - 1, self.p - 1) > _MOST_PATTERNS:
            rule = f"small enough for at most {_MOST_PATTERNS:,} patterns of gaps"
            raise _check.fail("RestrictedGapWeighted", "m", rule, self.m, "GapWeighted has no such bound.")

    @property
    def shortest(self) -> int:
        return self.p

    def counts(self, objects: Strings, state: State, dtype: DType) -> CountFeatures:
        names, weights, offsets = self.placed(self.sequences(objects))
        return CountFeatures.of(names, offsets, dtype, weights)

    def occurrences(self, one: Strings, state: State) -> Occurrences:
        sequence = self.sequences(one)
        names, values, _ = self.placed(sequence)
        length = len(sequence.symbols)
        starts = [np.arange(max(0, length - int(pattern[-1])))[:, None] + pattern for pattern in self.patterns]
        sizes = np.full(len(names), self.p, dtype=np.int64)
        return at_places(sequence, names, values, np.concatenate(starts), sizes)

    @property
    def patterns(self) -> npt.NDArray[np.int64]:
        """The offsets of the symbols of a subsequence from its first, one choice after another."""
        behind = range(1, self.p + self.m)
        return np.asarray([(0, *rest) for rest in combinations(behind, self.p - 1)], dtype=np.int64)

    def placed(self, sequences: Strings) -> tuple[Any, Any, Any]:
        """The names and weights of all subsequences, pattern after pattern within a string, and where strings end."""
        patterns = self.patterns
        values = float(self.decay) ** (patterns[:, -1] + 1.0)
        found: tuple[Any, Any, Any] = _name_patterns(sequences.symbols, sequences.offsets, patterns, values)
        return found


@jit
def _name_patterns(symbols: Array, offsets: Array, patterns: Array, values: Array) -> Any:
    """The names and weights of all subsequences with one of these patterns, string after string."""
    bounds = np.zeros(offsets.shape[0], dtype=np.int64)
    for i in range(offsets.shape[0] - 1):
        total = 0
        for c in range(patterns.shape[0]):
            total += max(0, offsets[i + 1] - offsets[i] - patterns[c, -1])
        bounds[i + 1] = bounds[i] + total
    names = np.empty(bounds[-1], dtype=np.uint64)
    weights = np.empty(bounds[-1], dtype=np.float64)
    used = 0
    for i in range(offsets.shape[0] - 1):
        for c in range(patterns.shape[0]):
            for start in range(offsets[i], offsets[i + 1] - patterns[c, -1]):
                h = np.uint64(0)
                for q in range(patterns.shape[1]):
                    h = mix(h + np.uint64(symbols[start + patterns[c, q]]))
                names[used] = h
                weights[used] = values[c]
                used += 1
    return names, weights, bounds

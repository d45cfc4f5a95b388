"""Names of the contiguous words in strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._jit import Array, jit


@jit
def mixed(h: Any) -> Any:
    """The finaliser of splitmix64: every bit of the result depends on every bit of h."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@jit
def extended(h: Any, symbol: Any) -> Any:
    """The name of a word, made longer by a symbol."""
    return mixed(h + np.uint64(0x9E3779B97F4A7C15) + np.uint64(symbol))


@jit
def name_words(symbols: Array, offsets: Array, shortest: int, longest: int, values: Array) -> Any:
    """The names of all words of lengths `shortest` to `longest`, string after string, each with ``values[length]``.

    Equal words get equal names in any batch; two different ones among a million share one with probability below 1e-7.
    """
    bounds = np.zeros(offsets.shape[0], dtype=np.int64)
    for i in range(offsets.shape[0] - 1):
        length = offsets[i + 1] - offsets[i]
        total = 0
        for q in range(shortest, longest + 1):
            total += max(0, length - q + 1)
        bounds[i + 1] = bounds[i] + total
    names = np.empty(bounds[-1], dtype=np.uint64)
    weights = np.empty(bounds[-1], dtype=np.float64)
    used = 0
    for i in range(offsets.shape[0] - 1):
        for start in range(offsets[i], offsets[i + 1]):
            h = np.uint64(0)
            for q in range(1, min(longest, offsets[i + 1] - start) + 1):
                h = extended(h, symbols[start + q - 1])
                if q >= shortest:
                    names[used] = mixed(h + np.uint64(q))
                    weights[used] = values[q]
                    used += 1
    return names, weights, bounds

"""Combining hashes inside compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit


@jit
def mix(number: Array) -> Array:
    """A bijection of 64-bit numbers in which every bit of the result depends on every bit of `number`.

    It is the finaliser of Steele, Lea and Flood's splitmix64. Sums of mixed numbers identify multisets, chains of them
    sequences; among a million, any collision has a probability below 1e-7.
    """
    return finished(np.uint64(number) + np.uint64(0x9E3779B97F4A7C15))


@jit
def finished(spread: Array) -> Array:
    """`mix` without its first addition."""
    spread = (spread ^ (spread >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    spread = (spread ^ (spread >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return spread ^ (spread >> np.uint64(31))


@jit
def mix_all(numbers: Array) -> Any:
    """Every number of an array, mixed."""
    mixed = np.empty(numbers.shape[0], dtype=np.uint64)
    for k in range(numbers.shape[0]):
        mixed[k] = mix(numbers[k])
    return mixed


def mixed(numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Every number of an array of 64-bit whole numbers, mixed."""
    found: npt.NDArray[np.uint64] = mix_all(np.ascontiguousarray(numbers).view(np.uint64))
    return found

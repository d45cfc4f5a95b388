"""Vectorised functions applied in place to a tile: the f of f(measure).

Each is one pass over a contiguous tile that is still in cache, in the precision of the tile.
"""

from __future__ import annotations

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Floating
from mercer.kernels.loops.elementary import (
    HIGHEST_32,
    HIGHEST_64,
    LOWEST_32,
    LOWEST_64,
    exp_32,
    exp_64,
    log_of_one_plus_32,
    log_of_one_plus_64,
    tanh_32,
    tanh_64,
)

_LARGEST_32, _LARGEST_64 = 3e38, 1e308
"""Rates are clamped to these, next to the largest floats: an infinite one would make NaN of a distance of 0."""
_SMALL_POWER = 8
"""Whole exponents up to this are faster by multiplication than by a logarithm and an exponential."""


def exp(tile: Floating, gain: float) -> None:
    """tile <- exp(gain * tile); what exceeds the largest float becomes infinite."""
    if tile.dtype == np.float32:
        _exp_32(tile, np.float32(gain))
    else:
        _exp_64(tile, float(gain))


def exp_of_negative(tile: Floating, rate: float) -> None:
    """tile <- exp(-rate * tile), for rate >= 0 and tile >= 0."""
    if tile.dtype == np.float32:
        _exp_of_negative_32(tile, np.float32(min(rate, _LARGEST_32)))
    else:
        _exp_of_negative_64(tile, min(rate, _LARGEST_64))


def power(tile: Floating, gain: float, offset: float, degree: int) -> None:
    """tile <- (gain * tile + offset) ** degree, by repeated multiplication."""
    kind = tile.dtype.type
    _power(tile, kind(gain), kind(offset), degree)


def tanh(tile: Floating, gain: float, offset: float) -> None:
    """tile <- tanh(gain * tile + offset), for gain >= 0."""
    if tile.dtype == np.float32:
        largest = _LARGEST_32
        _tanh_32(tile, np.float32(min(gain, largest)), np.float32(min(max(offset, -largest), largest)))
    else:
        _tanh_64(tile, float(gain), float(offset))


def matern(tile: Floating, rate: float, order: int) -> None:
    """With x = rate * tile, the Matern form of `order` + 1/2: e^-x, (1 + x) e^-x or (1 + x + x^2 / 3) e^-x."""
    if order == 0:
        exp_of_negative(tile, rate)
    elif tile.dtype == np.float32:
        _matern_32(tile, np.float32(min(rate, _LARGEST_32)), np.float32((order - 1) / 3))
    else:
        _matern_64(tile, min(rate, _LARGEST_64), (order - 1) / 3)


def rational(tile: Floating, rate: float, exponent: float) -> None:
    """tile <- (1 + rate * tile) ** -exponent, for rate, exponent > 0 and tile >= 0."""
    rate = min(rate, _LARGEST_32 if tile.dtype == np.float32 else _LARGEST_64)
    if exponent <= _SMALL_POWER and exponent == int(exponent):
        power(tile, rate, 1.0, int(exponent))
        _reciprocal(tile)
    elif tile.dtype == np.float32:
        _rational_32(tile, np.float32(rate), np.float32(min(exponent, _LARGEST_32)))
    else:
        _rational_64(tile, rate, float(exponent))


@jit
def squared_distances(tile: Array, left: Array, right: Array) -> None:
    """Turn inner products into squared distances, in place, never below zero."""
    two = tile.dtype.type(2)
    zero = tile.dtype.type(0)
    for i in range(tile.shape[0]):
        row = tile[i]
        length = left[i]
        for j in range(row.shape[0]):
            row[j] = max(length + right[j] - two * row[j], zero)


@jit
def shared_part(tile: Array, left: Array, right: Array) -> None:
    """tile <- tile / (left + right - tile), in place; two empty objects are equal, so their 0 / 0 is 1."""
    zero, one = tile.dtype.type(0), tile.dtype.type(1)
    for i in range(tile.shape[0]):
        row = tile[i]
        own = left[i]
        for j in range(row.shape[0]):
            together = own + right[j] - row[j]
            row[j] = row[j] / together if together > zero else one


@jit(reassociate=False)
def _exp_32(tile: Array, gain: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            row[j] = exp_32(min(max(gain * row[j], LOWEST_32), HIGHEST_32))


@jit(reassociate=False)
def _exp_64(tile: Array, gain: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            row[j] = exp_64(min(max(gain * row[j], LOWEST_64), HIGHEST_64))


@jit(reassociate=False)
def _exp_of_negative_32(tile: Array, rate: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            row[j] = exp_32(max(-rate * row[j], LOWEST_32))


@jit(reassociate=False)
def _exp_of_negative_64(tile: Array, rate: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            row[j] = exp_64(max(-rate * row[j], LOWEST_64))


@jit(reassociate=False)
def _tanh_32(tile: Array, gain: Array, offset: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            row[j] = tanh_32(gain * row[j] + offset)


@jit(reassociate=False)
def _tanh_64(tile: Array, gain: Array, offset: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            row[j] = tanh_64(gain * row[j] + offset)


@jit(reassociate=False)
def _matern_32(tile: Array, rate: Array, square: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            x = min(rate * row[j], -LOWEST_32)
            row[j] = (np.float32(1.0) + x + square * x * x) * exp_32(-x)


@jit(reassociate=False)
def _matern_64(tile: Array, rate: Array, square: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            x = min(rate * row[j], -LOWEST_64)
            row[j] = (1.0 + x + square * x * x) * exp_64(-x)


@jit(reassociate=False)
def _rational_32(tile: Array, rate: Array, exponent: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            logarithm = log_of_one_plus_32(min(rate * row[j], np.float32(3e38)))
            row[j] = exp_32(max(-exponent * logarithm, LOWEST_32))


@jit(reassociate=False)
def _rational_64(tile: Array, rate: Array, exponent: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            logarithm = log_of_one_plus_64(min(rate * row[j], 1e308))
            row[j] = exp_64(max(-exponent * logarithm, LOWEST_64))


@jit
def _reciprocal(tile: Array) -> None:
    one = tile.dtype.type(1)
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            row[j] = one / row[j]


@jit
def _power(tile: Array, gain: Array, offset: Array, degree: int) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            row[j] = gain * row[j] + offset
        if degree == 2:
            for j in range(row.shape[0]):
                row[j] = row[j] * row[j]
        elif degree == 3:
            for j in range(row.shape[0]):
                row[j] = row[j] * row[j] * row[j]
        elif degree != 1:
            for j in range(row.shape[0]):
                base = row[j]
                result = base * 0 + 1
                left = degree
                while left > 0:
                    if left & 1:
                        result = result * base
                    base = base * base
                    left >>= 1
                row[j] = result

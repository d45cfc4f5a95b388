"""Vectorised functions applied in place to a tile: the f of f(measure).

Each is one pass over a contiguous tile that is still in cache, in the precision of the tile.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Floating
from mercer.kernels.loops.elementary import (
    HIGHEST_32,
    HIGHEST_64,
    LOWEST_32,
    LOWEST_64,
    exp_like,
    log_of_one_plus_like,
    tanh_like,
)

_LARGEST: dict[Any, Any] = {np.float32: np.float32(3e38), np.float64: np.float64(1e308)}
"""Rates are clamped to these, close to the largest floats: an infinite rate times a distance of 0 would be NaN."""
_LOWEST: dict[Any, Any] = {np.float32: LOWEST_32, np.float64: LOWEST_64}
_HIGHEST: dict[Any, Any] = {np.float32: HIGHEST_32, np.float64: HIGHEST_64}
_SMALL_POWER = 8
"""For integer exponents up to this, multiplication is faster than a logarithm and an exponential."""


def exp(tile: Floating, gain: float) -> None:
    """tile <- exp(gain * tile); values beyond the largest float become infinite."""
    kind = tile.dtype.type
    _exp(tile, kind(gain), _LOWEST[kind], _HIGHEST[kind])


def exp_of_negative(tile: Floating, rate: float) -> None:
    """tile <- exp(-rate * tile), for rate >= 0 and tile >= 0."""
    kind = tile.dtype.type
    _exp_of_negative(tile, kind(min(rate, _LARGEST[kind])), _LOWEST[kind])


def power(tile: Floating, gain: float, offset: float, degree: int) -> None:
    """tile <- (gain * tile + offset) ** degree, by repeated multiplication."""
    kind = tile.dtype.type
    _power(tile, kind(gain), kind(offset), degree)


def tanh(tile: Floating, gain: float, offset: float) -> None:
    """tile <- tanh(gain * tile + offset), for gain >= 0."""
    kind = tile.dtype.type
    largest = _LARGEST[kind]
    _tanh(tile, kind(min(gain, largest)), kind(min(max(offset, -largest), largest)))


def matern(tile: Floating, rate: float, order: int) -> None:
    """With x = rate * tile, the Matern form of `order` + 1/2: e^-x, (1 + x) e^-x or (1 + x + x^2 / 3) e^-x."""
    kind = tile.dtype.type
    if order == 0:
        exp_of_negative(tile, rate)
    else:
        _matern(tile, kind(min(rate, _LARGEST[kind])), kind((order - 1) / 3), -_LOWEST[kind])


def rational(tile: Floating, rate: float, exponent: float) -> None:
    """tile <- (1 + rate * tile) ** -exponent, for rate, exponent > 0 and tile >= 0."""
    kind = tile.dtype.type
    largest = _LARGEST[kind]
    rate = min(rate, float(largest))
    if exponent <= _SMALL_POWER and exponent == int(exponent):
        power(tile, rate, 1.0, int(exponent))
        _reciprocal(tile)
    else:
        _rational(tile, kind(rate), kind(min(exponent, largest)), _LOWEST[kind], largest)


def _squared_distances_plain(tile: Array, left: Array, right: Array) -> None:
    tile *= -2
    tile += left[:, None]
    tile += right
    np.maximum(tile, 0, out=tile)


@jit(plain=_squared_distances_plain)
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
def _exp(tile: Array, gain: Array, lowest: Array, highest: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            row[j] = exp_like(min(max(gain * row[j], lowest), highest), row)


def _exp_of_negative_plain(tile: Array, rate: Array, lowest: Array) -> None:
    with np.errstate(over="ignore"):
        tile *= -rate
    np.exp(np.maximum(tile, lowest, out=tile), out=tile)


@jit(reassociate=False, plain=_exp_of_negative_plain)
def _exp_of_negative(tile: Array, rate: Array, lowest: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            row[j] = exp_like(max(-rate * row[j], lowest), row)


@jit(reassociate=False)
def _tanh(tile: Array, gain: Array, offset: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            row[j] = tanh_like(gain * row[j] + offset, row)


def _matern_plain(tile: Array, rate: Array, square: Array, farthest: Array) -> None:
    with np.errstate(over="ignore"):
        x = np.minimum(rate * tile, farthest)
    np.multiply(1 + x + square * x * x, np.exp(-x), out=tile)


@jit(reassociate=False, plain=_matern_plain)
def _matern(tile: Array, rate: Array, square: Array, farthest: Array) -> None:
    one = tile.dtype.type(1)
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            x = min(rate * row[j], farthest)
            row[j] = (one + x + square * x * x) * exp_like(-x, row)


@jit(reassociate=False)
def _rational(tile: Array, rate: Array, exponent: Array, lowest: Array, largest: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            logarithm = log_of_one_plus_like(min(rate * row[j], largest), row)
            row[j] = exp_like(max(-exponent * logarithm, lowest), row)


@jit
def _reciprocal(tile: Array) -> None:
    one = tile.dtype.type(1)
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(row.shape[0]):
            row[j] = one / row[j]


def _power_plain(tile: Array, gain: Array, offset: Array, degree: int) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        tile *= gain
        tile += offset
        np.power(tile, tile.dtype.type(degree), out=tile)


@jit(plain=_power_plain)
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


@jit
def mirror_within(out: Array, start: int, stop: int) -> None:
    """Copy the upper triangle of a square on the diagonal to the lower one."""
    for i in range(start, stop):
        for j in range(i + 1, stop):
            out[j, i] = out[i, j]

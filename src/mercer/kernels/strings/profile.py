"""Kernels on pairs of windows by their number of mismatches."""

from __future__ import annotations

from abc import abstractmethod
from math import comb

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.inputs.strings import Strings
from mercer.kernels.base import State
from mercer.kernels.features.counting import CountsFeatures
from mercer.kernels.features.counts import EXACT_IN_SINGLE
from mercer.kernels.strings.base import OverAlphabet
from mercer.kernels.strings.masks import coefficients, mask_diagonal, mask_products
from mercer.kernels.strings.windows import Windows, compacted

_UPDATES_PER_TILE = 1e9
"""Additions to a tile, a second or so: tiles cannot be interrupted."""


class MismatchProfile(OverAlphabet, CountsFeatures):
    """k(s, t) = sum over pairs of windows of s and t of h(number of mismatches), for windows of one length."""

    @property
    @abstractmethod
    def profile(self) -> tuple[float, ...]:
        """h(0), h(1), ...; 0 beyond the end."""

    def windows(self, objects: Strings) -> Windows:
        """All windows that are compared."""
        coded = self.coded(self.sequences(objects))
        return Windows.of(coded.symbols, coded.offsets, self.shortest)

    @property
    def mask_weights(self) -> Float64:
        """The weights of masks, by size, whose agreements add up to h."""
        return coefficients(list(self.profile), self.shortest)

    def features(self, objects: Strings, state: State, dtype: DType) -> Windows:
        windows = self.windows(objects)
        own, _ = compacted(windows, windows)
        return windows.with_diagonal(mask_diagonal(own, self.mask_weights, _strands(own)))

    def align(self, left: Windows, right: Windows, state: State) -> tuple[Windows, Windows]:
        return compacted(left, right)

    def tile(self, left: Windows, right: Windows, state: State, out: Floating) -> None:
        # Turning both strands round changes no distance: compare one strand with both, twice.
        mask_products(left.forward(), right, self.mask_weights, _strands(left), out)

    def diagonal(self, features: Windows, state: State) -> Float64:
        return features.diagonal

    def single_precision(self, features: Windows, state: State) -> bool:
        # Weights of opposite signs cancel: what is added up on the way is larger than the value.
        weights = self.mask_weights
        swell = np.abs(weights).sum() / max(abs(float(weights.sum())), 1.0) if (weights < 0).any() else 1.0
        return bool(features.diagonal.max(initial=0.0) * swell < EXACT_IN_SINGLE)

    def tile_entries(self, left: Windows, right: Windows, state: State) -> int:
        weights = self.mask_weights
        pairs = _mean(left) * _mean(right)
        letters = max(2, right.n_symbols)
        updates = sum(pairs * comb(len(weights) - 1, j) / letters**j for j in np.flatnonzero(weights))
        return max(1, int(_UPDATES_PER_TILE / max(updates, 1.0)))


def _strands(windows: Windows) -> float:
    return 2.0 if windows.both_strands else 1.0


def _mean(windows: Windows) -> float:
    return len(windows.starts) / max(1, len(windows))

"""Kernels whose values may exceed the range of floats, and are then computed as logarithms."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from mercer._types import Float64, Floating
from mercer.kernels.base import Kernel, State


class LogKernel(Kernel):
    """A kernel that also gives the base-2 logarithm of its values, so that its cosine never overflows."""

    @property
    def logarithms(self) -> LogKernel:
        return self

    @abstractmethod
    def log_tile(self, left: Any, right: Any, state: State, out: Float64) -> None:
        """Write log2 k(x, z) into `out`, -inf where k is 0."""

    @abstractmethod
    def log_diagonal(self, features: Any, state: State) -> Float64:
        """log2 k(x, x) of each object, -inf where it is 0."""


class ComputedAsLogarithm(LogKernel):
    """A kernel with values 2 ** `log_tile`; its features contain the `logarithms` of k(x, x)."""

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        values = np.empty(out.shape)
        self.log_tile(left, right, state, values)
        with np.errstate(over="ignore", under="ignore"):  # FittedKernel.diagonal refuses overflow
            np.exp2(values, out=out, casting="same_kind")

    def diagonal(self, features: Any, state: State) -> Float64:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp2(self.log_diagonal(features, state)))

    def log_diagonal(self, features: Any, state: State) -> Float64:
        return np.asarray(features.logarithms)

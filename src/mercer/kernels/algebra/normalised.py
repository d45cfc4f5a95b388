"""Cosine normalisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer import _check
from mercer._jit import Array, jit
from mercer._types import DType, Float64, Floating
from mercer.inputs.base import Objects
from mercer.kernels.algebra.logarithmic import LogKernel
from mercer.kernels.algebra.of_kernel import OfKernel
from mercer.kernels.algebra.with_diagonal import CarriesDiagonal, WithDiagonal
from mercer.kernels.base import Kernel, State
from mercer.kernels.features.feature_map import FeatureMap, Stretched
from mercer.kernels.text import latex


@final
@dataclass(frozen=True)
class Normalised(CarriesDiagonal, OfKernel):
    """The cosine of the angle in feature space, k(x, z) / sqrt(k(x, x) k(z, z)).

    An object with k(x, x) = 0 has no direction: its value is 0 against everything, itself included, never NaN.

    >>> from mercer import kernels
    >>> kernels.normalise(kernels.Linear()).fit([[3.0, 4.0]])([[3.0, 4.0]], [[6.0, 8.0]])
    array([[1.]])
    """

    kernel: Kernel

    reason = "it divides the features of the kernel by their length"

    def __post_init__(self) -> None:
        _check.instance("Normalised", "kernel", self.kernel, Kernel, "a kernel")

    def feature_map(self, state: State) -> FeatureMap | None:
        features = self.kernel.feature_map(state.parts[0])
        return None if features is None else Stretched(features, _inverse_root)

    def latex(self, x: str = "x", z: str = "z") -> str:
        cross = self.kernel.latex(x, z)
        if len(cross) > latex.LONG:
            return rf"\operatorname{{normalise}}\left[{cross}\right]"
        lengths = rf"{latex.factor(self.kernel.latex(x, x))} \cdot {latex.factor(self.kernel.latex(z, z))}"
        return rf"\frac{{{cross}}}{{\sqrt{{{lengths}}}}}"

    def features(self, objects: Objects, state: State, dtype: DType) -> WithDiagonal:
        logarithms = self.kernel.logarithms
        if logarithms is None:
            return super().features(objects, state, dtype)
        inner = self.kernel.features(objects, state.parts[0], dtype)
        return WithDiagonal(inner, logarithms.log_diagonal(inner, state.parts[0]))

    def tile(self, left: WithDiagonal, right: WithDiagonal, state: State, out: Floating) -> None:
        if self.kernel.logarithms is not None:
            _cosine_of_logarithms(self.kernel.logarithms, left, right, state.parts[0], out)
            return
        super().tile(left, right, state, out)
        _scale(out, _inverse_root(left.diagonal).astype(out.dtype), _inverse_root(right.diagonal).astype(out.dtype))

    def diagonal(self, features: WithDiagonal, state: State) -> Float64:
        lowest = 0.0 if self.kernel.logarithms is None else -np.inf
        return (features.diagonal > lowest).astype(np.float64)

    def single_precision(self, features: WithDiagonal, state: State) -> bool:
        return self.kernel.logarithms is not None or super().single_precision(features, state)


def normalise(kernel: Kernel) -> Normalised:
    """The kernel scaled to k(x, x) = 1: `Normalised`."""
    return Normalised(kernel)


def _cosine_of_logarithms(
    kernel: LogKernel, left: WithDiagonal, right: WithDiagonal, state: State, out: Floating
) -> None:
    values = np.empty(out.shape)
    kernel.log_tile(left.inner, right.inner, state, values)
    for side, shape in ((left, (-1, 1)), (right, (1, -1))):
        values -= 0.5 * np.where(np.isneginf(side.diagonal), 0.0, side.diagonal).reshape(shape)
    np.exp2(values, out=out, casting="same_kind")


def _inverse_root(diagonal: Float64) -> Float64:
    inverse = np.zeros_like(diagonal)
    positive = diagonal > 0
    inverse[positive] = 1.0 / np.sqrt(diagonal[positive])
    return inverse


@jit
def _scale(tile: Array, left: Array, right: Array) -> None:
    for i in range(tile.shape[0]):
        row = tile[i]
        factor = left[i]
        for j in range(row.shape[0]):
            row[j] = row[j] * factor * right[j]

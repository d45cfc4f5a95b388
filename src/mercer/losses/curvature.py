"""Roots of Hessians of losses, object by object: S_i with S_i S_i' = the Hessian of l(y_i, f_i) in f_i.

Newton's method multiplies by them in every step, so they are kept in the cheapest form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64

_ROUNDING = 1e-9
"""The fraction of the largest curvature that counts as zero: well above the rounding error of a difference."""


class CurvatureRoot(ABC):
    """S for every object. Vectors have one row per object and one column per output."""

    @abstractmethod
    def applied(self, v: Float64) -> Float64:
        """S v."""

    @abstractmethod
    def transposed(self, v: Float64) -> Float64:
        """S'v."""

    def hessian_times(self, v: Float64) -> Float64:
        """S S'v, the Hessian times v."""
        return self.applied(self.transposed(v))

    @abstractmethod
    def part(self, objects: slice) -> Self:
        """S of some of the objects."""

    @abstractmethod
    def times(self, factors: Float64) -> Self:
        """S with that of each object multiplied by a number."""

    @abstractmethod
    def diagonal(self) -> Float64:
        """The diagonals of S S', one row per object."""

    @abstractmethod
    def total(self) -> Float64:
        """The sum of S S' over all objects, a matrix over outputs."""

    def within(self, v: Float64) -> Float64:
        """v without a component that S maps to zero, if that is known; the result of S v is the same."""
        return v

    @final
    def of_differences(self) -> bool:
        """Whether only differences between outputs matter, so that there is no curvature along (1, ..., 1)."""
        diagonal = self.diagonal()
        size = np.sqrt(diagonal.max(initial=0.0))
        return bool(np.abs(self.transposed(np.ones_like(diagonal))).max(initial=0.0) <= _ROUNDING * size)


@final
@dataclass(frozen=True, eq=False)
class DiagonalRoot(CurvatureRoot):
    """S_i = diag(scale_i): outputs that do not interact, or a single one."""

    scale: Float64

    def applied(self, v: Float64) -> Float64:
        return self.scale * v

    def transposed(self, v: Float64) -> Float64:
        return self.scale * v

    def times(self, factors: Float64) -> Self:
        return type(self)(factors[:, None] * self.scale)

    def part(self, objects: slice) -> Self:
        return type(self)(self.scale[objects])

    def diagonal(self) -> Float64:
        return np.square(self.scale)

    def total(self) -> Float64:
        return np.diag(np.square(self.scale).sum(axis=0))


@final
@dataclass(frozen=True, eq=False)
class ProjectedRoot(CurvatureRoot):
    """S_i = diag(scale_i) (1 - q_i q_i') with |q_i| = 1: all outputs matter except one combination of them."""

    scale: Float64
    q: Float64

    def applied(self, v: Float64) -> Float64:
        return self.scale * self.within(v)

    def transposed(self, v: Float64) -> Float64:
        return self.within(self.scale * v)

    def times(self, factors: Float64) -> Self:
        return type(self)(factors[:, None] * self.scale, self.q)

    def part(self, objects: slice) -> Self:
        return type(self)(self.scale[objects], self.q[objects])

    def hessian_times(self, v: Float64) -> Float64:
        out = np.empty(v.shape)
        _scaled_projection(self.scale, self.q, v, out)  # projecting once is enough
        return out

    def diagonal(self) -> Float64:
        return np.square(self.scale) * np.maximum(1.0 - np.square(self.q), 0.0)

    def total(self) -> Float64:
        shared = self.scale * self.q
        return np.asarray(np.diag(np.square(self.scale).sum(axis=0)) - shared.T @ shared)

    def within(self, v: Float64) -> Float64:
        return np.asarray(v - self.q * np.einsum("ik,ik->i", self.q, v)[:, None])


@final
@dataclass(frozen=True, eq=False)
class MatrixRoot(CurvatureRoot):
    """Any S_i, as an array of shape (objects, outputs, outputs)."""

    blocks: Float64

    def applied(self, v: Float64) -> Float64:
        return np.asarray(np.matmul(self.blocks, v[:, :, None])[:, :, 0])

    def transposed(self, v: Float64) -> Float64:
        return np.asarray(np.matmul(v[:, None, :], self.blocks)[:, 0, :])

    def times(self, factors: Float64) -> Self:
        return type(self)(factors[:, None, None] * self.blocks)

    def part(self, objects: slice) -> Self:
        return type(self)(self.blocks[objects])

    def diagonal(self) -> Float64:
        return np.asarray(np.square(self.blocks).sum(axis=2))

    def total(self) -> Float64:
        return np.asarray(np.einsum("ikm,ilm->kl", self.blocks, self.blocks))


@jit
def _scaled_projection(scale: Array, q: Array, v: Array, out: Array) -> None:
    """diag(scale) (1 - q q') diag(scale) v, row by row."""
    for i in range(v.shape[0]):
        shared = 0.0
        for k in range(v.shape[1]):
            shared += q[i, k] * scale[i, k] * v[i, k]
        for k in range(v.shape[1]):
            out[i, k] = scale[i, k] * (scale[i, k] * v[i, k] - shared * q[i, k])

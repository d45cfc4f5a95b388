"""Diffusion kernels: similarity that spreads along the edges of one graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.kernels.graphs.nodes import NodeKernel, decomposed, similarity

PATH = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
"""Three nodes in a row."""


@final
@dataclass(frozen=True)
class ExponentialDiffusion(NodeKernel):
    """The exponential diffusion kernel, K = exp(decay B) = sum over j of decay^j B^j / j!.

    `graph` is a networkx graph or any symmetric matrix B of similarities; the objects compared are its nodes, by
    number. Positive definite for every B and `decay`.

    >>> from mercer import kernels
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> kernels.ExponentialDiffusion(path, decay=0.5).fit([0, 1, 2])([0], [0, 1, 2]).round(6)
    array([[1.130296, 0.542721, 0.130296]])
    """

    graph: Any
    decay: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", similarity("ExponentialDiffusion", self.graph))
        _check.real("ExponentialDiffusion", "decay", self.decay, low_open=True, high_open=True)

    @property
    def matrix(self) -> Float64:
        return np.asarray(self.graph)

    def spectrum(self, values: Float64) -> Float64:
        with np.errstate(over="ignore"):
            return np.exp(self.decay * values)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(PATH, decay=0.5)
        yield cls(PATH, decay=-1.0)


@final
@dataclass(frozen=True)
class VonNeumannDiffusion(NodeKernel):
    """The von Neumann diffusion kernel, K = (I - decay B)^-1 = sum over j of decay^j B^j.

    The series needs 0 <= decay < 1 / |B|, where |B| is the largest absolute eigenvalue of B; beyond the bound the
    inverse exists but is no kernel, so it is refused.

    >>> from mercer import kernels
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> kernels.VonNeumannDiffusion(path, decay=0.5).fit([0, 1, 2])([0, 1], [0, 1, 2])
    array([[1.5, 1. , 0.5],
           [1. , 2. , 1. ]])
    """

    graph: Any
    decay: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", similarity("VonNeumannDiffusion", self.graph))
        radius = float(np.abs(decomposed(self.matrix)[0]).max())
        _check.real("VonNeumannDiffusion", "decay", self.decay, low=0, high_open=True)
        if self.decay * radius >= 1.0:
            remedy = f"The largest absolute eigenvalue of the graph is {radius:.6g}."
            raise _check.fail("VonNeumannDiffusion", "decay", f"a float in [0, {1 / radius:.6g})", self.decay, remedy)

    @property
    def matrix(self) -> Float64:
        return np.asarray(self.graph)

    def spectrum(self, values: Float64) -> Float64:
        return 1.0 / (1.0 - self.decay * values)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(PATH, decay=0.5)

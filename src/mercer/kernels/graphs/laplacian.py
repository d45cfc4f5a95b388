"""Kernels made of the Laplacian L = D - A of one graph: smooth functions on its nodes have small norm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.kernels.graphs.diffusion import PATH
from mercer.kernels.graphs.nodes import NodeKernel, laplacian, similarity


@final
@dataclass(frozen=True)
class Heat(NodeKernel):
    """The heat kernel, K = exp(-time L): how much of the heat put on one node is on another after `time`.

    L = D - A is the Laplacian of `graph`, or D^-1/2 L D^-1/2 with `normalised` (Kondor and Lafferty 2002).

    >>> from mercer import kernels
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> kernels.Heat(path, time=1.0).fit([0, 1, 2])([0], [0, 1, 2]).round(6)
    array([[0.525571, 0.316738, 0.157691]])
    """

    graph: Any
    time: float = 1.0
    normalised: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", similarity("Heat", self.graph, weights=True))
        _check.real("Heat", "time", self.time, low=0, high_open=True)
        _check.boolean("Heat", "normalised", self.normalised)

    @property
    def matrix(self) -> Float64:
        return laplacian(self.graph, self.normalised)

    def spectrum(self, values: Float64) -> Float64:
        return np.exp(-self.time * values)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(PATH)
        yield cls(PATH, time=0.3, normalised=True)


@final
@dataclass(frozen=True)
class RegularisedLaplacian(NodeKernel):
    """The regularised Laplacian kernel, K = (I + strength L)^-1 (Smola and Kondor 2003).

    Its norm is |f|^2 + strength * sum over edges of (f_u - f_v)^2. L as in `Heat`.

    >>> from mercer import kernels
    >>> kernels.RegularisedLaplacian([[0, 1], [1, 0]], strength=1.0).fit([0, 1])([0], [0, 1]).round(6)
    array([[0.666667, 0.333333]])
    """

    graph: Any
    strength: float = 1.0
    normalised: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", similarity("RegularisedLaplacian", self.graph, weights=True))
        _check.real("RegularisedLaplacian", "strength", self.strength, low=0, high_open=True)
        _check.boolean("RegularisedLaplacian", "normalised", self.normalised)

    @property
    def matrix(self) -> Float64:
        return laplacian(self.graph, self.normalised)

    def spectrum(self, values: Float64) -> Float64:
        return 1.0 / (1.0 + self.strength * np.maximum(values, 0.0))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(PATH)
        yield cls(PATH, strength=2.5, normalised=True)


@final
@dataclass(frozen=True)
class CommuteTime(NodeKernel):
    """The commute time kernel, K = L+, the pseudo-inverse of the Laplacian (Fouss and others 2007).

    vol(G) (K_uu + K_vv - 2 K_uv) is the mean number of steps of a random walk from u to v and back, where vol(G) is the
    sum of all degrees and u and v are connected. It has no parameter; isolated nodes are 0 to all.

    >>> from mercer import kernels
    >>> kernels.CommuteTime([[0, 1], [1, 0]]).fit([0, 1])([0], [0, 1])
    array([[ 0.25, -0.25]])
    """

    graph: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "graph", similarity("CommuteTime", self.graph, weights=True))

    @property
    def matrix(self) -> Float64:
        return laplacian(self.graph, normalised=False)

    def spectrum(self, values: Float64) -> Float64:
        # Each connected component has one eigenvalue 0, known to rounding only.
        zero = values <= len(values) * np.finfo(np.float64).eps * max(float(values.max()), 1e-300)
        return np.where(zero, 0.0, 1.0 / np.where(zero, 1.0, values))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(PATH)

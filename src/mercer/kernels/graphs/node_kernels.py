"""Kernels between the nodes of one graph, by diffusion along its edges or by its Laplacian L = D - A."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._fields import boolean, real
from mercer._types import Float64
from mercer.kernels.graphs.nodes import NodeKernel, decomposed, laplacian

_PATH = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
"""Three nodes in a row, for examples."""


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
    decay: float = real(1.0, low_open=True, high_open=True)

    example_settings = ({"graph": _PATH, "decay": 0.5}, {"graph": _PATH, "decay": -1.0})

    def spectrum(self, values: Float64) -> Float64:
        with np.errstate(over="ignore"):
            return np.exp(self.decay * values)


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
    decay: float = real(0.1, low=0, high_open=True)

    example_settings = ({"graph": _PATH, "decay": 0.5},)

    def __post_init__(self) -> None:
        super().__post_init__()
        radius = float(np.abs(decomposed(self.matrix)[0]).max())
        if self.decay * radius >= 1.0:
            remedy = f"The largest absolute eigenvalue of the graph is {radius:.6g}."
            raise _check.fail("VonNeumannDiffusion", "decay", f"a float in [0, {1 / radius:.6g})", self.decay, remedy)

    def spectrum(self, values: Float64) -> Float64:
        return 1.0 / (1.0 - self.decay * values)


@dataclass(frozen=True)
class LaplacianKernel(NodeKernel):
    """A function of the Laplacian of a graph with weights, under which smooth functions on nodes have small norm."""

    needs_weights = True
    normalised = False

    @property
    def matrix(self) -> Float64:
        return laplacian(self.graph, self.normalised)


@final
@dataclass(frozen=True)
class Heat(LaplacianKernel):
    """The heat kernel, K = exp(-time L): how much of the heat put on one node is on another after `time`.

    L = D - A is the Laplacian of `graph`, or D^-1/2 L D^-1/2 with `normalised` (Kondor and Lafferty 2002).

    >>> from mercer import kernels
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> kernels.Heat(path, time=1.0).fit([0, 1, 2])([0], [0, 1, 2]).round(6)
    array([[0.525571, 0.316738, 0.157691]])
    """

    graph: Any
    time: float = real(1.0, low=0, high_open=True)
    normalised: bool = boolean()

    example_settings = ({"graph": _PATH}, {"graph": _PATH, "time": 0.3, "normalised": True})

    def spectrum(self, values: Float64) -> Float64:
        return np.exp(-self.time * values)


@final
@dataclass(frozen=True)
class RegularisedLaplacian(LaplacianKernel):
    """The regularised Laplacian kernel, K = (I + strength L)^-1 (Smola and Kondor 2003).

    Its norm is |f|^2 + strength * sum over edges of (f_u - f_v)^2. L as in `Heat`.

    >>> from mercer import kernels
    >>> kernels.RegularisedLaplacian([[0, 1], [1, 0]], strength=1.0).fit([0, 1])([0], [0, 1]).round(6)
    array([[0.666667, 0.333333]])
    """

    graph: Any
    strength: float = real(1.0, low=0, high_open=True)
    normalised: bool = boolean()

    example_settings = ({"graph": _PATH}, {"graph": _PATH, "strength": 2.5, "normalised": True})

    def spectrum(self, values: Float64) -> Float64:
        return 1.0 / (1.0 + self.strength * np.maximum(values, 0.0))


@final
@dataclass(frozen=True)
class CommuteTime(LaplacianKernel):
    """The commute time kernel, K = L+, the pseudo-inverse of the Laplacian (Fouss and others 2007).

    vol(G) (K_uu + K_vv - 2 K_uv) is the mean number of steps of a random walk from u to v and back, where vol(G) is the
    sum of all degrees and u and v are connected. It has no parameter; isolated nodes are 0 to all.

    >>> from mercer import kernels
    >>> kernels.CommuteTime([[0, 1], [1, 0]]).fit([0, 1])([0], [0, 1])
    array([[ 0.25, -0.25]])
    """

    graph: Any

    example_settings = ({"graph": _PATH},)

    def spectrum(self, values: Float64) -> Float64:
        # Each connected component has one eigenvalue 0, known to rounding only.
        zero = values <= len(values) * np.finfo(np.float64).eps * max(float(values.max()), 1e-300)
        return np.where(zero, 0.0, 1.0 / np.where(zero, 1.0, values))

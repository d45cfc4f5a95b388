"""Kernels between the nodes of one graph: functions of the eigenvalues of its adjacency matrix, or of its Laplacian."""

from __future__ import annotations

import functools
import threading
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import scipy.sparse as sp

from mercer import _check
from mercer._process import free_when_forking
from mercer._record import boolean, real
from mercer._types import Float64, Int64
from mercer.errors import InputError
from mercer.inputs.nodes import Nodes
from mercer.kernels.base import State
from mercer.kernels.features.embedding import Embedding

_lock = free_when_forking(threading.RLock())
_KEPT = 4
"""The number of cached eigendecompositions. A search over decays needs one; each takes the memory of its matrix."""
_PATH = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
"""Three nodes in a row, for examples."""


class NodeKernel(Embedding):
    """k(u, v) = (V f(w) V')_uv, where V w V' is a symmetric matrix of the graph and f depends on the kernel.

    The graph is part of the kernel, which has no values for other nodes. The eigendecomposition is cached, so another
    decay costs only one product.
    """

    graph: Any
    needs_weights: ClassVar[bool] = False
    """Whether entries of the graph are weights, which must not be negative."""
    domain = Nodes
    reason = "it is a function without negative values of the eigenvalues of a symmetric matrix"

    def __post_init__(self) -> None:
        super().__post_init__()
        graph = similarity(type(self).__name__, self.graph, weights=self.needs_weights)
        object.__setattr__(self, "graph", graph)

    @property
    def matrix(self) -> Float64:
        """The symmetric matrix that is decomposed."""
        return np.asarray(self.graph)

    @abstractmethod
    def spectrum(self, values: Float64) -> Float64:
        """f of all eigenvalues; never negative."""

    def resolve(self, objects: Nodes) -> State:
        self._numbers(objects)
        return State()

    def _numbers(self, objects: Nodes) -> Int64:
        size = len(self.graph)
        beyond = np.flatnonzero(objects.numbers >= size)
        if len(beyond):
            where = int(beyond[0])
            raise InputError(
                f"Item {where} is node {objects.numbers[where]}, but the graph of {type(self).__name__} has the nodes "
                f"0 to {size - 1}. Kernels on nodes say nothing about nodes that were not in the graph."
            )
        return objects.numbers

    def coordinates(self, objects: Nodes, state: State) -> Float64:
        values, vectors = decomposed(self.matrix)
        scales = self.spectrum(values)
        used = scales > 0
        return np.asarray(vectors[self._numbers(objects)][:, used] * np.sqrt(scales[used]))


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

    variants = ({"graph": _PATH, "decay": 0.5}, {"graph": _PATH, "decay": -1.0})

    def spectrum(self, values: Float64) -> Float64:
        with np.errstate(over="ignore"):
            return np.exp(self.decay * values)


@final
@dataclass(frozen=True)
class VonNeumannDiffusion(NodeKernel):
    """The von Neumann diffusion kernel, K = (I - decay B)^-1 = sum over j of decay^j B^j.

    The series needs 0 <= decay < 1 / |B|, where |B| is the largest absolute eigenvalue of B; beyond the bound the
    inverse exists but is not positive semi-definite, so such a decay is refused.

    >>> from mercer import kernels
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> kernels.VonNeumannDiffusion(path, decay=0.5).fit([0, 1, 2])([0, 1], [0, 1, 2])
    array([[1.5, 1. , 0.5],
           [1. , 2. , 1. ]])
    """

    graph: Any
    decay: float = real(0.1, low=0, high_open=True)

    variants = ({"graph": _PATH, "decay": 0.5},)

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
    """The heat kernel, K = exp(-time L): the fraction of heat that has moved from one node to another after `time`.

    L = D - A is the Laplacian of `graph`, or D^-1/2 L D^-1/2 with `normalised` (Kondor and Lafferty 2002).

    >>> from mercer import kernels
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> kernels.Heat(path, time=1.0).fit([0, 1, 2])([0], [0, 1, 2]).round(6)
    array([[0.525571, 0.316738, 0.157691]])
    """

    graph: Any
    time: float = real(1.0, low=0, high_open=True)
    normalised: bool = boolean()

    variants = ({"graph": _PATH}, {"graph": _PATH, "time": 0.3, "normalised": True})

    def spectrum(self, values: Float64) -> Float64:
        return np.exp(-self.time * values)


@final
@dataclass(frozen=True)
class RegularisedLaplacian(LaplacianKernel):
    """The regularised Laplacian kernel, K = (I + strength L)^-1 (Smola and Kondor 2003).

    Its norm is |f|^2 + strength * sum over edges of (f_u - f_v)^2. L as in `Heat`.

    `normalised` divides the Laplacian by the roots of the degrees of both ends of an edge.

    >>> from mercer import kernels
    >>> kernels.RegularisedLaplacian([[0, 1], [1, 0]], strength=1.0).fit([0, 1])([0], [0, 1]).round(6)
    array([[0.666667, 0.333333]])
    """

    graph: Any
    strength: float = real(1.0, low=0, high_open=True)
    normalised: bool = boolean()

    variants = ({"graph": _PATH}, {"graph": _PATH, "strength": 2.5, "normalised": True})

    def spectrum(self, values: Float64) -> Float64:
        return 1.0 / (1.0 + self.strength * np.maximum(values, 0.0))


@final
@dataclass(frozen=True)
class CommuteTime(LaplacianKernel):
    """The commute time kernel, K = L+, the pseudo-inverse of the Laplacian (Fouss and others 2007).

    vol(G) (K_uu + K_vv - 2 K_uv) is the mean number of steps of a random walk from u to v and back, where vol(G) is the
    sum of all degrees and u and v are connected. It has no parameter; isolated nodes have the value 0 with all nodes.

    >>> from mercer import kernels
    >>> kernels.CommuteTime([[0, 1], [1, 0]]).fit([0, 1])([0], [0, 1])
    array([[ 0.25, -0.25]])
    """

    graph: Any

    variants = ({"graph": _PATH},)

    def spectrum(self, values: Float64) -> Float64:
        # Each connected component has one eigenvalue that is 0 up to rounding.
        zero = values <= len(values) * np.finfo(np.float64).eps * max(float(values.max()), 1e-300)
        return np.where(zero, 0.0, 1.0 / np.where(zero, 1.0, values))


def similarity(owner: str, graph: Any, *, weights: bool = False) -> Float64:
    """The symmetric matrix of a networkx graph or a square matrix; with `weights`, refuses negative entries."""
    rule = "a symmetric matrix of finite numbers, or an undirected networkx graph"
    try:
        matrix = _weights(graph)
    except (TypeError, ValueError):  # words, or rows of unlike lengths
        raise _check.fail(owner, "graph", rule, graph) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix) or not np.isfinite(matrix).all():
        raise _check.fail(owner, "graph", rule, graph)
    if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=0.0):
        u, v = np.unravel_index(int(np.abs(matrix - matrix.T).argmax()), matrix.shape)
        remedy = f"Entries ({u}, {v}) and ({v}, {u}) are {matrix[u, v]:g} and {matrix[v, u]:g}."
        raise _check.fail(owner, "graph", rule, "an asymmetric matrix", remedy)
    if weights and (matrix < 0).any():
        u, v = np.unravel_index(int(matrix.argmin()), matrix.shape)
        raise _check.fail(owner, "graph", "a matrix without negative weights", f"{matrix[u, v]:g} at ({u}, {v})")
    matrix.flags.writeable = False
    return matrix


def _weights(graph: Any) -> Float64:
    """The weights of a networkx graph, or the entries of a matrix."""
    if not (hasattr(graph, "is_directed") and hasattr(graph, "adj")):
        given: Any = graph
        return np.array(given.toarray() if sp.issparse(graph) else given, dtype=np.float64)
    place = {node: number for number, node in enumerate(graph.nodes)}
    matrix = np.zeros((len(place), len(place)))
    for u, v, data in graph.edges(data=True):
        matrix[place[u], place[v]] += data.get("weight", 1.0)
        if u != v and not graph.is_directed():
            matrix[place[v], place[u]] += data.get("weight", 1.0)
    return matrix


def laplacian(matrix: Float64, normalised: bool) -> Float64:
    """D - A, or I - D^-1/2 A D^-1/2; loops cancel in the first, and isolated nodes have a row of zeros in both."""
    degrees = matrix.sum(axis=1)
    result = np.diag(degrees) - matrix
    if not normalised:
        return result
    roots = np.zeros_like(degrees)
    roots[degrees > 0] = 1.0 / np.sqrt(degrees[degrees > 0])
    return np.asarray(roots[:, None] * result * roots)


def decomposed(matrix: Float64) -> tuple[Float64, Float64]:
    """Eigenvalues and eigenvectors; those of the last few matrices are cached."""
    with _lock:  # threads that ask for the same matrix wait for one computation
        return _decomposed(matrix.tobytes(), len(matrix))


@functools.lru_cache(maxsize=_KEPT)
def _decomposed(content: bytes, size: int) -> tuple[Float64, Float64]:
    values, vectors = np.linalg.eigh(np.frombuffer(content).reshape(size, size))
    return values, vectors

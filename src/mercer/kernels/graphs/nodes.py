"""Kernels between the nodes of one graph: functions of the eigenvalues of its adjacency matrix or Laplacian."""

from __future__ import annotations

import functools
import threading
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from mercer import _check
from mercer._types import Float64, Int64
from mercer.errors import InputError
from mercer.inputs.nodes import Nodes
from mercer.kernels.base import State
from mercer.kernels.features.embedding import Embedding

_lock = threading.Lock()
_KEPT = 4
"""Eigendecompositions remembered. A search over decays needs one; each costs the memory of its matrix."""


class NodeKernel(Embedding):
    """k(u, v) = (V f(w) V')_uv, where V w V' is a symmetric matrix of the graph and f depends on the kernel.

    The graph is part of the kernel: there is no value for nodes that it does not have. The eigendecomposition is
    kept, so that another decay costs one product.
    """

    graph: Any
    needs_weights: ClassVar[bool] = False
    """Whether entries of the graph are weights, of which none may be negative."""
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
        """f, of all eigenvalues; never negative."""

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


def similarity(owner: str, graph: Any, *, weights: bool = False) -> Float64:
    """The symmetric matrix of a graph: a networkx graph, or a square matrix; with `weights`, none negative."""
    if hasattr(graph, "is_directed") and hasattr(graph, "adj"):
        place = {node: number for number, node in enumerate(graph.nodes)}
        matrix = np.zeros((len(place), len(place)))
        for u, v, data in graph.edges(data=True):
            matrix[place[u], place[v]] += data.get("weight", 1.0)
            if u != v and not graph.is_directed():
                matrix[place[v], place[u]] += data.get("weight", 1.0)
    else:
        given: Any = graph
        matrix = np.array(given.toarray() if sp.issparse(graph) else given, dtype=np.float64)
    rule = "a symmetric matrix of finite numbers, or an undirected networkx graph"
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
    """Eigenvalues and eigenvectors; the last few matrices are remembered by their content."""
    with _lock:  # two threads that ask at once wait for one computation
        return _decomposed(matrix.tobytes(), len(matrix))


@functools.lru_cache(maxsize=_KEPT)
def _decomposed(content: bytes, size: int) -> tuple[Float64, Float64]:
    values, vectors = np.linalg.eigh(np.frombuffer(content).reshape(size, size))
    return values, vectors

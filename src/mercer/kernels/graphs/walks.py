"""Sums over pairs of matching walks: by eigenvalues if all walks match, else on the product graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
from scipy.sparse.linalg import eigs, eigsh

from mercer._jit import Array, jit
from mercer._types import Float64, Floating, Index, Int64
from mercer.inputs.graphs import Graphs
from mercer.inputs.ragged import offsets_of, take_rows
from mercer.kernels.graphs.base import sparse_adjacency
from mercer.kernels.loops.pairs import longest_part

Series = tuple[float, bool, int]
"""The decay, whether terms are divided by j!, and the last j (-1: infinite)."""

_DENSE_NODES = 400
"""Up to this many nodes all eigenvalues are computed; beyond, Lanczos iterations are faster."""


@final
@dataclass(frozen=True, eq=False)
class Spectra:
    """The eigenvalues w_i of each adjacency matrix, with the squares of the sums of their eigenvectors a_i = (1'u_i)^2.

    The number of walks of j steps is sum_i a_i w_i^j, so sums over pairs of walks are sums over pairs of eigenvalues: k
    = sum_ij a_i a'_j f(w_i w'_j).
    """

    values: Float64
    weights: Float64
    offsets: Int64
    pairs_per_tile: ClassVar[float] = 5e8
    """Pairs of eigenvalues per tile, about a second of work: each is visited once."""

    @classmethod
    def of(cls, graphs: Graphs, *, uniform: bool) -> Self:
        values, weights = [], []
        for number, size in enumerate(graphs.sizes.tolist()):
            own, vectors = np.linalg.eigh(graphs.adjacency(number))
            mass = vectors.sum(axis=0) ** 2
            kept = mass > 1e-14 * size  # symmetric graphs have many eigenvectors that sum to zero
            values.append(own[kept])
            weights.append(mass[kept] / (size**2 if uniform else 1))
        empty = [np.zeros(0)]
        offsets = offsets_of([len(own) for own in values])
        return cls(np.concatenate(values or empty), np.concatenate(weights or empty), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: Index) -> Spectra:
        return Spectra(*take_rows(index, self.offsets, self.values, self.weights))

    @property
    def mean_size(self) -> float:
        """The mean number of eigenvalues per graph."""
        return _mean(self.offsets)

    def sums(self, others: Spectra, series: Series, out: Floating) -> None:
        """The sum over pairs of walks, for every pair of graphs."""
        arrays = [(side.values, side.weights, side.offsets) for side in (self, others)]
        _spectral_sums(arrays[0], arrays[1], series, out)

    def own_sums(self, series: Series) -> Float64:
        """The same, of each graph with itself."""
        out = np.zeros((len(self), 1))
        for number in range(len(self)):
            own = self.take(slice(number, number + 1))
            own.sums(own, series, out[number : number + 1])
        return out[:, 0]


@final
@dataclass(frozen=True, eq=False)
class WalkGraphs:
    """Graphs as the loops over product graphs need them."""

    graphs: Graphs
    scales: Float64
    pairs_per_tile: ClassVar[float] = 2e7
    """Pairs of arcs per tile, about a second of work: each is visited in every iteration."""

    @classmethod
    def of(cls, graphs: Graphs, *, edge_labels: bool, uniform: bool) -> Self:
        nodes, arcs = int(graphs.offsets[-1]), len(graphs.neighbours)
        unlabelled = graphs.edge_labels is None or not edge_labels
        parts: dict[str, Any] = {
            "labels": np.zeros(nodes, dtype=np.int64) if graphs.labels is None else graphs.labels,
            "edge_labels": np.zeros(arcs, dtype=np.int64) if unlabelled else graphs.edge_labels,
            "weights": np.ones(arcs) if graphs.weights is None else graphs.weights,
        }
        full = Graphs(graphs.offsets, graphs.bounds, graphs.neighbours, directed=graphs.directed, **parts)
        sizes = np.maximum(graphs.sizes, 1).astype(np.float64)
        return cls(full, 1.0 / sizes**2 if uniform else np.ones(len(graphs)))

    def __len__(self) -> int:
        return len(self.graphs)

    def take(self, index: Index) -> WalkGraphs:
        return WalkGraphs(self.graphs.take(index), self.scales[index])

    @property
    def mean_size(self) -> float:
        """The mean number of arcs and nodes per graph."""
        return _mean(self.graphs.arc_offsets) + _mean(self.graphs.offsets)

    def sums(self, others: WalkGraphs, series: Series, out: Floating) -> None:
        """The sum over pairs of matching walks, for every pair of graphs."""
        _product_sums(self._arrays(), others._arrays(), series, not self.graphs.directed, False, out)
        out *= (self.scales[:, None] * others.scales).astype(out.dtype)

    def own_sums(self, series: Series) -> Float64:
        """The same, of each graph with itself."""
        out = np.zeros((len(self), 1))
        _product_sums(self._arrays(), self._arrays(), series, not self.graphs.directed, True, out)
        return np.asarray(out[:, 0] * self.scales**2)

    def _arrays(self) -> tuple[Any, ...]:
        own = self.graphs
        return own.offsets, own.bounds, own.neighbours, own.labels, own.edge_labels, own.weights


Walks = Spectra | WalkGraphs


def spectral_radii(graphs: Graphs) -> Float64:
    """The largest absolute eigenvalue of each adjacency matrix."""
    radii = np.zeros(len(graphs))
    for number, size in enumerate(graphs.sizes.tolist()):
        start, end = graphs.arc_offsets[number : number + 2]
        if start == end:
            continue
        if size <= _DENSE_NODES:
            matrix = graphs.adjacency(number)
            values = np.linalg.eigvals(matrix) if graphs.directed else np.linalg.eigvalsh(matrix)
            radii[number] = np.abs(values).max()
            continue
        sparse = sparse_adjacency(graphs, number)
        begin = np.ones(size)  # not orthogonal to the leading eigenvector of a matrix without negative entries
        found = eigs(sparse, k=1, v0=begin, return_eigenvectors=False) if graphs.directed else eigsh(
            sparse, k=1, v0=begin, return_eigenvectors=False
        )  # fmt: skip
        radii[number] = np.abs(found).max()
    return radii


def _mean(offsets: Int64) -> float:
    return float(offsets[-1]) / max(1, len(offsets) - 1)


@jit
def _spectral_sums(left: Array, right: Array, series: Array, out: Array) -> None:
    values, weights, offsets = left
    other_values, other_weights, other_offsets = right
    decay, exponential, steps = series
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for p in range(offsets[i], offsets[i + 1]):
                value = decay * values[p]
                part = 0.0
                if steps >= 0:
                    for q in range(other_offsets[j], other_offsets[j + 1]):
                        # Horner's scheme for sum_j x^j, or sum_j x^j / j!
                        x = value * other_values[q]
                        terms = 1.0
                        for k in range(steps, 0, -1):
                            terms = 1.0 + (terms * x / k if exponential else terms * x)
                        part += other_weights[q] * terms
                elif exponential:
                    for q in range(other_offsets[j], other_offsets[j + 1]):
                        part += other_weights[q] * np.exp(value * other_values[q])
                else:
                    for q in range(other_offsets[j], other_offsets[j + 1]):
                        part += other_weights[q] / (1.0 - value * other_values[q])
                total += weights[p] * part
            out[i, j] = total


@jit
def _product_sums(left: Array, right: Array, series: Array, symmetric: bool, own: bool, out: Array) -> None:
    """1'f(A)1 on the direct product of each pair of graphs (with `own`, of each graph with itself)."""
    offsets, bounds, neighbours, labels, ties, weights = left
    other_offsets, other_bounds, other_neighbours, other_labels, other_ties, other_weights = right
    decay, exponential, steps = series
    room = longest_part(offsets) * longest_part(other_offsets)
    first = np.empty(room, dtype=np.int64)
    second = np.empty(room, dtype=np.int64)
    x = np.zeros(room)
    y = np.zeros(room)
    residual = np.zeros(room)
    solution = np.zeros(room)
    for i in range(offsets.shape[0] - 1):
        for column in range(out.shape[1]):
            j = i if own else column
            m = other_offsets[j + 1] - other_offsets[j]
            base, other_base = offsets[i], other_offsets[j]
            pairs = 0
            for u in range(offsets[i + 1] - base):
                for v in range(m):
                    place = u * m + v
                    x[place] = 0.0
                    y[place] = 0.0
                    if labels[base + u] == other_labels[other_base + v]:
                        first[pairs] = u
                        second[pairs] = v
                        x[place] = 1.0
                        pairs += 1
            # f(A)1 by conjugate gradients for (I - decay A)^-1 if A is symmetric, else term by term: all are positive.
            solve = symmetric and not exponential and steps < 0
            total = 0.0
            norm = float(pairs)
            for p in range(pairs):
                residual[p] = 1.0
                solution[p] = 0.0
            last = 1000000 if steps < 0 else steps
            coefficient = 1.0
            before = float(pairs)
            if not solve:
                total = float(pairs)
            for step in range(1, last + 1):
                if pairs == 0:
                    break
                mass = 0.0
                for p in range(pairs):
                    u, v = base + first[p], other_base + second[p]
                    value = 0.0
                    for a in range(bounds[u], bounds[u + 1]):
                        line = neighbours[a] * m
                        for b in range(other_bounds[v], other_bounds[v + 1]):
                            if ties[a] == other_ties[b]:
                                value += weights[a] * other_weights[b] * x[line + other_neighbours[b]]
                    y[first[p] * m + second[p]] = value
                    mass += value
                if not solve:
                    coefficient *= decay / step if exponential else decay
                    term = coefficient * mass
                    total += term
                    x, y = y, x
                    if term <= 1e-17 * total and term <= before:
                        break
                    before = term
                    continue
                inner = 0.0
                for p in range(pairs):
                    place = first[p] * m + second[p]
                    y[place] = x[place] - decay * y[place]
                    inner += x[place] * y[place]
                alpha = norm / inner
                fresh = 0.0
                for p in range(pairs):
                    place = first[p] * m + second[p]
                    solution[p] += alpha * x[place]
                    residual[p] -= alpha * y[place]
                    fresh += residual[p] * residual[p]
                if fresh <= 1e-28 * pairs:
                    break
                beta = fresh / norm
                norm = fresh
                for p in range(pairs):
                    place = first[p] * m + second[p]
                    x[place] = residual[p] + beta * x[place]
            if solve:
                for p in range(pairs):
                    total += solution[p]
            out[i, column] = total

"""Trees prepared for loops over pairs of their nodes.

Nodes come after their children, so the last child of node v is v - 1, and the one before a child c is c - size(c).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Float64, Floating, Index, Int32, Int64
from mercer.inputs.ragged import take_rows
from mercer.inputs.trees import Trees
from mercer.kernels.base import Kernel, State
from mercer.kernels.features.postings import numbered
from mercer.kernels.loops.mixing import mix, mixed
from mercer.kernels.loops.pairs import longest_part

NEVER = np.uint64(0)
"""The name of nodes that match no other."""


@final
@dataclass(frozen=True, eq=False)
class TreeNodes:
    """The codes by which nodes match (names, or after `align` numbers; -1 for none), and the positions of children."""

    codes: npt.NDArray[Any]
    sizes: Int32
    arities: Int32
    offsets: Int64
    n_codes: int = 0

    @classmethod
    def by_production(cls, trees: Trees, *, labelled: bool = True, leaves: bool = False) -> Self:
        """Nodes match if they have the same label and the same labels of children in order; without `labelled`, the
        same number of children. Leaves match nothing, or with `leaves` those of the same label."""
        sizes = subtree_sizes(trees.arities)
        labels = mixed(trees.labels)
        return cls(_productions(labels, trees.arities, sizes, labelled, leaves), sizes, trees.arities, trees.offsets)

    @classmethod
    def by_label(cls, trees: Trees) -> Self:
        """Nodes match if they have the same label."""
        return cls(mixed(trees.labels), subtree_sizes(trees.arities), trees.arities, trees.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, index: Index) -> TreeNodes:
        codes, sizes, arities, offsets = take_rows(index, self.offsets, self.codes, self.sizes, self.arities)
        return TreeNodes(codes, sizes, arities, offsets, self.n_codes)

    def arrays(self) -> tuple[Any, ...]:
        """The arrays that loops over pairs of trees read."""
        return self.codes, self.sizes, self.arities, self.offsets


class TreeKernel(Kernel):
    """A sum over pairs of nodes of two trees. Subclasses define `features` and `sums`."""

    domain = Trees

    nodes_per_tile: ClassVar[float] = 2e8
    """Pairs of nodes compared in a tile: about a second of work."""

    @abstractmethod
    def sums(self, left: TreeNodes, right: TreeNodes, own: bool, out: Floating) -> None:
        """out[i, j] = k of trees i and j; with `own`, out[i, 0] = k of tree i with itself."""

    def align(self, left: TreeNodes, right: TreeNodes, state: State) -> tuple[TreeNodes, TreeNodes]:
        codes, others, count = numbered(left.codes, right.codes, NEVER)  # as they occur on the right
        columns = replace(right, codes=others, n_codes=count)
        return (columns if left is right else replace(left, codes=codes, n_codes=count)), columns

    def tile(self, left: TreeNodes, right: TreeNodes, state: State, out: Floating) -> None:
        self.sums(left, right, False, out)

    def tile_entries(self, left: TreeNodes, right: TreeNodes, state: State) -> int:
        sizes = [max(1.0, float(side.offsets[-1]) / max(1, len(side))) for side in (left, right)]
        return max(1, int(self.nodes_per_tile / (sizes[0] * sizes[1])))

    def diagonal(self, features: TreeNodes, state: State) -> Float64:
        own, _ = self.align(features, features, state)
        out = np.empty((len(own), 1))
        self.sums(own, own, True, out)
        return out[:, 0]


@jit
def subtree_sizes(arities: Array) -> Any:
    """The number of nodes of the complete subtree under each node, itself included."""
    sizes = np.empty(arities.shape[0], dtype=np.int32)
    for v in range(arities.shape[0]):
        size = 1
        child = v - 1
        for _ in range(arities[v]):
            size += sizes[child]
            child -= sizes[child]
        sizes[v] = size
    return sizes


@jit
def _productions(labels: Array, arities: Array, sizes: Array, labelled: bool, leaves: bool) -> Any:
    names = np.zeros(labels.shape[0], dtype=np.uint64)
    for v in range(labels.shape[0]):
        if arities[v] == 0 and not leaves:
            continue
        name = np.uint64(arities[v])
        if labelled:
            name = mix(name + labels[v])
            child = v - 1
            for _ in range(arities[v]):
                name = mix(name + labels[child])
                child -= sizes[child]
        else:
            name = mix(name)
        names[v] = name
    return names


@jit
def workspace(offsets: Array, other_offsets: Array, n_codes: int) -> Any:
    """The arrays that loops over pairs of trees write to, large enough for any pair.

    The last node of the left tree with each code, and the one before it with the same code; a table of D(v, v'), zero
    where not written, and a list of the entries that are.
    """
    tall, wide = longest_part(offsets), longest_part(other_offsets)
    head = np.full(n_codes + 1, -1, dtype=np.int32)
    before = np.empty(tall, dtype=np.int32)
    return head, before, np.zeros(tall * wide), np.empty(tall * wide, dtype=np.int64)


@jit
def chain(codes: Array, head: Array, before: Array) -> None:
    """Link the nodes of one tree that have the same code, so that only they are visited."""
    for v in range(codes.shape[0]):
        code = codes[v]
        if code >= 0:
            before[v] = head[code]
            head[code] = v


@jit
def unchain(codes: Array, head: Array) -> None:
    """Remove the links."""
    for v in range(codes.shape[0]):
        if codes[v] >= 0:
            head[codes[v]] = -1

"""The co-rooted subtree kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from mercer import _check
from mercer._jit import Array, jit
from mercer._types import DType, Floating
from mercer.inputs.trees import Trees
from mercer.kernels.base import State
from mercer.kernels.loops.pairs import longest_part
from mercer.kernels.trees.nodes import TreeKernel, TreeNodes


@final
@dataclass(frozen=True)
class CoRootedSubtree(TreeKernel):
    """The co-rooted subtree kernel: the number of fragments that two trees share at their roots.

    A fragment contains the root and keeps, of each of its nodes, all children or none; the bare root is no fragment.
    With r(v, v') = 0 unless the productions of v and v' are the same (without `labelled`, unless they have the same
    number of children, not 0), else the product over children of 1 + r(c, c'), k is r of the two roots.

    >>> from mercer import kernels
    >>> small, large = (((), ()), ()), (((), ()), ((), ()))
    >>> kernels.CoRootedSubtree(labelled=False).fit([small])([large], [small, large])
    array([[2., 4.]])
    """

    labelled: bool = True

    def __post_init__(self) -> None:
        _check.boolean("CoRootedSubtree", "labelled", self.labelled)

    def features(self, objects: Trees, state: State, dtype: DType) -> TreeNodes:
        return TreeNodes.by_production(objects, labelled=self.labelled)

    def sums(self, left: TreeNodes, right: TreeNodes, own: bool, out: Floating) -> None:
        _root_sums(left.arrays(), right.arrays(), own, out)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls()
        yield cls(labelled=False)


@jit
def _root_sums(left_tree: Array, right_tree: Array, own: bool, out: Array) -> None:
    codes, sizes, arities, offsets = left_tree
    other_codes, other_sizes, _, other_offsets = right_tree
    tall = longest_part(offsets)
    left = np.empty(tall, dtype=np.int64)
    right = np.empty(tall, dtype=np.int64)
    value = np.zeros(tall)  # of a node of the left tree with the node of the right tree that it was paired with
    for i in range(offsets.shape[0] - 1):
        base = offsets[i]
        for column in range(out.shape[1]):
            j = i if own else column
            left[0] = offsets[i + 1] - 1
            right[0] = other_offsets[j + 1] - 1
            found = 1 if codes[left[0]] >= 0 and codes[left[0]] == other_codes[right[0]] else 0
            k = 0
            while k < found:  # downwards: children are paired in order
                c, d = left[k] - 1, right[k] - 1
                for _ in range(arities[left[k]]):
                    if codes[c] >= 0 and codes[c] == other_codes[d]:
                        left[found] = c
                        right[found] = d
                        found += 1
                    c -= sizes[c]
                    d -= other_sizes[d]
                k += 1
            total = 0.0
            for k in range(found - 1, -1, -1):  # upwards
                total = 1.0
                c = left[k] - 1
                for _ in range(arities[left[k]]):
                    total *= 1.0 + value[c - base]
                    c -= sizes[c]
                value[left[k] - base] = total
            for k in range(found):
                value[left[k] - base] = 0.0
            out[i, column] = total

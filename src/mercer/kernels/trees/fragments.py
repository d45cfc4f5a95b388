"""Kernels that count the fragments two trees share, where each node keeps all of its children or none."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._jit import Array, jit
from mercer._record import boolean, choice, real
from mercer._types import DType, Floating
from mercer.inputs.trees import Trees
from mercer.kernels.base import State
from mercer.kernels.loops.pairs import longest_part
from mercer.kernels.trees.nodes import TreeKernel, TreeNodes, chain, unchain, workspace


class FragmentKernel(TreeKernel):
    """k(T, T') = sum over pairs of matching nodes of D(v, v') = weight * product over children of (1 + D(c, c'))."""

    @property
    @abstractmethod
    def weight(self) -> float:
        """The factor of each node of a fragment that keeps its children."""

    def sums(self, left: TreeNodes, right: TreeNodes, own: bool, out: Floating) -> None:
        _fragment_sums(left.arrays(), right.arrays(), right.n_codes, self.weight, own, out)


@final
@dataclass(frozen=True)
class SubsetTree(FragmentKernel):
    """The subset tree kernel of Collins and Duffy: fragments that two trees share, composed of whole productions.

    k(T, T') = sum over pairs of nodes of D(v, v'); D is 0 if their productions (label, and labels of the children in
    order) differ, else ``decay`` times the product over children of 1 + D(c, c'). So a fragment of m productions has
    weight decay^m in k; a pair of leaves gives a factor of 1. With ``leaves="production"`` leaves are only part of
    their parent's production; with ``leaves="nodes"`` two leaves of the same label also count by themselves, with D =
    decay, as in the KeLP library.

    >>> from mercer import kernels
    >>> kernels.SubsetTree(decay=1.0).fit(["(NP (D the) (N dog))"])(["(NP (D the) (N dog))"], ["(NP (D a) (N dog))"])
    array([[3.]])
    """

    decay: float = real(0.4, low=0, high=1, low_open=True)
    leaves: str = choice("production", "nodes")

    variants = ({}, {"decay": 1.0}, {"leaves": "nodes"})

    @property
    def weight(self) -> float:
        return self.decay

    def features(self, objects: Trees, state: State, dtype: DType) -> TreeNodes:
        return TreeNodes.by_production(objects, leaves=self.leaves == "nodes")


@final
@dataclass(frozen=True)
class AllSubtree(FragmentKernel):
    """The all-subtree kernel: the number of pairs of equal fragments, rooted anywhere in the two trees.

    A fragment is connected and keeps all children or none of each of its nodes; a single node is not a fragment. With
    `labelled`, fragments are equal if their labels are, else if their shapes are. The same as ``SubsetTree(decay=1)``
    in the first case.

    >>> from mercer import kernels
    >>> small, large = (((), ()), ()), (((), ()), ((), ()))
    >>> kernels.AllSubtree(labelled=False).fit([small])([small], [small, large])
    array([[5., 7.]])
    """

    labelled: bool = boolean(True)

    weight = 1.0
    variants = (
        {},
        {"labelled": False},
    )

    def features(self, objects: Trees, state: State, dtype: DType) -> TreeNodes:
        return TreeNodes.by_production(objects, labelled=self.labelled)


@final
@dataclass(frozen=True)
class CoRootedSubtree(TreeKernel):
    """The co-rooted subtree kernel: the number of fragments that two trees share at their roots.

    A fragment contains the root and keeps all children or none of each of its nodes; the root alone is not a fragment.
    With r(v, v') = 0 unless the productions of v and v' are the same (without `labelled`, unless they have the same
    number of children, not 0), else the product over children of 1 + r(c, c'), k is r of the two roots.

    >>> from mercer import kernels
    >>> small, large = (((), ()), ()), (((), ()), ((), ()))
    >>> kernels.CoRootedSubtree(labelled=False).fit([small])([large], [small, large])
    array([[2., 4.]])
    """

    labelled: bool = boolean(True)

    variants = (
        {},
        {"labelled": False},
    )

    def features(self, objects: Trees, state: State, dtype: DType) -> TreeNodes:
        return TreeNodes.by_production(objects, labelled=self.labelled)

    def sums(self, left: TreeNodes, right: TreeNodes, own: bool, out: Floating) -> None:
        _root_sums(left.arrays(), right.arrays(), own, out)


@jit
def _fragment_sums(left_tree: Array, right_tree: Array, n_codes: int, weight: float, own: bool, out: Array) -> None:
    """For every pair of trees (with `own`, each with itself); only nodes of equal code are visited."""
    codes, sizes, arities, offsets = left_tree
    other_codes, other_sizes, _, other_offsets = right_tree
    head, before, table, written = workspace(offsets, other_offsets, n_codes)
    for i in range(offsets.shape[0] - 1):
        base = offsets[i]
        n = offsets[i + 1] - base
        chain(codes[base : base + n], head, before)
        for column in range(out.shape[1]):
            j = i if own else column
            other = other_offsets[j]
            total = 0.0
            used = 0
            for w in range(other_offsets[j + 1] - other):
                code = other_codes[other + w]
                node: Array = np.int64(head[code]) if code >= 0 else np.int64(-1)
                while node >= 0:
                    value = weight
                    c, d = node - 1, w - 1
                    for _ in range(arities[base + node]):
                        value *= 1.0 + table[d * n + c]
                        c -= sizes[base + c]
                        d -= other_sizes[other + d]
                    total += value
                    if arities[base + node] > 0:  # a leaf is not a factor of its parent
                        table[w * n + node] = value
                        written[used] = w * n + node
                        used += 1
                    node = np.int64(before[node])
            for k in range(used):
                table[written[k]] = 0.0
            out[i, column] = total
        unchain(codes[base : base + n], head)


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

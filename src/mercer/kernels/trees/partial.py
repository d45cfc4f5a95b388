"""The partial tree kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._jit import Array, jit
from mercer._record import real
from mercer._types import DType, Floating
from mercer.inputs.trees import Trees
from mercer.kernels.base import State
from mercer.kernels.trees.nodes import TreeKernel, TreeNodes, chain, unchain, workspace


@final
@dataclass(frozen=True)
class PartialTree(TreeKernel):
    """The partial tree kernel of Moschitti: fragments in which a node may keep any of its children.

    k(T, T') = sum over pairs of nodes of D(v, v'); D is 0 if their labels differ, else
    ``depth_decay * (decay^2 + sum over I, J of decay^(len(I) + len(J)) * product over r of D(c_Ir, c'_Jr))``, where I
    and J are equally long sequences of children of v and v', and len is their span, gaps included. So `decay` penalises
    gaps among siblings, and `depth_decay` depth. Single nodes count.

    >>> from mercer import kernels
    >>> small, large = "(NP (D a) (N dog))", "(NP (D a) (J big) (N dog))"
    >>> kernels.PartialTree(decay=1.0, depth_decay=1.0).fit([small])([small], [large])
    array([[15.]])
    """

    decay: float = real(0.4, low=0, high=1, low_open=True)
    depth_decay: float = real(0.4, low=0, high=1, low_open=True)

    nodes_per_tile = 3e7
    variants = (
        {},
        {"decay": 0.8, "depth_decay": 0.3},
    )

    def features(self, objects: Trees, state: State, dtype: DType) -> TreeNodes:
        return TreeNodes.by_label(objects)

    def sums(self, left: TreeNodes, right: TreeNodes, own: bool, out: Floating) -> None:
        _partial_sums(left.arrays(), right.arrays(), right.n_codes, self.decay, self.depth_decay, own, out)


@jit
def _partial_sums(
    left_tree: Array, right_tree: Array, n_codes: int, decay: float, depth_decay: float, own: bool, out: Array
) -> None:
    codes, sizes, arities, offsets = left_tree
    other_codes, other_sizes, other_arities, other_offsets = right_tree
    head, before, table, written = workspace(offsets, other_offsets, n_codes)
    kids = other_kids = 1
    for v in range(arities.shape[0]):
        kids = max(kids, arities[v])
    for w in range(other_arities.shape[0]):
        other_kids = max(other_kids, other_arities[w])
    left = np.empty(kids, dtype=np.int64)
    right = np.empty(other_kids, dtype=np.int64)
    match = np.empty(kids * other_kids)
    spread = np.empty((kids + 1) * (other_kids + 1))
    square = decay * decay
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
                b = np.int64(other_arities[other + w])
                d = w - 1
                if node >= 0:
                    for k in range(b - 1, -1, -1):
                        right[k] = d
                        d -= other_sizes[other + d]
                while node >= 0:
                    a = np.int64(arities[base + node])
                    c = node - 1
                    for k in range(a - 1, -1, -1):
                        left[k] = c
                        c -= sizes[base + c]
                    value = square
                    shared = 0.0
                    for p in range(a):
                        for q in range(b):
                            match[p * b + q] = square * table[right[q] * n + left[p]]
                            shared += match[p * b + q]
                    # Pairs of child sequences of length 1, 2, ... that end at (p, q): `spread` sums all ends up to
                    # (p, q), each decayed by its distance; there are only additions, so nothing cancels.
                    value += shared
                    if shared > 0.0:
                        for p in range(a + 1):
                            for q in range(b + 1):
                                spread[p * (b + 1) + q] = 0.0
                        for p in range(a):
                            row = 0.0
                            for q in range(b):
                                row = match[p * b + q] + decay * row
                                spread[(p + 1) * (b + 1) + q + 1] = row + decay * spread[p * (b + 1) + q + 1]
                        for _ in range(1, min(a, b)):
                            # Downwards and from the right, so old sums are read before they are replaced.
                            shared = 0.0
                            for p in range(a - 1, -1, -1):
                                for q in range(b - 1, -1, -1):
                                    end = match[p * b + q] * spread[p * (b + 1) + q]
                                    spread[(p + 1) * (b + 1) + q + 1] = end
                                    shared += end
                            if shared == 0.0:
                                break
                            value += shared
                            for p in range(a):
                                row = 0.0
                                for q in range(b):
                                    place = (p + 1) * (b + 1) + q + 1
                                    row = spread[place] + decay * row
                                    spread[place] = row + decay * spread[place - b - 1]
                    value *= depth_decay
                    table[w * n + node] = value
                    written[used] = w * n + node
                    used += 1
                    total += value
                    node = np.int64(before[node])
            for k in range(used):
                table[written[k]] = 0.0
            out[i, column] = total
        unchain(codes[base : base + n], head)

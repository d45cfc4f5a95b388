"""The kernel of complete subtrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._jit import Array, jit
from mercer._record import choice, real
from mercer._types import DType
from mercer.inputs.hashing import text_of_label
from mercer.inputs.trees import Trees
from mercer.kernels.base import State
from mercer.kernels.features.counting import Counting
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.occurrences import Spelling
from mercer.kernels.features.postings import added_up
from mercer.kernels.loops.mixing import mix, mixed
from mercer.kernels.trees.nodes import subtree_sizes


@final
@dataclass(frozen=True)
class Subtree(Counting):
    """The subtree kernel: pairs of equal complete subtrees (a node with all its descendants).

    k(T, T') = sum over complete subtrees t of decay^m count_t(T) count_t(T'), where m is the number of productions of
    t. Single leaves are subtrees only with ``leaves="nodes"``, with m = 1; not with ``leaves="production"``.

    >>> from mercer import kernels
    >>> kernels.Subtree(decay=1.0).fit(["(NP (D the) (N dog))"])(["(NP (D the) (N dog))"], ["(NP (D a) (N dog))"])
    array([[1.]])
    """

    decay: float = real(0.4, low=0, high=1, low_open=True)
    leaves: str = choice("production", "nodes")

    domain = Trees
    variants = ({}, {"decay": 1.0}, {"leaves": "nodes"})

    def counts(self, objects: Trees, state: State, dtype: DType) -> CountFeatures:
        names, productions = self._named(objects)
        kept = np.flatnonzero(productions)
        rows = np.repeat(np.arange(len(objects)), objects.sizes)[kept]
        return added_up(rows, names[kept], self.decay ** (0.5 * productions[kept]), len(objects), dtype)

    def spelling(self, objects: Trees, state: State) -> Iterator[Spelling]:
        for number in range(len(objects)):
            one = objects.take(slice(number, number + 1))
            yield self._named(one)[0], bracketed(one)

    def _named(self, trees: Trees) -> tuple[Any, Any]:
        """The name of the complete subtree under each node, and how many productions it has."""
        sizes = subtree_sizes(trees.arities)
        found: tuple[Any, Any] = _complete(mixed(trees.labels), trees.arities, sizes, self.leaves == "nodes")
        return found


def bracketed(tree: Trees) -> Callable[[int], str]:
    """A function that writes the complete subtree under a node of a single tree in brackets, without recursion."""
    arities, labels, sizes = tree.arities.tolist(), tree.labels.tolist(), subtree_sizes(tree.arities)

    def spell(node: int) -> str:
        pile: list[str] = []
        for v in range(node - int(sizes[node]) + 1, node + 1):
            children = [pile.pop() for _ in range(arities[v])][::-1]
            label = text_of_label(labels[v])
            pile.append(f"({' '.join([label, *children])})" if children else label)
        return pile[0]

    return spell


@jit
def _complete(labels: Array, arities: Array, sizes: Array, leaves: bool) -> Any:
    """The name of the complete subtree under each node, and how many productions it has (a leaf 1, with `leaves`)."""
    names = np.empty(labels.shape[0], dtype=np.uint64)
    productions = np.zeros(labels.shape[0], dtype=np.int64)
    for v in range(labels.shape[0]):
        name = mix(labels[v] + np.uint64(arities[v]))
        count = 1 if arities[v] > 0 or leaves else 0
        child = v - 1
        for _ in range(arities[v]):
            name = mix(name + names[child])
            if arities[child] > 0:
                count += productions[child]
            child -= sizes[child]
        names[v] = name
        productions[v] = count
    return names, productions

"""Small labelled graphs, like molecules, in two classes that differ only in shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer import _check

ATOMS = ("C", "N", "O")
_RING = 6  # nodes, as in benzene
_SMALLEST, _LARGEST = 5, 12  # nodes of the tree: like small molecules, and walks on them stay fast


def make_graphs(n: int = 200, *, noise: float = 0.1, random_state: int = 0) -> tuple[list[Any], npt.NDArray[np.str_]]:
    """`n` graphs with labelled nodes, half of them "ring" and half "chain", in random order.

    Each is a random tree of 5 to 12 nodes labelled C, N or O, to which a ring of six C is tied, or a chain of six C
    whose ends meet other nodes of the tree: nodes, edges, labels and the number of cycles are alike, only the length of
    the cycle differs. A fraction `noise` of the labels is then redrawn.

    >>> from mercer.datasets import make_graphs
    >>> graphs, labels = make_graphs(4, random_state=1)
    >>> sorted(graphs[0]), sorted(str(label) for label in labels)
    (['edges', 'labels'], ['chain', 'chain', 'ring', 'ring'])
    """
    _check.integer("make_graphs", "n", n, low=2)
    _check.real("make_graphs", "noise", noise, low=0, high=1)
    _check.integer("make_graphs", "random_state", random_state, low=0)
    random = np.random.default_rng(random_state)
    labels = random.permutation(np.array([("chain", "ring")[number % 2] for number in range(n)]))
    return [_graph(random, str(label) == "ring", noise) for label in labels], labels


def _graph(random: np.random.Generator, ring: bool, noise: float) -> dict[str, Any]:
    size = int(random.integers(_SMALLEST, _LARGEST + 1))
    names = [str(name) for name in random.choice(ATOMS, size=size, p=(0.7, 0.15, 0.15))] + ["C"] * _RING
    edges = [(int(random.integers(node)), node) for node in range(1, size)]
    edges += [(size + step, size + step + 1) for step in range(_RING - 1)]
    # The last edge closes the ring, or ties the other end of the chain to the tree.
    edges.append((0, size))
    edges.append((size, size + _RING - 1) if ring else (int(random.integers(1, size)), size + _RING - 1))
    for node in np.flatnonzero(random.random(len(names)) < noise):
        names[int(node)] = str(random.choice(ATOMS))
    return {"edges": edges, "labels": names}

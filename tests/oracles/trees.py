"""Slow and obvious twins of the kernels on trees, by writing out every fragment. A tree is (label, [children])."""

import itertools
from collections import Counter
from typing import Any


def nodes(tree: Any) -> list[Any]:
    return [tree, *(node for child in tree[1] for node in nodes(child))]


def unlabelled(tree: Any) -> Any:
    return ("", [unlabelled(child) for child in tree[1]])


def whole_fragments(tree: Any) -> list[Any]:
    """Fragments rooted here in which each node keeps all children or none, as nested tuples; the bare root is none."""
    label, children = tree
    if not children:
        return []
    # A child that keeps no children is written as its label alone, whether or not it has any.
    options = [[child[0], *whole_fragments(child)] for child in children]
    return [(label, *choice) for choice in itertools.product(*options)]


def productions(fragment: Any) -> int:
    return 1 + sum(productions(child) for child in fragment[1:] if isinstance(child, tuple))


def co_rooted(a: Any, b: Any) -> int:
    return len(Counter(whole_fragments(a)) & Counter(whole_fragments(b)))


def subset_tree(a: Any, b: Any, decay: float) -> float:
    left = Counter(fragment for node in nodes(a) for fragment in whole_fragments(node))
    right = Counter(fragment for node in nodes(b) for fragment in whole_fragments(node))
    return sum(count * right[fragment] * decay ** productions(fragment) for fragment, count in left.items())


def complete(tree: Any) -> Any:
    return (tree[0], *(complete(child) for child in tree[1]))


def subtree(a: Any, b: Any, decay: float) -> float:
    left, right = (Counter(complete(node) for node in nodes(tree) if node[1]) for tree in (a, b))

    def inner(fragment: Any) -> int:
        return (1 if len(fragment) > 1 else 0) + sum(inner(child) for child in fragment[1:])

    return sum(count * right[fragment] * decay ** inner(fragment) for fragment, count in left.items())


def partial_fragments(tree: Any, decay: float, depth_decay: float) -> Counter[Any]:
    """Each fragment rooted here with its weight: sqrt(depth_decay) per node, decay per position of spread."""
    label, children = tree
    found: Counter[Any] = Counter()
    root = depth_decay**0.5
    found[(label,)] += root * decay
    below = [partial_fragments(child, decay, depth_decay) for child in children]
    for size in range(1, len(children) + 1):
        for chosen in itertools.combinations(range(len(children)), size):
            spread = chosen[-1] - chosen[0] + 1
            for parts in itertools.product(*(below[k].items() for k in chosen)):
                weight = root * decay**spread
                for _, own in parts:
                    weight *= own
                found[(label, *(part for part, _ in parts))] += weight
    return found


def partial_tree(a: Any, b: Any, decay: float, depth_decay: float) -> float:
    left: Counter[Any] = Counter()
    right: Counter[Any] = Counter()
    for total, tree in ((left, a), (right, b)):
        for node in nodes(tree):
            for fragment, weight in partial_fragments(node, decay, depth_decay).items():
                total[fragment] += weight
    return sum(weight * right[fragment] for fragment, weight in left.items())

"""Ordered labelled trees, with all nodes of a data set in one block of arrays; parsed without recursion."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from mercer._types import Int32, Int64
from mercer.errors import InputError
from mercer.inputs.base import Arrays, bad_item, listed, misfit, not_a_list, shown, stored
from mercer.inputs.hashing import label_code
from mercer.inputs.ragged import RaggedObjects, fit_together, offsets_of

_ACCEPTED = (
    "A tree is bracketed text such as '(NP (D the) (N dog))', a nested tuple ('NP', ('D', 'the'), ('N', 'dog')), or an "
    "object with label() and children."
)
_TOKEN = re.compile(r"[()]|[^\s()]+")

Parsed = tuple[list[Any], list[int]]
"""Labels and arities of one tree, each node after its children."""


@dataclass(eq=False, repr=False)
class Trees(RaggedObjects):
    """A batch of rooted trees whose children are in order; every node has a label.

    An item of the list may be bracketed text, ``"(S (NP (D the) (N dog)) (VP barks))"``; nested tuples, ``("NP", ("D",
    "the"), ("N", "dog"))``, where the children may also be one list, ``("NP", [...])``; or an object like nltk's Tree,
    with a method ``label()`` and children to iterate over. A string inside a tuple is a leaf. Labels are strings or
    whole numbers; if a bracket or tuple has none, as in ``((), ())``, the label is the empty string. A tree has at
    least a root. Depth is not limited.

    >>> from mercer.inputs.trees import Trees
    >>> trees = Trees.coerce(["(NP (D the) (N dog))", ("NP", ("D", "a"), "dog")])
    >>> trees.arities.tolist(), trees.offsets.tolist()
    ([0, 1, 0, 1, 2, 0, 1, 0, 2], [0, 5, 9])
    """

    kind: ClassVar[str] = "trees"

    offsets: Int64
    """The nodes of tree i are ``offsets[i]:offsets[i + 1]``, each after its children; the root comes last."""
    labels: Int64
    """Whole numbers are themselves, strings a hash of their content."""
    arities: Int32
    """How many children each node has. With the order of the nodes, this is the whole tree."""

    @classmethod
    def parse(cls, raw: Any) -> Self:
        trees = [_tree(item, number) for number, item in enumerate(_items(raw))]
        codes: dict[Any, int] = {}
        for number, (labels, _) in enumerate(trees):
            for label in labels:
                if label not in codes:
                    codes[label] = _code(label, number)
        found = np.array([codes[label] for labels, _ in trees for label in labels], dtype=np.int64)
        arities = np.array([arity for _, own in trees for arity in own], dtype=np.int32)
        return cls(offsets_of(len(labels) for labels, _ in trees), found, arities)

    sizes = RaggedObjects.lengths

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        offsets, labels, arities = stored(arrays, cls.kind, "offsets", "labels", "arities")
        if not (labels.dtype.kind == arities.dtype.kind == "i" and fit_together(offsets, labels, arities)):
            raise misfit(cls.kind, "offsets, labels and arities disagree")
        # Reading a tree uses a stack: each node pops its children and pushes itself.
        pile = np.concatenate([[0], np.cumsum(1 - arities.astype(np.int64))])
        height = pile[1:] - np.repeat(pile[offsets[:-1]], np.diff(offsets))
        whole = bool((np.diff(offsets) > 0).all()) and bool((height[offsets[1:] - 1] == 1).all())
        if not whole or (arities < 0).any() or (height < 1).any():
            raise misfit(cls.kind, "their arities do not make trees")
        return cls(offsets.astype(np.int64), labels.astype(np.int64), arities.astype(np.int32))


def _items(raw: Any) -> list[Any]:
    if isinstance(raw, tuple) or _is_tree(raw):
        raise not_a_list("trees", raw)
    return listed(raw, "trees")


def _is_tree(item: Any) -> bool:
    return callable(getattr(item, "label", None)) and hasattr(item, "__iter__")


def _tree(item: Any, number: int) -> Parsed:
    if isinstance(item, str):
        return _from_text(item, number)
    if isinstance(item, tuple) or _is_tree(item):
        return _from_nesting(item, number)
    raise bad_item("trees", number, item, _ACCEPTED)


def _from_text(text: str, number: int) -> Parsed:
    labels: list[Any] = []
    arities: list[int] = []
    pending: list[list[Any]] = []  # of each open bracket: label, children so far, position
    for token in _TOKEN.finditer(text):
        word, where = token.group(), token.start()
        if labels and not pending:
            raise _bad_text(text, number, where, f"{shown(word)} follows after the tree has ended")
        if word == "(":
            if pending:
                pending[-1][1] += 1
            pending.append([None, 0, where])
        elif not pending:
            found = "')' closes no bracket" if word == ")" else f"a tree starts with '(', not {shown(word)}"
            raise _bad_text(text, number, where, found)
        elif word == ")":
            label, arity, _ = pending.pop()
            labels.append("" if label is None else label)
            arities.append(arity)
        elif pending[-1][0] is None and pending[-1][1] == 0:
            pending[-1][0] = word
        else:
            pending[-1][1] += 1
            labels.append(word)
            arities.append(0)
    if pending:
        raise _bad_text(text, number, pending[-1][2], "this '(' is never closed")
    if not labels:
        raise InputError(f"Tree {number} is empty text; a tree has at least a root, '(label)'.")
    return labels, arities


def _bad_text(text: str, number: int, where: int, problem: str) -> InputError:
    near = text[max(0, where - 15) : where + 15]
    return InputError(f"Tree {number}, character {where}: {problem}, near {near!r}. Check that the brackets balance.")


def _from_nesting(root: Any, number: int) -> Parsed:
    labels: list[Any] = []
    arities: list[int] = []
    pending = [(root, -1)]  # the arity is known, and not -1, once the children are on the stack
    while pending:
        node, arity = pending.pop()
        label, children = _opened(node, number)
        if arity < 0 and children:
            pending.append((node, len(children)))
            pending.extend((child, -1) for child in reversed(children))
        else:
            labels.append(label)
            arities.append(len(children))
    return labels, arities


def _opened(node: Any, number: int) -> tuple[Any, list[Any]]:
    """The label and the children of one node."""
    if isinstance(node, str | int | np.integer):
        return node, []
    if _is_tree(node):
        return node.label(), list(node)
    if isinstance(node, tuple):
        if not node:
            return "", []
        if isinstance(node[0], str | int | np.integer):
            rest = list(node[1:])
            return node[0], list(rest[0]) if len(rest) == 1 and isinstance(rest[0], list) else rest
        if all(isinstance(child, tuple) for child in node):
            return "", list(node)
    raise InputError(
        f"Tree {number}: {shown(node)} of type {type(node).__name__} is not a node. A node is a label, or a tuple "
        "(label, child, child, ...)."
    )


def _code(label: Any, number: int) -> int:
    try:
        if not isinstance(label, tuple):
            return label_code(label)
    except (TypeError, OverflowError):
        pass
    raise InputError(f"Tree {number} has the label {shown(label)}; labels are strings or whole numbers of 64 bits.")

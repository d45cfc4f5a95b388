"""From bracketed text, nested tuples and tree objects to the arrays of `Trees`, without recursion."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mercer._types import Int32, Int64
from mercer.errors import InputError
from mercer.inputs.hashing import label_code
from mercer.inputs.listing import bad_item, listed, not_a_list, shown
from mercer.inputs.ragged import offsets_of

_ACCEPTED = (
    "A tree is bracketed text such as '(NP (D the) (N dog))', a nested tuple ('NP', ('D', 'the'), ('N', 'dog')), or an "
    "object with label() and children."
)
_TOKEN = re.compile(r"[()]|[^\s()]+")

Parsed = tuple[list[Any], list[int]]
"""Labels and arities of one tree, each node after its children."""


def parsed(raw: Any) -> tuple[Int64, Int64, Int32]:
    """Offsets, labels and arities of a list of trees."""
    trees = [_tree(item, number) for number, item in enumerate(_items(raw))]
    codes: dict[Any, int] = {}
    labels = np.empty(sum(len(own) for own, _ in trees), dtype=np.int64)
    place = 0
    for number, (own, _) in enumerate(trees):
        for label in own:
            if label not in codes:
                codes[label] = _code(label, number)
            labels[place] = codes[label]
            place += 1
    arities = np.fromiter((arity for _, own in trees for arity in own), dtype=np.int32, count=len(labels))
    return offsets_of([len(own) for own, _ in trees]), labels, arities


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
    pending = [(root, -1)]  # the arity is known, and not -1, once the children are on the pile
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
        f"Tree {number}: {shown(node)} of type {type(node).__name__} is no node. A node is a label, or a tuple "
        "(label, child, child, ...)."
    )


def _code(label: Any, number: int) -> int:
    try:
        if not isinstance(label, tuple):
            return label_code(label)
    except (TypeError, OverflowError):
        pass
    raise InputError(f"Tree {number} has the label {shown(label)}; labels are strings or whole numbers of 64 bits.")

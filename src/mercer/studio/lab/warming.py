"""Compile what the lab's examples need, one kind of objects at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mercer.errors import MercerError
from mercer.studio import fields
from mercer.studio.lab.pair import pair
from mercer.studio.lab.question import is_kernel

PAIRS = (
    ("strings", "spectrum(p=3)", "GATTACA", "CATTAG"),
    ("strings", "gap_weighted(p=2)", "GATTACA", "CATTAG"),
    ("documents", "vector_space", "the old sea", "the sea"),
    ("trees", "subset_tree", "(S (N a) (V b))", "(S (N a) (V c))"),
    ("graphs", "wl(h=2)", "0-1 1-2; C C O", "0-1; C O"),
    ("molecules", "wl(h=2)", "CCO", "CO"),
    ("series", "global_alignment", "0 1 0", "0 1 1"),
    ("sets", "multiset_dot", "a b", "b c"),
    ("rows", "on('a', rbf(gamma=1)) + on('b', categorical)", "a=1, b=x", "a=2, b=x"),
)


def warm_lab(told: Mapping[str, Any]) -> bool:
    """Answer one more question of each kind; whether there is a further step."""
    step = fields.whole(told, "step", 0, low=0, high=100)
    if step < len(PAIRS):
        kind, kernel, x, z = PAIRS[step]
        try:
            pair({"kind": kind, "kernel": kernel, "x": x, "z": z})
        except MercerError:
            return True  # molecules without RDKit
    elif step == len(PAIRS):
        is_kernel({"formula": "sigmoid(gamma=1)"})
    return step < len(PAIRS)

"""Compile what comes after the first picture, one question at a time: other pictures, then the lab's examples."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from mercer.errors import MercerError
from mercer.studio import fields
from mercer.studio.lab.pair import pair
from mercer.studio.lab.question import is_kernel
from mercer.studio.playground.warming import FURTHER

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


STEPS: tuple[tuple[Callable[[Mapping[str, Any]], Any], dict[str, Any]], ...] = (
    *FURTHER,
    *((pair, {"kind": kind, "kernel": kernel, "x": x, "z": z}) for kind, kernel, x, z in PAIRS),
    (is_kernel, {"formula": "sigmoid(gamma=1)"}),
)


def warm_lab(told: Mapping[str, Any]) -> bool:
    """Answer one more question, first of the playground and then of the lab; returns whether there is another step."""
    step = fields.whole(told, "step", 0, low=0, high=100)
    if step < len(STEPS):
        question, asked = STEPS[step]
        with contextlib.suppress(MercerError):  # molecules without RDKit
            question(asked)
    return step + 1 < len(STEPS)

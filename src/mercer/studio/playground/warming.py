"""Compile what the playground needs before anybody waits for it, starting with its first picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mercer.studio.playground.picture import picture
from mercer.studio.playground.traces import ALGORITHMS, trace

_POINTS = [[-1.0, -1.0, 0], [1.0, 1.0, 0], [-1.0, 1.0, 1], [1.0, -1.0, 1]]
FURTHER: tuple[tuple[Callable[[Mapping[str, Any]], Any], dict[str, Any]], ...] = (
    (picture, {"points": _POINTS, "kernel": "rbf(gamma=1)"}),
    (picture, {"points": _POINTS, "kernel": "linear"}),
    (picture, {"points": _POINTS, "kernel": "linear", "C": "inf"}),
    (picture, {"points": _POINTS, "task": "regression"}),
    (picture, {"points": _POINTS, "task": "novelty"}),
    *((trace, {"points": _POINTS, "algorithm": algorithm}) for algorithm in ALGORITHMS),
)
"""What may be asked next, one question per step."""


def warm(told: Mapping[str, Any]) -> bool:
    """Draw the picture that a page opens with."""
    del told
    picture({"points": _POINTS, "kernel": "poly(degree=2, gamma=1, coef0=1)", "C": 10.0})
    return True

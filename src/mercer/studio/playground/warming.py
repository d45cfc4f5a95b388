"""Compile what the playground needs, before somebody waits for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mercer.studio.playground.picture import picture
from mercer.studio.playground.traces import ALGORITHMS, trace

_POINTS = [[-1.0, -1.0, 0], [1.0, 1.0, 0], [-1.0, 1.0, 1], [1.0, -1.0, 1]]


def warm(told: Mapping[str, Any]) -> bool:
    """Draw one picture of each kind."""
    del told
    for kernel in ("rbf(gamma=1)", "poly(degree=2)", "linear"):
        picture({"points": _POINTS, "kernel": kernel})
    picture({"points": _POINTS, "kernel": "linear", "C": "inf"})
    for task in ("regression", "novelty"):
        picture({"points": _POINTS, "task": task})
    for algorithm in ALGORITHMS:
        trace({"points": _POINTS, "algorithm": algorithm})
    return True

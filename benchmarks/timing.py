"""What benchmarks share: the package beside this folder, data sets, and times taken in turns.

Import it before `mercer`, so that the package of this checkout is the one that is measured.
"""

from __future__ import annotations

import importlib.util
import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("MERCER_DATA", ROOT.parent / "shared" / "data"))
sys.path.insert(0, str(ROOT / "src"))

Work = Callable[[], Any]
Clock = Callable[[], float]


def timed(work: Work, rest: float = 0.0, clock: Clock = time.perf_counter) -> tuple[float, Any]:
    """How long it takes, once, and what comes of it; after a rest, since threads of others may spin on for a while."""
    time.sleep(rest)
    started = clock()
    result = work()
    return clock() - started, result


def seconds(work: Work, rest: float = 0.0, clock: Clock = time.perf_counter) -> float:
    """How long it takes, once."""
    return timed(work, rest, clock)[0]


def best_of(turns: int, work: Work) -> float:
    """The shortest of several times."""
    return min(seconds(work) for _ in range(turns))


def in_turns(systems: Mapping[str, Work], turns: int = 3, rest: float = 0.0) -> dict[str, float]:
    """The best time of each, in turns, so that a busy machine slows all alike; a first run of each warms up."""
    best = dict.fromkeys(systems, math.inf)
    for turn in range(turns + 1):
        for name, work in systems.items():
            took = seconds(work, rest)
            if turn:
                best[name] = min(best[name], took)
    return best


def take_turns(other: Work, ours: Work, turns: int = 3) -> tuple[float, float]:
    """The best times of two."""
    best = in_turns({"other": other, "ours": ours}, turns)
    return best["other"], best["ours"]


def loader(folder: Path) -> Callable[[str], Any]:
    """The function that reads the data sets of a folder by name."""
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load  # type: ignore[no-any-return]


def head() -> None:
    print(f"{'what':<64}{'other':>11}{'ours':>11}{'ratio':>8}{'goal':>6}")


def line(what: str, other: float, ours: float, goal: float) -> None:
    print(f"{what:<64}{_shown(other):>11}{_shown(ours):>11}{other / ours:>7.1f}x{goal:>5g}x", flush=True)


def _shown(seconds: float) -> str:
    return f"{1e3 * seconds:.2f} ms" if seconds < 0.1 else f"{seconds:.2f} s"

"""Time against the number of objects, for us, scikit-learn and its Intel extension: a table and a picture.

    python benchmarks/growth.py                                       # 60 to 16,000 objects; two minutes
    python benchmarks/growth.py --sizes 60,250,1000 --picture time.png

One learner of each kind, on the data of `everyday.py`: systems take turns, and the best of several runs counts. A
system is left out from the size on at which it would take longer than `--seconds`, judged by the sizes before.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timing import ROOT, in_turns  # first: it finds the package of this checkout

from everyday_cases import INTELEX, MERCER, SKLEARN, Case, Size, cases, data  # isort: skip

SIZES = (60, 250, 1_000, 4_000, 16_000)
COLUMNS = 20
SHOWN = ("SVC(rbf)", "SVR(rbf)", "LinearSVC", "KernelRidge(rbf)")
STEEPNESS = 3.0
"""Four times as many objects take so many times four times as long, at most, of those who are still in time."""
COLOURS = {MERCER: "#1b6ca8", SKLEARN: "#d1603d", INTELEX: "#7a7a7a"}

Times = dict[str, dict[str, dict[int, float]]]
"""Seconds by panel, system and number of objects."""


def measured(sizes: list[int], limit: float) -> Times:
    """Fits of all learners, and predictions of the first."""
    found: Times = {}
    for case in (one for name in SHOWN for one in cases() if one.name == name):
        for n in (n for n in sizes if n <= case.most):
            given, size = data(Size(n, COLUMNS), case.target), str(n)
            models: dict[str, Any] = {}
            fits = {who: _fit(case, who, models, given) for who in _in_time(case, f"{case.name}: fit", found, limit)}
            _note(found, f"{case.name}: fit", n, in_turns(fits))
            if case.name == SHOWN[0]:
                predictions = {who: _bound(model.predict, given.new) for who, model in models.items()}
                _note(found, f"{case.name}: predict", n, in_turns(predictions))
            print(f"{case.name:<20}{size:>8}", *(f"{who} {1e3 * _last(found, case, who, n):10.2f} ms" for who in fits))
    return found


def _fit(case: Case, who: str, models: dict[str, Any], given: Any) -> Callable[[], Any]:
    return lambda: models.__setitem__(who, case.systems[who]().fit(given.X, given.y))


def _bound(method: Callable[[Any], Any], new: Any) -> Callable[[], Any]:
    return lambda: method(new)


def _in_time(case: Case, panel: str, found: Times, limit: float) -> list[str]:
    known = found.get(panel, {})
    longest = {who: max(known.get(who, {0: 0.0}).values()) for who in case.systems}
    return [who for who in case.systems if 4 * STEEPNESS * longest[who] <= limit or not longest[who]]


def _note(found: Times, panel: str, n: int, times: dict[str, float]) -> None:
    for who, took in times.items():
        found.setdefault(panel, {}).setdefault(who, {})[n] = took


def _last(found: Times, case: Case, who: str, n: int) -> float:
    return found[f"{case.name}: fit"][who][n]


def draw(found: Times, path: Path) -> None:
    """One panel for each learner, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    columns = math.ceil(len(found) / 2)
    figure, axes = plt.subplots(2, columns, figsize=(4 * columns, 6.4), squeeze=False, layout="constrained")
    for place, axis in enumerate(axes.ravel()):
        if place >= len(found):
            axis.axis("off")
            continue
        panel, systems = list(found.items())[place]
        for who, times in systems.items():
            axis.loglog(list(times), list(times.values()), marker="o", markersize=4, label=who, color=COLOURS[who])
        axis.set_title(panel)
        axis.set_xlabel("objects")
        axis.set_ylabel("seconds")
        axis.grid(visible=True, which="major", alpha=0.3)
    axes[0, 0].legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> None:
    """Read the arguments, measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of objects, by commas")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long one call may take")
    parser.add_argument("--picture", type=Path, default=ROOT / "docs" / "images" / "time-against-n.png")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    draw(measured([int(n) for n in given.sizes.split(",")], given.seconds), given.picture)


if __name__ == "__main__":
    main()

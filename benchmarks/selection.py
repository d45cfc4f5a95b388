"""A search over C and gamma side by side with scikit-learn and scikit-learn-intelex.

    python benchmarks/selection.py                              # a9a, 5,000 rows; several minutes
    python benchmarks/selection.py --gammas 0.05 --peers none   # ours alone, on a part of the grid

The first 5,000 rows of a9a, 5 folds, C = 2^-2 ... 2^7, five gammas around 0.05: 250 fits in one search, as a user
calls it. All systems use two workers, take turns after a rest and have made one small search before; the best of
`--turns` counts. Ratios are times of a peer over ours: above 1 we are faster.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from timing import DATA, loader

# isort: split
from mercer import SVC, KernelSearchCV

CS = 2.0 ** np.arange(-2, 8)
GAMMAS = (0.0125, 0.025, 0.05, 0.1, 0.2)
WANTED = {"scikit-learn": 8.0, "intelex": 4.0}


def rows(folder: Path, n: int) -> tuple[Any, Any]:
    X, y = loader(folder)("vectors/a9a")["train"]
    return X[:n].toarray(), y[:n]


def search(system: str, grid: dict[str, Any], folds: int = 5) -> Any:
    options: dict[str, Any] = {"cv": folds, "refit": False, "n_jobs": 2}
    if system.startswith("mercer"):
        return KernelSearchCV(SVC(), grid, racing=system == "mercer, racing", **options)
    from sklearn.model_selection import GridSearchCV

    if system == "intelex":
        from sklearnex.svm import SVC as Peer
    else:
        from sklearn.svm import SVC as Peer
    return GridSearchCV(Peer(), grid, **options)


def scores(results: Any, folds: int = 5) -> Any:
    return np.stack([results[f"split{number}_test_score"] for number in range(folds)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--gammas", default=",".join(map(str, GAMMAS)))
    parser.add_argument("--peers", default="scikit-learn,intelex", help="a list, or none")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--racing", action="store_true", help="also ours with racing, which drops hopeless settings")
    asked = parser.parse_args()
    X, y = rows(asked.data, asked.rows)
    systems = [
        "mercer",
        *(["mercer, racing"] if asked.racing else []),
        *(name for name in asked.peers.split(",") if name in WANTED),
    ]
    gammas = [float(gamma) for gamma in asked.gammas.split(",")]
    for system in systems:
        search(system, {"C": CS[:2], "gamma": [0.05]}, folds=2).fit(X[:2600], y[:2600])
    search("mercer", {"C": CS, "gamma": gammas[:1]}).fit(X, y)  # warms up memory and compiles the large path
    best = dict.fromkeys(systems, math.inf)
    found: dict[str, Any] = {}
    for turn in range(asked.turns):
        for system in systems:
            time.sleep(0.5)  # threads of whoever came before may still spin for a while
            began = time.perf_counter()
            fitted = search(system, {"C": CS, "gamma": gammas}).fit(X, y)
            took = time.perf_counter() - began
            best[system] = min(best[system], took)
            found[system] = scores(fitted.cv_results_)
            print(f"turn {turn + 1}   {system:14s} {took:8.2f} s   best {fitted.best_params_}", flush=True)
    for system in systems:
        line = f"{system:14s} {best[system]:8.2f} s   {best[system] / best['mercer']:5.1f} x"
        if system in WANTED:
            off = np.abs(found[system] - found["mercer"])
            line += f" (wanted {WANTED[system]:g})"
            line += f"   {np.count_nonzero(off)} of {off.size} scores differ, by at most {off.max():.4f}"
        print(line)


if __name__ == "__main__":
    main()

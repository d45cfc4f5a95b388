"""A search over C and gamma side by side with scikit-learn and scikit-learn-intelex.

    python benchmarks/selection.py                              # a9a, 5,000 rows; several minutes
    python benchmarks/selection.py --gammas 0.05 --peers none   # ours alone, on a part of the grid

The first 5,000 rows of a9a, 5 folds, C = 2^-2 ... 2^7, five gammas around 0.05. All systems use two workers. Gammas are
worked off one by one, systems taking turns, so that whatever else the machine does hits all of them; every system has
made one small search before. Ratios are times of a peer over ours: above 1 we are faster.
"""

from __future__ import annotations

import argparse
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
    parser.add_argument("--whole", action="store_true", help="also ours on the whole grid at once, and racing")
    asked = parser.parse_args()
    X, y = rows(asked.data, asked.rows)
    systems = ["mercer", *(name for name in asked.peers.split(",") if name in WANTED)]
    gammas = [float(gamma) for gamma in asked.gammas.split(",")]
    for system in systems:
        search(system, {"C": CS[:2], "gamma": [0.05]}, folds=2).fit(X[:2600], y[:2600])
    search("mercer", {"C": CS, "gamma": gammas[:1]}).fit(X, y)  # warms up memory and compiles the large path
    took = dict.fromkeys(systems, 0.0)
    found: dict[str, list[Any]] = {system: [] for system in systems}
    for gamma in gammas:
        for system in systems:
            began = time.perf_counter()
            fitted = search(system, {"C": CS, "gamma": [gamma]}).fit(X, y)
            seconds = time.perf_counter() - began
            took[system] += seconds
            found[system].append(scores(fitted.cv_results_))
            print(f"gamma {gamma:<7g} {system:14s} {seconds:8.2f} s", flush=True)
    for system in systems:
        line = f"{system:14s} {took[system]:8.2f} s"
        if system != "mercer":
            off = np.abs(np.array(found[system]) - np.array(found["mercer"]))
            line += f"   {took[system] / took['mercer']:5.1f} x (wanted {WANTED[system]:g})"
            line += f"   {np.count_nonzero(off)} of {off.size} scores differ, by at most {off.max():.4f}"
        print(line)
    if asked.whole:
        for system in ("mercer", "mercer, racing"):
            began = time.perf_counter()
            fitted = search(system, {"C": CS, "gamma": gammas}).fit(X, y)
            print(f"whole grid, {system:15s} {time.perf_counter() - began:8.2f} s   best {fitted.best_params_}")


if __name__ == "__main__":
    main()

"""Learners side by side with their peers: ratios of time at the same quality, measured in turns in one process.

    python benchmarks/learners.py linear --data ../shared/data

Each system is run at its loosest tolerance that reaches the objective asked for; then all of them in turns, best of
three, so that a busy machine slows all alike. A section is a function that yields lines; add one to SECTIONS.
"""

import argparse
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

ROUNDS = 3
WITHIN = 1e-3

Model = Callable[[], Any]


def timed(model: Model, X: Any, y: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    fitted = model().fit(X, y)
    return time.perf_counter() - began, fitted


def in_turns(models: dict[str, Model], X: Any, y: Any) -> dict[str, float]:
    """The best of three times of each, in turns."""
    best = dict.fromkeys(models, math.inf)
    for _ in range(ROUNDS):
        for name, model in models.items():
            best[name] = min(best[name], timed(model, X, y)[0])
    return best


# ------------------------------------------------------------------------------------------------------------- linear


def linear_objective(X: Any, y: Any, coef: Any, loss: str) -> float:
    """The sum over machines of 1/2 |w|^2 + sum_i loss, with C = 1 and no intercept."""
    coef = np.atleast_2d(coef)
    classes, total = np.unique(y), 0.0
    for k, w in enumerate(coef):
        signs = np.where(y == (classes[1] if len(coef) == 1 else classes[k]), 1.0, -1.0)
        slack = np.maximum(0.0, 1.0 - signs * (X @ w))
        total += 0.5 * w @ w + float((slack if loss == "hinge" else slack**2).sum())
    return total


def linear_data(load: Callable[[str], Any]) -> Iterator[tuple[str, Any, Any]]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    X, y = load("vectors/a9a")["train"]
    yield "a9a", sp.csr_matrix(X), y
    texts, topics = load("text/20newsgroups")["train"]
    yield "20newsgroups tf-idf", TfidfVectorizer().fit_transform(texts), np.asarray(topics)
    X, y = load("vectors/covtype")["all"]
    X = X.astype(np.float64)
    yield "covtype, 2 vs rest", X / np.abs(X).max(axis=0), (y == 2).astype(int)


def loosest(make: Callable[[float], Any], tolerances: list[float], X: Any, y: Any, loss: str, goal: float) -> float:
    """The largest tolerance at which the objective is within WITHIN of the goal."""
    for tol in tolerances:
        if linear_objective(X, y, make(tol).fit(X, y).coef_, loss) <= goal * (1 + WITHIN):
            return tol
    return tolerances[-1]


def linear(load: Callable[[str], Any], losses: tuple[str, ...]) -> Iterator[str]:
    from sklearn.svm import LinearSVC as Theirs

    from mercer import LinearSVC as Ours

    yield f"LinearSVC without intercept, C = 1, to within {WITHIN:g} of the best objective"
    ratios: dict[str, list[float]] = {loss: [] for loss in losses}
    for name, X, y in linear_data(load):
        for loss in losses:
            common = {"loss": loss, "fit_intercept": False, "max_iter": 2000, "random_state": 0}

            def ours(tol: float, common: dict[str, Any] = common) -> Any:
                return Ours(tol=tol, **common)

            def theirs(tol: float, common: dict[str, Any] = common) -> Any:
                return Theirs(tol=tol, dual="auto", **common)

            goal = linear_objective(X, y, ours(1e-5).fit(X, y).coef_, loss)
            our_tol = loosest(ours, [1e-2, 3e-3, 1e-3], X, y, loss, goal)
            their_tol = loosest(theirs, [3.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4], X, y, loss, goal)
            best = in_turns(
                {"mercer": lambda: ours(our_tol), "scikit-learn": lambda: theirs(their_tol)},  # noqa: B023
                X,
                y,
            )
            ratio = best["scikit-learn"] / best["mercer"]
            ratios[loss].append(ratio)
            yield (
                f"  {name:22} {loss:14} mercer {best['mercer']:.3f} s (tol {our_tol:g})   "
                f"scikit-learn {best['scikit-learn']:.3f} s (tol {their_tol:g})   {ratio:.2f}x"
            )
    for loss, values in ratios.items():
        yield f"  geometric mean, {loss}: {math.exp(np.mean(np.log(values))):.2f}x, least {min(values):.2f}x"


SECTIONS = {"linear": linear}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], default=list(SECTIONS))
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--loss", choices=["hinge", "squared_hinge", "both"], default="squared_hinge")
    options = parser.parse_args()
    sys.path.insert(0, str(options.data))
    from load import load  # type: ignore[import-not-found]

    warnings.simplefilter("ignore")
    losses = ("squared_hinge", "hinge") if options.loss == "both" else (options.loss,)
    for section in options.sections:
        for line in SECTIONS[section](load, losses):
            print(line, flush=True)


if __name__ == "__main__":
    main()

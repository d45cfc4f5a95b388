"""`mercer demo`: a few machines on a few kinds of data, in one table."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer import _jit
from mercer._progress import reporting, silenced
from mercer._version import __version__
from mercer.cli import output
from mercer.cli.fitting import comparison
from mercer.cli.problems import BOTH, NUMBERS_ALONE, SEQUENCE_ALONE, problems
from mercer.cli.trials import Result, attempt, steps
from mercer.jobs.fitting import Outcome, Plan, fit
from mercer.readers.data import NUMBER, Column, Data

FOLDS = 5
_FEW = 90
_FAST_FOLDS = 2


REPORT = "mercer-demo.html"


def show(*, seed: int, as_json: bool, quiet: bool, fast: bool, report: str | None = None) -> None:
    """Run everything and print it; then the main job, from data to a report."""
    began = time.perf_counter()
    folds = _FAST_FOLDS if fast else FOLDS
    with silenced() if quiet else contextlib.nullcontext():
        if not quiet:
            _announce_compilation()
        results = list(run(seed, folds, fast=fast))
        outcome = main_job(seed, folds, fast=fast)
        if report is not None:
            from mercer.report import write

            write(outcome, report)
    seconds = time.perf_counter() - began
    if as_json:
        output.write_json({**_as_json(results, seed, folds, seconds), "verdict": outcome.verdict, "report": report})
    else:
        _print(results, folds)
        _print_job(outcome, report)


def run(seed: int, folds: int, *, fast: bool = False) -> Iterator[Result]:
    """Every trial of every problem, reporting progress."""
    todo = [(problem, trial) for problem in problems(seed, fast=fast) for trial in problem.trials]
    total = sum(steps(trial, folds) for _, trial in todo)
    done = 0
    with reporting("Training") as report:
        for problem, trial in todo:

            def tick(note: str = f"{problem.name}, {trial}") -> None:
                nonlocal done
                done += 1
                report(done / total, note)

            yield attempt(problem, trial, problem.splits(folds, seed), tick)


def main_job(seed: int, folds: int, *, fast: bool) -> Outcome:
    """What `mercer fit` does with a file, on the breast cancer data: kernels compared, the best trained and judged."""
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    rows = slice(_FEW if fast else None)
    columns = {
        str(name): Column(str(name), NUMBER, found.data[rows, place]) for place, name in enumerate(found.feature_names)
    }
    labels = np.asarray(found.target_names)[found.target[rows]].astype(np.str_)
    data = Data("breast cancer", "scikit-learn", "table", columns, labels, "diagnosis")
    return fit(data, Plan(folds=folds, seed=seed), command=f"mercer demo --seed {seed}")


def _print_job(outcome: Outcome, report: str | None) -> None:
    print()
    output.write_text(
        "The main job is one command, `mercer fit FILE --target COLUMN`. It compares kernels, trains the best and says "
        "how good it is. On the breast cancer data, as a table with the target diagnosis:"
    )
    print()
    output.write_table(comparison(outcome), fold=True)
    print()
    output.write_text(outcome.verdict)
    if report is not None:
        print(f"report: {report}")


def _announce_compilation() -> None:
    """The first run is silent for some seconds before there is progress to show: say why, to whoever watches."""
    folder = _jit.cache_folder()
    cold = folder is None or not any(folder.rglob("*.nbi"))
    if cold and sys.stderr is not None and sys.stderr.isatty():
        print("The first run compiles the numerical loops; this takes some seconds, once.", file=sys.stderr)


def _print(results: list[Result], folds: int) -> None:
    table = output.new_table()
    table.add_column("data and kernel", no_wrap=True)
    for head in ("C", "accuracy %", "support\nvectors", "margin", "seconds", "scikit-\nlearn"):
        table.add_column(head, justify="right", no_wrap=True)
    last = None
    for result in results:
        problem = result.problem
        if problem is not last:
            if last is not None:
                table.add_row()
            table.add_row(f"{problem.name}, {len(problem.labels):,} {problem.noun}", style="bold")
            last = problem
        table.add_row(*_cells(result))
    output.write_table(table, fold=False)
    print()
    output.write_text(
        f"Accuracy: mean and standard deviation over {folds} folds; seconds: training and predicting in all of them, "
        "compilation aside, beside scikit-learn's for the same work. Support vectors and margin, 1/|w|, are those of "
        "the machine trained on everything (for more than two classes, the smallest margin between two)."
    )
    print()
    output.write_text(summary(results))


def _cells(result: Result) -> tuple[str, ...]:
    scores, twin = result.scores, result.twin
    return (
        f"  {result.trial}",
        f"{result.trial.C:g}",
        f"{100 * scores.accuracy:.1f} ± {100 * scores.spread:.1f}",
        f"{result.support_vectors:,}",
        f"{result.margin:.3g}",
        f"{scores.seconds:.2f}",
        "-" if twin is None else f"{twin.seconds:.2f}",
    )


def summary(results: list[Result]) -> str:
    """What the table shows, in words."""
    both = [(result.scores, result.twin) for result in results if result.twin is not None]
    apart = max(abs(ours.accuracy - theirs.accuracy) for ours, theirs in both)
    ours, theirs = sum(ours.seconds for ours, _ in both), sum(theirs.seconds for _, theirs in both)
    agreement = "are the same" if apart == 0 else f"differ by at most {100 * apart:.1f} points"
    mixed = {str(result.trial): result for result in results}
    accuracy = {label: f"{100 * mixed[label].scores.accuracy:.1f} %" for label in (SEQUENCE_ALONE, NUMBERS_ALONE, BOTH)}
    return (
        f"Where scikit-learn has the same kernel, the accuracies {agreement}, in {ours:.2f} s here and {theirs:.2f} s "
        f"there. In the mixed table the sequence alone gives {accuracy[SEQUENCE_ALONE]}, the numbers alone "
        f"{accuracy[NUMBERS_ALONE]}, and the sum of their kernels, {mixed[BOTH].trial.kernel}, {accuracy[BOTH]}."
    )


def _as_json(results: list[Result], seed: int, folds: int, seconds: float) -> dict[str, Any]:
    return {
        "command": "demo",
        "version": __version__,
        "seed": seed,
        "folds": folds,
        "seconds": seconds,
        "results": [_result_as_json(result) for result in results],
        "summary": summary(results),
    }


def _result_as_json(result: Result) -> dict[str, Any]:
    scores, twin = result.scores, result.twin
    return {
        "data": result.problem.name,
        "objects": len(result.problem.labels),
        "kernel": str(result.trial.kernel),
        "C": result.trial.C,
        "accuracy": scores.accuracy,
        "accuracy_spread": scores.spread,
        "support_vectors": result.support_vectors,
        "margin": result.margin,
        "seconds": scores.seconds,
        "scikit_learn": None if twin is None else {"accuracy": twin.accuracy, "seconds": twin.seconds},
    }

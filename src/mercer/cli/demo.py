"""`mercer demo`: machines on several kinds of data, in one table."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _compiled
from mercer._progress import reporting
from mercer.cli.fitting import comparison
from mercer.cli.output import OutputOptions, new_table, write_result, write_table, write_text
from mercer.cli.problems import BOTH, NUMBERS_ALONE, SEQUENCE_ALONE, Problem, Scores, Trial, problems
from mercer.jobs.fitting import Outcome, fit
from mercer.jobs.problem import Plan
from mercer.readers.data import NUMBER, Column, Data
from mercer.training.folds import Split

_FOLDS, _FAST_FOLDS = 5, 2  # the number that most people use, and the smallest possible one for tests
_FEW = 90  # number of rows of the table in tests


@final
@dataclass(frozen=True)
class Result:
    """The result of a trial; support vectors and margin are those of the machine trained on all objects."""

    problem: Problem
    trial: Trial
    scores: Scores
    support_vectors: int
    margin: float
    """1 / |w|; the smallest of all pairs of classes."""
    twin: Scores | None
    """scikit-learn's, with the same kernel, C and folds."""


def show(*, seed: int, output: OutputOptions, fast: bool, report: str | None = None) -> None:
    """Run and print everything; finally run `fit`, from data to a report."""
    began = time.perf_counter()
    folds = _FAST_FOLDS if fast else _FOLDS
    with output.progress():
        if not output.quiet:
            _announce_compilation()
        results = list(run(seed, folds, fast=fast))
        outcome = main_job(seed, folds, fast=fast)
        if report is not None:
            from mercer.report import write

            write(outcome, report)
    seconds = time.perf_counter() - began
    if output.as_json:
        found = {"seed": seed, "folds": folds, "seconds": seconds, "results": list(map(_as_json, results))}
        write_result("demo", {**found, "summary": summary(results), "verdict": outcome.verdict, "report": report})
    else:
        _print(results, folds)
        _print_job(outcome, report)


def run(seed: int, folds: int, *, fast: bool = False) -> Iterator[Result]:
    """Every trial of every problem, reporting progress."""
    todo = [(problem, trial) for problem in problems(seed, fast=fast) for trial in problem.trials]
    with reporting("Training") as report:
        for number, (problem, trial) in enumerate(todo):
            report(number / len(todo), f"{problem.name}, {trial}")
            yield attempt(problem, trial, problem.splits(folds, seed))


def attempt(problem: Problem, trial: Trial, splits: list[Split]) -> Result:
    """Cross-validate our machine and scikit-learn's, then train ours on all objects."""
    machines = trial.machines()
    ours, *theirs = (problem.score(machine, splits) for machine in machines)
    fitted = problem.pipeline(machines[0]).fit(problem.objects, problem.labels)
    machine = fitted[-1] if problem.standardise else fitted
    support, margin = int(machine.n_support_.sum()), float(machine.certificate_.margin)
    return Result(problem, trial, ours, support, margin, theirs[0] if theirs else None)


def main_job(seed: int, folds: int, *, fast: bool) -> Outcome:
    """What `mercer fit` does with a file, on the breast cancer data."""
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
    write_text(
        "To train on a file of your own, use `mercer fit FILE --target COLUMN`. It compares kernels, trains the best "
        "and says how good it is. On the breast cancer data, as a table with the target diagnosis:"
    )
    print()
    write_table(comparison(outcome), fold=True)
    print()
    write_text(outcome.verdict)
    if report is not None:
        print(f"report: {report}")


def _announce_compilation() -> None:
    """On a terminal, explain why the first run shows no progress for some seconds."""
    folder = _compiled.cache_folder()
    cold = folder is None or not any(folder.rglob("*.nbi"))
    if cold and sys.stderr is not None and sys.stderr.isatty():
        print("The first run compiles the numerical loops, which takes some seconds, once.", file=sys.stderr)


def _print(results: list[Result], folds: int) -> None:
    table = new_table()
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
    write_table(table, fold=False)
    print()
    write_text(
        f"Accuracy: mean and standard deviation over {folds} folds. Seconds: training and predicting in all of them, "
        "without compilation; scikit-learn's are for the same work. Support vectors and margin, 1/|w|, are those of "
        "the machine trained on all objects (for more than two classes, the smallest margin between two)."
    )
    print()
    write_text(summary(results))


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
    """A summary of the table in words."""
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


def _as_json(result: Result) -> dict[str, Any]:
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

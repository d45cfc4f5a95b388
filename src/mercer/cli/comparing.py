"""`mercer compare`."""

from __future__ import annotations

import contextlib
import dataclasses
import time

from mercer._progress import reporting, silenced
from mercer._version import __version__
from mercer.cli import output
from mercer.cli.failures import UsageError
from mercer.cli.fitting import TASKS, _escaped
from mercer.jobs.candidates import shown
from mercer.jobs.code import comparing
from mercer.jobs.judging import behind, of_predictions
from mercer.jobs.posing import Plan, pose, said_of
from mercer.readers.options import Options
from mercer.readers.reading import read


def run(
    path: str, reading: Options, plan: Plan, given: list[str], *, as_json: bool, quiet: bool, show_code: bool
) -> None:
    """Rank kernels, and say which of them are as good as the best."""
    if plan.task not in TASKS:
        raise UsageError(f"there is no task {plan.task!r}", f"Tasks are {', '.join(TASKS)}.")
    began = time.monotonic()
    with silenced() if quiet else contextlib.nullcontext(), reporting("Comparing kernels") as report:
        data = read(path, reading)
        problem = pose(data, plan, given)
        if show_code:
            output.write_code("compare", comparing(problem, path, reading), as_json=as_json)
            return
        found = problem.search(None if plan.time_limit is None else began + plan.time_limit, report)
    task, y, preparation = problem.task, problem.y, problem.preparation
    notes = [*problem.notes, *said_of(found, len(y))]
    labels = y[found.rows]
    ranked = [
        (trial, of_predictions(labels, trial.predicted, task, plan.balanced, plan.seed)) for trial in found.by_kernel()
    ]
    best = ranked[0][1]
    gaps = [
        behind(labels, ranked[0][0].predicted, trial.predicted, task, plan.balanced, plan.seed) for trial, _ in ranked
    ]
    rivals = sum(low <= 0 for low, _ in gaps[1:])
    words = f"{shown(ranked[0][0].kernel, preparation)} is best on these folds."
    if rivals:
        words += (
            f" {rivals} of {len(ranked) - 1} others cannot be told apart from it: the interval of the difference, on "
            "the same objects, contains zero."
        )
    if as_json:
        listed = [
            {
                "kernel": str(trial.kernel),
                "penalty": trial.penalty,
                "seconds": trial.seconds,
                **dataclasses.asdict(estimate),
                "behind_best": {"low": gap[0], "high": gap[1]},
            }
            for (trial, estimate), gap in zip(ranked, gaps, strict=True)
        ]
        output.write_json(
            {
                "command": "compare",
                "version": __version__,
                "data": data.name,
                "task": task,
                "objects": len(found.rows),
                "seed": plan.seed,
                "notes": notes,
                "kernels": listed,
                "summary": words,
            }
        )
        return
    if not quiet:
        for note in notes:
            output.write_text(f"- {note}")
        if notes:
            print()
    factor, digits = (1, 3) if task == "regression" else (100, 1)
    table = output.new_table()
    table.add_column("kernel", overflow="fold", min_width=output.KERNEL)
    for head in (
        problem.learner.penalty,
        best.name if task == "regression" else f"{best.name} %",
        "95 % interval",
        "behind the best",
        "seconds",
    ):
        table.add_column(head, justify="right", no_wrap=True)
    for (trial, estimate), gap in zip(ranked, gaps, strict=True):
        interval = f"{factor * estimate.low:.{digits}f} to {factor * estimate.high:.{digits}f}"
        table.add_row(
            _escaped(shown(trial.kernel, preparation)),
            f"{trial.penalty:g}",
            f"{factor * estimate.value:.{digits}f}",
            interval,
            "-" if trial is ranked[0][0] else f"{factor * gap[0]:.{digits}f} to {factor * gap[1]:.{digits}f}",
            f"{trial.seconds:.2f}",
        )
    output.write_table(table, fold=True)
    print()
    output.write_text(words)

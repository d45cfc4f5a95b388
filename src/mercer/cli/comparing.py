"""`mercer compare`."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

from mercer._progress import reporting
from mercer.cli import output
from mercer.cli.failures import refuse_unknown_task
from mercer.cli.output import OutputOptions
from mercer.jobs.candidates import short_text
from mercer.jobs.code import comparing
from mercer.jobs.problem import Plan, Problem, prepare
from mercer.jobs.scoring import Estimate, difference, of_answers
from mercer.jobs.search import Search, search
from mercer.readers.options import Options
from mercer.readers.reading import read
from mercer.selection.trials import Trial

Ranked = list[tuple[Trial, Estimate, tuple[float, float]]]
"""The best trial of each kernel, its score, and how far it is behind the best one."""


def run(path: str, reading: Options, plan: Plan, kernels: list[str], wanted: OutputOptions) -> None:
    """Rank kernels, and say which of them are as good as the best."""
    refuse_unknown_task(plan.task)
    began = time.monotonic()
    with wanted.progress(), reporting("Comparing kernels") as report:
        problem = prepare(read(path, reading), plan, kernels)
        if wanted.show_code:
            output.write_code("compare", comparing(problem, path, reading), wanted)
            return
        deadline = None if plan.time_limit is None else began + plan.time_limit
        found = search(problem, deadline=deadline, report=report)
    ranked = _ranked(problem, found)
    notes = [*problem.notes, *found.notes(len(problem.y))]
    summary = _summary(problem, ranked)
    if wanted.as_json:
        output.write_result("compare", _as_json(problem, found, ranked) | {"notes": notes, "summary": summary})
        return
    output.write_notes(notes, wanted, gap=True)
    output.write_table(_table(problem, ranked), fold=True)
    print()
    output.write_text(summary)


def _ranked(problem: Problem, found: Search) -> Ranked:
    metric, seed = problem.metric, problem.plan.seed
    trials = found.by_kernel()
    said = [found.judge.answers(trial.predicted, trial.decisions) for trial in trials]
    return [
        (trial, of_answers(answers, metric, seed), difference(said[0], answers, metric, seed))
        for trial, answers in zip(trials, said, strict=True)
    ]


def _summary(problem: Problem, ranked: Ranked) -> str:
    words = f"{short_text(ranked[0][0].kernel, problem.preparation)} is best on these folds."
    rivals, others = sum(low <= 0 for _, _, (low, _) in ranked[1:]), len(ranked) - 1
    if rivals:
        which = "The other one" if others == 1 else f"{rivals} of the {others} others"
        words += (
            f" {which} cannot be distinguished from it: the interval of the difference, on the same objects, contains "
            "zero."
        )
    return words


def _table(problem: Problem, ranked: Ranked) -> Any:
    rows: list[tuple[Trial, list[output.Cell]]] = []
    for place, (trial, estimate, gap) in enumerate(ranked):
        behind: output.Cell = ("{} to {}", *gap) if place else ("-",)
        rows.append((trial, [("{}", estimate.value), ("{} to {}", estimate.low, estimate.high), behind]))
    return output.ranking(problem, rows, "95 % interval", "behind the best")


def _as_json(problem: Problem, found: Search, ranked: Ranked) -> dict[str, Any]:
    return {
        "data": problem.data.name,
        "task": problem.task,
        "objects": len(found.rows),
        "seed": problem.plan.seed,
        "kernels": [
            {
                **output.trial_as_json(trial, problem.metric),
                **dataclasses.asdict(estimate),
                "behind_best": {"low": gap[0], "high": gap[1]},
            }
            for trial, estimate, gap in ranked
        ],
    }

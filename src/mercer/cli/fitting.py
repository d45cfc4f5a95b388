"""`mercer fit`."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import sys
from dataclasses import dataclass
from typing import Any, final

from mercer._progress import reporting, silenced
from mercer._version import __version__
from mercer.cli import output
from mercer.cli.failures import Interrupted, NotConverged, UsageError, was_interrupted
from mercer.errors import ModelFileError
from mercer.jobs.candidates import shown
from mercer.jobs.checkpoint import Checkpoint
from mercer.jobs.code import equivalent
from mercer.jobs.fitting import Outcome, Plan, fit
from mercer.jobs.machines import has_converged
from mercer.readers.options import Options
from mercer.readers.problems import count
from mercer.readers.reading import read
from mercer.storage import save

NOUNS = {
    "table": "row",
    "vectors": "vector",
    "strings": "string",
    "graphs": "graph",
    "trees": "tree",
    "gram": "object",
}
TASKS = ("auto", "classification", "regression")


@final
@dataclass(frozen=True)
class Wishes:
    """What is to be done with the outcome."""

    model: str
    report: str | None
    strict: bool
    show_code: bool
    as_json: bool
    quiet: bool
    resume: bool = False


def run(path: str, reading: Options, plan: Plan, wishes: Wishes) -> None:
    """Read, train, write the model and the report, and say what came out."""
    if plan.task not in TASKS:
        raise UsageError(f"there is no task {plan.task!r}", f"Tasks are {', '.join(TASKS)}.")
    for target in (wishes.model, wishes.report):
        if target is not None:
            _refuse_what_cannot_be_written(target)
    checkpoint = Checkpoint(f"{wishes.model}.partial", resume=wishes.resume)
    try:
        with silenced() if wishes.quiet else contextlib.nullcontext(), reporting("Comparing kernels") as report:
            data = read(path, reading)
            command = shlex.join(["mercer", *sys.argv[1:]])
            outcome = fit(data, plan, command=command, tick=report, checkpoint=checkpoint)
        save(outcome.model, wishes.model)
        if wishes.report is not None:
            from mercer.report import write

            write(outcome, wishes.report)
    except BaseException as error:
        if was_interrupted(error):
            raise Interrupted("interrupted", _how_to_resume(checkpoint)) from error
        raise
    checkpoint.remove()
    code = equivalent(outcome, path, reading)
    if wishes.as_json:
        output.write_json(as_json(outcome, wishes, code))
    else:
        _print(outcome, wishes, code)
    if wishes.strict and not converged(outcome):
        raise NotConverged("training did not converge", "Raise the time limit, or lower C.")


def _refuse_what_cannot_be_written(path: str) -> None:
    """Before hours of training, not after."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise ModelFileError(f"Cannot save to {path!r}: it is a folder. Add a file name.")
    if not os.path.isdir(folder):
        raise ModelFileError(f"Cannot save to {path!r}: there is no folder {folder!r}.")
    if not os.access(folder, os.W_OK):
        raise ModelFileError(f"Cannot save to {path!r}: the folder is write-protected.")


def _how_to_resume(checkpoint: Checkpoint) -> str:
    if not len(checkpoint):
        return "Nothing was written. Run the same command again; with --time-limit it keeps the best found by then."
    checkpoint.write()
    return (
        f"{len(checkpoint)} of {checkpoint.total} kernels are finished and kept in {checkpoint.path}: the same "
        "command with --resume goes on from there. No model was written."
    )


def converged(outcome: Outcome) -> bool:
    return has_converged(outcome.model.estimator)


def comparison(outcome: Outcome) -> Any:
    """The table of kernels, best first."""
    table = output.new_table()
    regression = outcome.task == "regression"
    table.add_column("kernel", overflow="fold", min_width=output.KERNEL)
    for head in (outcome.model.about["penalty_name"], "R2" if regression else f"{outcome.estimate.name} %", "seconds"):
        table.add_column(head, justify="right", no_wrap=True)
    factor = 1 if regression else 100
    digits = 3 if regression else 1
    for trial in outcome.search.by_kernel():
        score = f"{factor * trial.score:.{digits}f} ± {factor * float(trial.fold_scores.std()):.{digits}f}"
        table.add_row(
            _escaped(shown(trial.kernel, outcome.model.preparation)),
            f"{trial.penalty:g}",
            score,
            f"{trial.seconds:.2f}",
        )
    return table


def _print(outcome: Outcome, wishes: Wishes, code: str) -> None:
    data = outcome.data
    print(
        f"{data.name}: {count(len(data), NOUNS[data.kind])} ({data.format}), {outcome.task}"
        + (f" of {data.target}" if data.target else "")
    )
    if not wishes.quiet:
        for note in outcome.notes:
            output.write_text(f"- {note}")
    print()
    output.write_table(comparison(outcome), fold=True)
    print()
    output.write_text(outcome.verdict)
    output.write_text(trained_with(outcome))
    print(f"model:  {wishes.model}")
    if wishes.report is not None:
        print(f"report: {wishes.report}")
    if wishes.show_code:
        print()
        print(code)


def trained_with(outcome: Outcome) -> str:
    """What was trained, and how sure its optimality is."""
    best, proof = outcome.search.best, outcome.model.estimator.certificate_
    end = "" if converged(outcome) else " Training stopped before it had converged: the model may be worse than that."
    gap = 100 * max(proof.relative_gap, 0)
    worse = f"{gap:.0f}" if gap >= 10 else f"{gap:.2g}"
    about = outcome.model.about
    return (
        f"Trained on {about['trained_on']:,} objects with {shown(best.kernel, outcome.model.preparation)} and "
        f"{about['penalty_name']} = {best.penalty:g}: {about['support']:,} support objects; no machine of "
        f"this kind is better by more than {worse} % of its objective.{end}"
    )


def as_json(outcome: Outcome, wishes: Wishes, code: str) -> dict[str, Any]:
    """Everything that the text says, and the paths."""
    proof = outcome.model.estimator.certificate_
    return {
        "command": "fit",
        "version": __version__,
        "data": {
            "name": outcome.data.name,
            "format": outcome.data.format,
            "kind": outcome.data.kind,
            "objects": len(outcome.data),
            "target": outcome.data.target,
        },
        "task": outcome.task,
        "notes": list(outcome.notes),
        "comparison": [
            {
                "kernel": str(trial.kernel),
                "penalty": trial.penalty,
                "score": trial.score,
                "fold_scores": trial.fold_scores.tolist(),
                "seconds": trial.seconds,
            }
            for trial in outcome.search.by_kernel()
        ],
        "kernel": str(outcome.search.best.kernel),
        "penalty": outcome.search.best.penalty,
        "score": dataclasses.asdict(outcome.estimate),
        "verdict": outcome.verdict,
        "support": outcome.model.about["support"],
        "certificate": {
            "primal": proof.primal,
            "dual": proof.dual,
            "kkt_violation": proof.kkt_violation,
            "margin": proof.margin,
            "converged": converged(outcome),
        },
        "seed": outcome.plan.seed,
        "seconds": outcome.seconds,
        "model": wishes.model,
        "report": wishes.report,
        "code": code,
    }


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)

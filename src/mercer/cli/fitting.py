"""`mercer fit`."""

from __future__ import annotations

import dataclasses
import os
import shlex
import sys
from dataclasses import dataclass, replace
from typing import Any, final

from mercer.cli import output
from mercer.cli.failures import Interrupted, NotConverged, refuse_unknown_task, was_interrupted
from mercer.cli.output import OutputOptions
from mercer.errors import InputError, ModelFileError
from mercer.jobs.candidates import short_text
from mercer.jobs.checkpoint import Checkpoint
from mercer.jobs.code import equivalent
from mercer.jobs.fitting import Outcome, fit
from mercer.jobs.problem import Plan
from mercer.jobs.several import one_by_one, path_for
from mercer.jobs.summary import NOUNS
from mercer.jobs.ways import CELLS
from mercer.jobs.whole import Whole, beyond_memory, is_begun, refuse_folders_of_others, remove
from mercer.readers.opening import STDIN
from mercer.readers.options import Options
from mercer.readers.problems import count
from mercer.readers.reading import read
from mercer.selection.learner import has_converged
from mercer.storage import save
from mercer.training.certificate import Certificate


@final
@dataclass(frozen=True)
class Files:
    """Where to write the model and the report, and what they must satisfy."""

    model: str
    report: str | None
    strict: bool = False
    resume: bool = False


def run(path: str, reading: Options, plan: Plan, files: Files, wanted: OutputOptions) -> None:
    """Read, train, write the model and the report, and describe the result; separately for each target."""
    if not reading.more_targets or reading.target is None:
        _run(path, reading, plan, files, wanted)
        return
    if path == STDIN:
        raise InputError("Several targets need a file that can be read more than once, not stdin.")
    targets = (reading.target, *reading.more_targets)
    for number, (target, own) in enumerate(one_by_one(replace(reading, more_targets=()), targets).items()):
        if number and not wanted.as_json:
            print()
        report = None if files.report is None else path_for(files.report, target)
        _run(path, own, plan, replace(files, model=path_for(files.model, target), report=report), wanted)


def _run(path: str, reading: Options, plan: Plan, files: Files, wanted: OutputOptions) -> None:
    """The same for one target."""
    refuse_unknown_task(plan.task)
    for target in (files.model, files.report):
        if target is not None:
            _refuse_what_cannot_be_written(target)
    checkpoint, whole = Checkpoint(f"{files.model}.partial", resume=files.resume), None
    before = {target: _state(target) for target in (files.model, files.report) if target is not None}
    try:
        with wanted.progress():
            command = shlex.join(["mercer", *sys.argv[1:]])
            whole = _beyond_memory(path, reading, plan, files)
            data = read(path, reading) if whole is None else whole.data
            outcome = fit(data, plan, command=command, checkpoint=checkpoint, whole=whole)
        save(outcome.model, files.model)
        if files.report is not None:
            from mercer.report import write

            write(outcome, files.report)
        checkpoint.remove()
        if whole is not None:
            remove(files.model)
        _tell(outcome, equivalent(outcome, path, reading), files, wanted)
    except BaseException as error:
        if was_interrupted(error):
            written = [target for target, state in before.items() if _state(target) != state]
            raise Interrupted("interrupted", _how_to_resume(checkpoint, written, files)) from error
        raise
    if files.strict and not has_converged(outcome.model.estimator):
        raise NotConverged("training did not converge", "Raise the time limit, or lower C.")


def _beyond_memory(path: str, reading: Options, plan: Plan, files: Files) -> Whole | None:
    """A file that is too large for memory, seen through a sample; None for one that is not."""
    in_pieces = beyond_memory(path, reading, plan.memory)
    if in_pieces is None:
        return None
    refuse_folders_of_others(files.model)
    if not files.resume:
        remove(files.model)
    return Whole.of(path, in_pieces, plan.memory, plan.seed, files.model, keeping=True)


def _refuse_what_cannot_be_written(path: str) -> None:
    """Refuse paths that cannot be written before hours of training, not after."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise ModelFileError(f"Cannot save to {path!r}: it is a folder. Add a file name.")
    if not os.path.isdir(folder):
        raise ModelFileError(f"Cannot save to {path!r}: there is no folder {folder!r}.")
    if not os.access(folder, os.W_OK):
        raise ModelFileError(f"Cannot save to {path!r}: the folder is write-protected.")


def _state(path: str) -> tuple[int, int] | None:
    """Identifies a version of a file: each version is written as a new file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _how_to_resume(checkpoint: Checkpoint, written: list[str], files: Files) -> str:
    """A message about which files exist on disk, and how to get the others."""
    if files.model in written:
        if files.report is None or files.report in written:
            checkpoint.remove()
            return f"Everything was written before that: {' and '.join(written)}."
        checkpoint.write()
        kept = " The same command with --resume soon writes it, from the work that is kept." if len(checkpoint) else ""
        return f"The model is complete: {files.model}. The report was not written.{kept}"
    if not len(checkpoint) and is_begun(files.model):
        return (
            f"What was done is kept beside {files.model}: the same command with --resume goes on. No model was written."
        )
    if not len(checkpoint):
        return "Nothing was written. Run the same command again; with --time-limit it keeps the best found by then."
    checkpoint.write()
    return (
        f"{len(checkpoint)} of {checkpoint.total} kernels are finished and kept in {checkpoint.path}: the same "
        "command with --resume continues from there. No model was written."
    )


def comparison(outcome: Outcome) -> Any:
    """The table of kernels, best first."""
    sign = outcome.problem.metric.sign
    rows = [
        (trial, [("{} ± {}", sign * trial.score, float(trial.fold_scores.std()))])
        for trial in outcome.search.by_kernel()
    ]
    return output.ranking(outcome.problem, rows)


def _tell(outcome: Outcome, code: str, files: Files, wanted: OutputOptions) -> None:
    if wanted.as_json:
        told = {**_as_json(outcome), "model": files.model, "report": files.report, "code": code}
        output.write_result("fit", told)
        return
    _print(outcome, files, wanted)
    if wanted.show_code:
        print(f"\n{code}")


def _print(outcome: Outcome, files: Files, wanted: OutputOptions) -> None:
    data = outcome.problem.data
    target = f" of {data.target}" if data.target else ""
    what = f"{count(outcome.model.about['objects'], NOUNS[data.kind])} ({data.format}), {outcome.problem.task}{target}"
    print(output.visible(f"{data.name}: {what}"))
    output.write_notes(outcome.notes, wanted)
    print()
    output.write_table(comparison(outcome), fold=True)
    print()
    output.write_text(outcome.verdict)
    output.write_text(_trained_with(outcome))
    print(f"model:  {files.model}")
    if files.report is not None:
        print(f"report: {files.report}")


def _trained_with(outcome: Outcome) -> str:
    """A sentence about the trained machine, and how close it is to the optimum."""
    model, about = outcome.model, outcome.model.about
    proof = model.estimator.certificate_
    worst = f" (that of the worst of {len(proof.parts)} machines {_percent(proof.worst)} %)" if proof.parts else ""
    end = "" if has_converged(model.estimator) else " Training stopped before it converged: the model may be worse."
    return (
        f"Trained on {about['trained_on']:,} objects{_how(about['way'])} with "
        f"{short_text(about['kernel'], model.preparation)} and {about['penalty_name']} = {about['penalty']:g}: "
        f"{about['support']:,} support objects; the objective is within {_percent(proof)} % of the optimum{worst}.{end}"
    )


def _how(way: str) -> str:
    """How the machine was trained, unless it is a single machine on all objects."""
    return f" in {way}" if way.startswith(CELLS) else ""


def _percent(proof: Certificate) -> str:
    """How far the objective can be above the optimum, as a percentage."""
    gap = 100 * max(proof.relative_gap, 0.0)
    return f"{gap:.0f}" if gap >= 10 else f"{gap:.2g}"


def _as_json(outcome: Outcome) -> dict[str, Any]:
    """The same content as the text, for JSON."""
    data, estimator = outcome.problem.data, outcome.model.estimator
    return {
        "data": {
            "name": data.name,
            "format": data.format,
            "kind": data.kind,
            "objects": outcome.model.about["objects"],
            "target": data.target,
        },
        "task": outcome.problem.task,
        "notes": list(outcome.notes),
        "comparison": [output.trial_as_json(trial, outcome.problem.metric) for trial in outcome.search.by_kernel()],
        "kernel": outcome.model.about["kernel"],
        "penalty": outcome.model.about["penalty"],
        "way": outcome.model.about["way"],
        "score": dataclasses.asdict(outcome.estimate),
        "verdict": outcome.verdict,
        "support": outcome.model.about["support"],
        "certificate": {
            **output.certificate_as_json(estimator.certificate_),
            "converged": has_converged(estimator),
        },
        "seed": outcome.problem.plan.seed,
        "seconds": outcome.seconds,
    }

"""`mercer diagnose`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer.cli import output
from mercer.cli.failures import UsageError
from mercer.cli.kernels import explain
from mercer.cli.output import OutputOptions
from mercer.cli.subjects import KERNEL, MODEL, model_at, reading_for, subject_of
from mercer.jobs import code
from mercer.jobs.candidates import candidates, on_columns
from mercer.jobs.preparation import Preparation
from mercer.jobs.problem import Plan, task_of
from mercer.kernels.text.expression import parse
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.reading import read
from mercer.theory.diagnosis import diagnose


@final
@dataclass(frozen=True, eq=False)
class Question:
    """What to diagnose, and the Python code that does it."""

    name: str
    notes: list[str]
    kernel: Any
    objects: Any
    y: Any
    code: str


def run(subject: str, path: str | None, reading: Options, plan: Plan, wanted: OutputOptions) -> None:
    """Diagnose a kernel on a file: the one that is given, a model's own, or the usual one."""
    kind = subject_of(subject)
    if kind == KERNEL and path is None:
        if wanted.show_code:
            output.write_code("diagnose", code.explaining(parse(subject)), wanted)
            return
        explain(subject, wanted)
        if not wanted.as_json and not wanted.quiet:
            print()
            output.write_text("To see whether it suits your data: mercer diagnose KERNEL DATA --target COLUMN.")
        return
    asked = _question(kind, subject, path, reading, plan)
    if wanted.show_code:
        output.write_code("diagnose", asked.code, wanted)
        return
    found = diagnose(asked.kernel, asked.objects, asked.y, random_state=plan.seed)
    if wanted.as_json:
        content = {"data": asked.name, "notes": asked.notes, "diagnosis": found.to_dict()}
        output.write_result("diagnose", content)
        return
    output.write_notes(asked.notes, wanted, gap=True)
    print(output.visible(str(found)))


def _question(kind: str, subject: str, path: str | None, reading: Options, plan: Plan) -> Question:
    if kind == MODEL:
        return _of_model(subject, path, reading, plan)
    if kind == KERNEL:
        assert path is not None
        if plan.kernel != "auto":
            raise UsageError("two kernels are given", "Give one, as the first argument or with --kernel.")
        return _of_data(path, reading, dataclasses.replace(plan, kernel=subject))
    if path is not None:
        raise UsageError(
            f"{subject} is neither a model nor a kernel", "One file: mercer diagnose DATA --kernel EXPRESSION."
        )
    return _of_data(subject, reading, plan)


def _of_data(path: str, reading: Options, plan: Plan) -> Question:
    """A kernel on a file; by default the second one that `fit` would try, after the simplest."""
    reading = dataclasses.replace(reading, require_labels=False)
    data = read(path, reading)
    notes = list(data.notes)
    y = _targets(data, plan, notes)
    preparation = Preparation.learn(data, scale=plan.scale, impute=plan.impute)
    objects = preparation(data)
    if preparation.kind == "gram":
        told = code.diagnosing(path, reading, plan, None, y)
        return Question(data.name, notes, np.asarray(objects), None, y, told)
    tried = candidates(objects, preparation)
    usual = tried[min(1, len(tried) - 1)]
    kernel = usual if plan.kernel == "auto" else on_columns(parse(plan.kernel), preparation)
    return Question(data.name, notes, kernel, objects, y, code.diagnosing(path, reading, plan, kernel, y))


def _of_model(path: str, data_path: str | None, reading: Options, plan: Plan) -> Question:
    """A model's kernel on a file, or on the objects that the model keeps."""
    model = model_at(path)
    kernel = model.machine.expansion.kernel.kernel
    if model.preparation.kind == "gram":
        raise UsageError(
            f"{path} was trained on a Gram matrix and keeps no objects", "Diagnose the file of the matrix itself."
        )
    if data_path is None:
        notes = [f"These are the {len(model.support_names):,} support objects that the model keeps."]
        told = code.diagnosing_model(path, plan.seed)
        return Question(path, notes, kernel, model.machine.expansion.support, model.support_labels(), told)
    labelled = reading.target is not None or reading.labels is not None or model.about["target"] is not None
    reading = dataclasses.replace(reading_for(model, data_path, reading, labelled=labelled), require_labels=False)
    data = read(data_path, reading)
    notes = list(data.notes)
    y = _targets(data, dataclasses.replace(plan, task=model.task), notes)
    told = code.diagnosing_model(path, plan.seed, data_path, reading, y)
    return Question(data.name, notes, kernel, model.objects(data), y, told)


def _targets(data: Data, plan: Plan, notes: list[str]) -> Any:
    if data.labels is None:
        notes.append("There are no labels: only the kernel matrix is diagnosed.")
        return None
    task = task_of(data.labels, plan.task, notes)
    return data.labels if task == "classification" else np.asarray(data.labels, dtype=np.float64)

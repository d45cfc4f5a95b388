"""`mercer diagnose`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from mercer._version import __version__
from mercer.cli import output
from mercer.cli.failures import UsageError
from mercer.cli.kernels import explain
from mercer.cli.loading import model_at, reading_for
from mercer.cli.subjects import KERNEL, MODEL, subject_of
from mercer.jobs.candidates import candidates, lifted
from mercer.jobs.fitting import Plan, task_of
from mercer.jobs.preparation import Preparation
from mercer.kernels.expression import parse
from mercer.kernels.precomputed import Precomputed
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.reading import read
from mercer.theory.diagnosing.record import Diagnosis
from mercer.theory.diagnosis import diagnose


def run(subject: str, path: str | None, reading: Options, plan: Plan, *, as_json: bool, quiet: bool) -> None:
    """Judge a kernel on a file: the one that is named, a model's own, or the usual one."""
    kind = subject_of(subject)
    if kind == KERNEL and path is None:
        explain(subject, as_json=as_json)
        if not as_json and not quiet:
            print()
            output.write_text("Whether it suits your data: mercer diagnose KERNEL DATA --target COLUMN.")
        return
    if kind == MODEL:
        name, notes, found = _of_model(subject, path, reading, plan)
    elif kind == KERNEL:
        assert path is not None
        if plan.kernel != "auto":
            raise UsageError("a kernel is named twice", "Give it as the first argument, or with --kernel.")
        name, notes, found = _of_data(path, reading, dataclasses.replace(plan, kernel=subject))
    elif path is not None:
        raise UsageError(
            f"{subject} is neither a model nor a kernel", "One file: mercer diagnose DATA --kernel EXPRESSION."
        )
    else:
        name, notes, found = _of_data(subject, reading, plan)
    if as_json:
        told = {"command": "diagnose", "version": __version__, "data": name, "notes": notes}
        output.write_json({**told, "diagnosis": found.to_dict()})
        return
    if not quiet:
        for note in notes:
            output.write_text(f"- {note}")
        if notes:
            print()
    print(found)


def _of_data(path: str, reading: Options, plan: Plan) -> tuple[str, list[str], Diagnosis]:
    """Without a name, the kernel that would be tried second, after the plainest."""
    data = read(path, dataclasses.replace(reading, require_labels=False))
    notes = list(data.notes)
    y = _targets(data, plan, notes)
    preparation = Preparation.learn(data, scale=plan.scale, impute=plan.impute)
    objects = preparation(data)
    if preparation.kind == "gram":
        return data.name, notes, diagnose(np.asarray(objects), y=y, random_state=plan.seed)
    tried = candidates(objects, preparation)
    usual = tried[min(1, len(tried) - 1)]
    kernel = usual if plan.kernel == "auto" else lifted(parse(plan.kernel), preparation)
    return data.name, notes, diagnose(kernel, objects, y, random_state=plan.seed)


def _of_model(path: str, data_path: str | None, reading: Options, plan: Plan) -> tuple[str, list[str], Diagnosis]:
    """A model's kernel on a file, or on the objects that the model keeps."""
    model = model_at(path)
    kernel = model.estimator.expansion_.kernel.kernel
    if isinstance(kernel, Precomputed):
        raise UsageError(
            f"{path} was trained on a Gram matrix, and keeps no objects", "Diagnose the file of the matrix itself."
        )
    if data_path is not None:
        labelled = reading.target is not None or reading.labels is not None or model.about["target"] is not None
        told = reading_for(model, data_path, reading, labelled=labelled)
        data = read(data_path, dataclasses.replace(told, require_labels=False))
        notes = list(data.notes)
        y = _targets(data, dataclasses.replace(plan, task=model.task), notes)
        return data.name, notes, diagnose(kernel, model.objects(data), y, random_state=plan.seed)
    notes = [f"Looked at: the {len(model.support_names):,} support objects that the model keeps."]
    return (
        path,
        notes,
        diagnose(kernel, model.estimator.expansion_.support, model.support_labels(), random_state=plan.seed),
    )


def _targets(data: Data, plan: Plan, notes: list[str]) -> Any:
    if data.labels is None:
        notes.append("There are no labels: only the kernel matrix is judged.")
        return None
    task = task_of(data.labels, plan.task, notes)
    return data.labels if task == "classification" else np.asarray(data.labels, dtype=np.float64)

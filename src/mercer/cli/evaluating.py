"""`mercer evaluate`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from mercer._version import __version__
from mercer.cli import output
from mercer.cli.fitting import _escaped
from mercer.cli.loading import model_at, reading_for
from mercer.errors import InputError
from mercer.jobs.code import evaluating
from mercer.jobs.judging import of_predictions, verdict
from mercer.readers.options import Options
from mercer.readers.reading import read


def run(path: str, data_path: str, reading: Options, *, seed: int, as_json: bool, quiet: bool, show_code: bool) -> None:
    """Predict objects whose labels are known, and compare."""
    model = model_at(path)
    reading = reading_for(model, data_path, reading, labelled=True)
    if show_code:
        output.write_code("evaluate", evaluating(path, data_path, reading, model.task), as_json=as_json)
        return
    data = read(data_path, reading)
    assert data.labels is not None
    predicted = model.predict(data)
    y: Any = data.labels
    balanced = bool(model.about.get("balanced", False))
    if model.task == "regression":
        y = np.asarray(y, dtype=np.float64)
    else:
        assert model.classes is not None
        y, predicted = y.astype(np.str_), np.asarray(predicted).astype(np.str_)
        unknown = sorted(set(y.tolist()) - {str(label) for label in model.classes})
        if unknown:
            raise InputError(f"{data.name} has the label {unknown[0]!r}, which the model was not trained on.")
    estimate = of_predictions(y, predicted, model.task, balanced, seed)
    these = "this object" if len(data) == 1 else f"these {len(data):,} objects"
    said = verdict(estimate, model.task, y, data.target, f"On {these}", predicted)
    if (data.name, len(data)) == (model.about["data"], model.about["objects"]):
        said += " This looks like the file that the model was trained on, which tells nothing about new objects."
    classes = [] if model.classes is None else [str(label) for label in model.classes]
    matrix = [[int(((y == a) & (predicted == b)).sum()) for b in classes] for a in classes]
    if as_json:
        error = {"rmse": float(np.sqrt(np.mean(np.square(y - predicted))))} if model.task == "regression" else {}
        output.write_json(
            {
                "command": "evaluate",
                "version": __version__,
                "model": path,
                "data": data.name,
                "objects": len(data),
                "task": model.task,
                "score": dataclasses.asdict(estimate),
                **error,
                "classes": classes,
                "confusion": matrix,
                "verdict": said,
            }
        )
        return
    if classes and not quiet and len(classes) <= 20:
        table = output.new_table()
        table.add_column("really")
        for label in classes:
            table.add_column(_escaped(f"said {label}"), justify="right")
        table.add_column("right %", justify="right")
        for place, label in enumerate(classes):
            total = sum(matrix[place])
            share = f"{100 * matrix[place][place] / total:.1f}" if total else "-"
            table.add_row(_escaped(label), *(f"{count:,}" for count in matrix[place]), share)
        output.write_table(table, fold=True)
        print()
    output.write_text(said)

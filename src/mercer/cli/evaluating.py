"""`mercer evaluate`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.cli import output
from mercer.cli.output import OutputOptions
from mercer.cli.subjects import model_at, reading_for
from mercer.errors import InputError
from mercer.jobs.code import evaluating
from mercer.jobs.scoring import of_predictions, verdict
from mercer.jobs.trained import TrainedModel
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.reading import read

_MOST_CLASSES = 20  # a wider confusion matrix does not fit on a terminal


def run(path: str, data_path: str, reading: Options, seed: int, wanted: OutputOptions) -> None:
    """Predict objects whose labels are known, and compare."""
    model = model_at(path)
    reading = reading_for(model, data_path, reading, labelled=True)
    if wanted.show_code:
        output.write_code("evaluate", evaluating(path, data_path, reading, model.task), wanted)
        return
    data = read(data_path, reading)
    y, predicted = _compared(model, data)
    balanced = bool(model.about.get("balanced", False))
    scoring = "r2" if model.task == "regression" else "balanced_accuracy" if balanced else "accuracy"
    estimate = of_predictions(y, predicted, scoring, seed)
    these = "this object" if len(data) == 1 else f"these {len(data):,} objects"
    words = verdict(estimate, y, data.target, f"On {these}", predicted)
    if (data.name, len(data)) == (model.about["data"], model.about["objects"]):
        words += " This looks like the file that the model was trained on, which says nothing about new objects."
    classes = [] if model.classes is None else [str(label) for label in model.classes]
    counts = [[int(((y == truth) & (predicted == other)).sum()) for other in classes] for truth in classes]
    if wanted.as_json:
        found = {
            "model": path,
            "data": data.name,
            "objects": len(data),
            "task": model.task,
            "score": dataclasses.asdict(estimate),
            "classes": classes,
            "confusion": counts,
            "verdict": words,
        }
        if model.task == "regression":
            found["rmse"] = float(np.sqrt(np.mean(np.square(y - predicted))))
        output.write_result("evaluate", found)
        return
    if classes and not wanted.quiet and len(classes) <= _MOST_CLASSES:
        output.write_table(_confusion(classes, counts), fold=True)
        print()
    output.write_text(words)


def _compared(model: TrainedModel, data: Data) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Labels and predictions: numbers, or the names of classes."""
    assert data.labels is not None
    predicted = np.asarray(model.predict(data))
    if model.classes is None:
        return np.asarray(data.labels, dtype=np.float64), predicted
    y = data.labels.astype(np.str_)
    unknown = sorted(set(y.tolist()) - {str(label) for label in model.classes})
    if unknown:
        raise InputError(f"{data.name} has the label {unknown[0]!r}, which the model was not trained on.")
    return y, predicted.astype(np.str_)


def _confusion(classes: list[str], counts: list[list[int]]) -> Any:
    table = output.new_table("truth")
    for label in classes:
        table.add_column(output.escaped(f"predicted {label}"), justify="right")
    table.add_column("right %", justify="right")
    for place, (label, row) in enumerate(zip(classes, counts, strict=True)):
        share = f"{100 * row[place] / sum(row):.1f}" if sum(row) else "-"
        table.add_row(output.escaped(label), *(f"{count:,}" for count in row), share)
    return table

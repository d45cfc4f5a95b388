"""`mercer evaluate`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._jit import numba_spared
from mercer.cli import output
from mercer.cli.output import OutputOptions
from mercer.cli.subjects import model_at, reading_for
from mercer.errors import InputError
from mercer.jobs import calibration
from mercer.jobs.answers import Columns
from mercer.jobs.metric_formulas import Answers
from mercer.jobs.metrics import Metric, metric_for
from mercer.jobs.scoring import of_answers
from mercer.jobs.trained import TrainedModel
from mercer.jobs.verdicts import verdict
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.reading import read

_MOST_CLASSES = 20  # a wider confusion matrix does not fit on a terminal


@final
@dataclass(frozen=True)
class Judging:
    """How a model is judged."""

    seed: int = 0
    metric: str = "auto"
    threshold: str | None = None


def run(path: str, data_path: str, reading: Options, judging: Judging, wanted: OutputOptions) -> None:
    """Predict objects whose labels are known, and compare."""
    model = _with_threshold(model_at(path), judging.threshold)
    reading = reading_for(model, data_path, reading, labelled=True)
    if wanted.show_code:
        from mercer.jobs.code import evaluating

        output.write_code("evaluate", evaluating(path, data_path, reading, model.task), wanted)
        return
    data = read(data_path, reading)
    with numba_spared(len(data) * len(model.support_names)):
        answers = _answers(model, data)
    y, predicted = answers.y, answers.predicted
    metric = _metric(model, judging.metric, answers)
    estimate = of_answers(answers, metric, judging.seed)
    these = "this object" if len(data) == 1 else f"these {len(data):,} objects"
    words = verdict(estimate, metric, answers, data.target, f"On {these}")
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


def _with_threshold(model: TrainedModel, threshold: str | None) -> TrainedModel:
    """The model, with a threshold instead of its own."""
    if threshold is None:
        return model
    Columns(threshold=threshold).check(model)
    return dataclasses.replace(model, about={**model.about, "threshold": threshold})


def _metric(model: TrainedModel, asked: str, answers: Answers) -> Metric:
    """The requested metric, or the one by which the model was chosen; files do not contain a user's own functions."""
    known = str(model.about.get("metric", "auto"))
    wanted = asked if asked != "auto" or known == "own" else known
    metric = metric_for(wanted, model.task, answers.labels, balanced=bool(model.about.get("balanced", False)))
    if metric.needs == "chances" and answers.chances is None:
        raise InputError(f"The metric {metric.text} needs probabilities, which this model does not give.")
    return metric


def _answers(model: TrainedModel, data: Data) -> Answers:
    """Labels and predictions: numbers, or the names of classes, with decision values and probabilities."""
    assert data.labels is not None
    objects = model.objects(data)
    predicted = np.asarray(model.predict(data))
    weights = np.ones(len(data)) if data.weights is None else data.weights
    if model.classes is None:
        return Answers(np.asarray(data.labels, dtype=np.float64), predicted, weights)
    y = data.labels.astype(np.str_)
    unknown = sorted(set(y.tolist()) - {str(label) for label in model.classes})
    if unknown:
        raise InputError(f"{data.name} has the label {unknown[0]!r}, which the model was not trained on.")
    decisions = model.decisions(objects)
    chances = calibration.probabilities(model.calibration, decisions) if model.calibration.size else None
    return _sorted(Answers(y, predicted.astype(np.str_), weights, decisions, chances, model.classes.astype(np.str_)))


def _sorted(answers: Answers) -> Answers:
    """The same with classes sorted by their names as text, so that 10 comes before 2."""
    assert answers.classes is not None
    order = np.argsort(answers.classes, kind="stable")
    if (order == np.arange(len(order))).all():
        return answers
    assert answers.decisions is not None
    swapped = -answers.decisions if answers.decisions.shape[1] == 1 else answers.decisions[:, order]
    chances = None if answers.chances is None else answers.chances[:, order]
    return dataclasses.replace(answers, decisions=swapped, chances=chances, classes=answers.classes[order])


def _confusion(classes: list[str], counts: list[list[int]]) -> Any:
    table = output.new_table("truth")
    for label in classes:
        table.add_column(output.escaped(f"predicted {label}"), justify="right")
    table.add_column("right %", justify="right")
    for place, (label, row) in enumerate(zip(classes, counts, strict=True)):
        share = f"{100 * row[place] / sum(row):.1f}" if sum(row) else "-"
        table.add_row(output.escaped(label), *(f"{count:,}" for count in row), share)
    return table

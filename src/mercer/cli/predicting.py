"""`mercer predict`."""

from __future__ import annotations

import contextlib
import csv
import io
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer._version import __version__
from mercer.cli import output as out
from mercer.cli.loading import model_at, read_for
from mercer.inputs.base import Objects
from mercer.jobs import calibration
from mercer.jobs.trained import TrainedModel
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.storage.atomic import replacing

_BLOCK = 500
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def run(
    path: str,
    data_path: str,
    reading: Options,
    *,
    output: str | None,
    reasons: int,
    decisions: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Predict block by block; what is computed is written at once."""
    model = model_at(path)
    data = read_for(model, data_path, reading, labelled=False)
    blocks = predictions(model, data, reasons=reasons, decisions=decisions)
    if as_json:
        rows = [row for block in blocks for row in block]
        strange = sum(row["unlike_training"] for row in rows)
        out.write_json(
            {
                "command": "predict",
                "version": __version__,
                "model": path,
                "data": data.name,
                "objects": len(rows),
                "unlike_training": strange,
                "predictions": rows,
            }
        )
        return
    with replacing(output) if output is not None else contextlib.nullcontext() as stream:
        strange = _write(blocks, model, stream, reasons=reasons, decisions=decisions)
    if strange and not quiet:
        print(
            f"note: {strange:,} of {len(data):,} objects are unlike anything in training: trust them less",
            file=sys.stderr,
        )


def predictions(model: TrainedModel, data: Data, *, reasons: int, decisions: bool) -> Iterator[list[dict[str, Any]]]:
    """Blocks of predictions as plain values."""
    objects = model.objects(data)
    for start in range(0, len(data), _BLOCK):
        index = np.arange(start, min(start + _BLOCK, len(data)))
        part = objects.take(index) if isinstance(objects, Objects) else objects[index]
        predicted = model.estimator.predict(part)
        across = model.similarities(part)
        strange = model.strange(part, across)
        values = model.decisions(part) if model.task == "classification" else None
        chances = (
            calibration.probabilities(model.calibration, values)
            if values is not None and model.calibration.size
            else None
        )
        why = model.reasons(across, predicted, reasons) if reasons else [[] for _ in index]
        block = []
        for place, row in enumerate(index):
            told: dict[str, Any] = {"object": data.name_of(int(row)), "prediction": _plain(predicted[place])}
            if chances is not None and model.classes is not None:
                told["probabilities"] = {
                    str(label): float(chance) for label, chance in zip(model.classes, chances[place], strict=True)
                }
            if decisions and values is not None:
                told["decisions"] = [float(value) for value in values[place]]
            told["unlike_training"] = bool(strange[place])
            if reasons:
                told["reasons"] = [
                    {"object": reason.name, "contribution": reason.contribution} for reason in why[place]
                ]
            block.append(told)
        yield block


def _write(
    blocks: Iterator[list[dict[str, Any]]], model: TrainedModel, stream: Any, *, reasons: int, decisions: bool
) -> int:
    strange = 0
    heads: list[str] | None = None
    for block in blocks:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if heads is None:
            heads = _heads(block[0], reasons=reasons)
            writer.writerow([safe(head) for head in heads])
        for row in block:
            strange += row["unlike_training"]
            writer.writerow(_cells(row, reasons=reasons))
        if stream is None:
            sys.stdout.write(text.getvalue())
            sys.stdout.flush()
        else:
            stream.write(text.getvalue().encode())
    return strange


def _heads(row: dict[str, Any], *, reasons: int) -> list[str]:
    chances = [f"probability of {label}" for label in row.get("probabilities", {})]
    values = [f"decision {number + 1}" for number in range(len(row.get("decisions", [])))]
    return ["object", "prediction", *chances, *values, "unlike_training", *(["reasons"] if reasons else [])]


def _cells(row: dict[str, Any], *, reasons: int) -> list[Any]:
    cells = [safe(row["object"]), safe(row["prediction"])]
    cells += [f"{chance:.4f}" for chance in row.get("probabilities", {}).values()]
    cells += [f"{value:.6g}" for value in row.get("decisions", [])]
    cells.append("yes" if row["unlike_training"] else "no")
    if reasons:
        cells.append(safe("; ".join(f"{item['object']} ({item['contribution']:+.3g})" for item in row["reasons"])))
    return cells


def safe(value: Any) -> Any:
    """Text that a spreadsheet would run as a formula gets a quote before it; numbers stay numbers."""
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    from mercer.readers.labels import is_number

    return value if is_number(value) else f"'{value}"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value

"""`mercer predict`."""

from __future__ import annotations

import csv
import io
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._jit import numba_spared
from mercer._version import __version__
from mercer.cli import output
from mercer.cli.failures import Interrupted
from mercer.cli.output import OutputOptions
from mercer.cli.subjects import model_at, reading_for
from mercer.inputs.base import Objects
from mercer.jobs.answers import Columns, answers
from mercer.jobs.trained import TrainedModel
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.problems import count
from mercer.readers.streaming import stream
from mercer.storage.atomic import replacing

_ROWS = 500
"""How many objects are predicted at a time: lines appear soon, and a block is large enough for fast products."""
_ENTRIES = 10_000_000
"""The most kernel values of a block, 80 MB, if there are many support objects."""
_IN_MEMORY = 1 << 24
"""Predictions as JSON go to a temporary file beyond 16 MiB."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def run(path: str, data_path: str, reading: Options, file: str | None, columns: Columns, wanted: OutputOptions) -> None:
    """Predict block by block: each is read, predicted, written and discarded."""
    model = model_at(path)
    columns.check(model)
    reading = reading_for(model, data_path, reading, labelled=False)
    if wanted.show_code:
        from mercer.jobs.code import predicting

        output.write_code("predict", predicting(path, data_path, reading), wanted)
        return
    tally = Tally()
    blocks = predictions(model, stream(data_path, reading), tally, columns)
    try:
        if file is not None:
            with replacing(file) as target:
                for text in table(blocks):
                    target.write(text.encode())
        elif not wanted.as_json:
            shown = output.visible if output.on_terminal() else str
            for text in table(blocks):
                sys.stdout.write(shown(text))
                sys.stdout.flush()
        if wanted.as_json:
            _write_json(path, file, blocks, tally)
    except KeyboardInterrupt as error:
        done = f"{tally.objects:,} objects were predicted"
        kept = "nothing was written" if file is not None or wanted.as_json else "their lines are complete"
        raise Interrupted("interrupted", f"{done}, {kept}. The same command starts from the beginning.") from error
    if tally.unlike and not wanted.quiet:
        how_many = f"{tally.unlike:,} of {count(tally.objects, 'object')} {'is' if tally.unlike == 1 else 'are'}"
        print(f"note: {how_many} unlike anything in training: trust such predictions less", file=sys.stderr)


@final
@dataclass
class Tally:
    """What has been predicted so far."""

    data: str = ""
    objects: int = 0
    unlike: int = 0
    """The number of objects unlike anything in training."""


def predictions(
    model: TrainedModel, parts: Iterable[Data], tally: Tally, columns: Columns
) -> Iterator[list[dict[str, Any]]]:
    """Blocks of predictions as plain values."""
    most = max(1, min(_ROWS, _ENTRIES // max(len(model.support_names), 1)))
    for data in parts:
        tally.data = data.name
        with numba_spared(len(data) * len(model.support_names)):
            objects = model.objects(data)
        for start in range(0, len(data), most):
            index = np.arange(start, min(start + most, len(data)))
            part = objects.take(index) if isinstance(objects, Objects) else objects[index]
            with numba_spared(len(data) * len(model.support_names)):
                block = answers(model, part, [data.name_of(int(row)) for row in index], columns)
            tally.objects += len(block)
            tally.unlike += sum(row["unlike_training"] for row in block)
            yield block


def table(blocks: Iterable[list[dict[str, Any]]]) -> Iterator[str]:
    """Lines of CSV, one block at a time."""
    headed = False
    for block in blocks:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        rows = [_cells(row) for row in block]
        if not headed:
            writer.writerow(map(safe, rows[0]))
            headed = True
        writer.writerows(map(safe, row.values()) for row in rows)
        yield text.getvalue()


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    """The cells of an object by the names of their columns."""
    cells = {"object": row["object"], "prediction": row["prediction"]}
    cells |= {f"probability of {label}": f"{chance:.4f}" for label, chance in row.get("probabilities", {}).items()}
    for number, choice in enumerate(row.get("top", ()), 1):
        cells |= {f"choice {number}": choice["label"], f"probability {number}": f"{choice['probability']:.4f}"}
    cells |= {name: row[name] for name in ("low", "high") if name in row}
    cells |= {f"decision {number}": f"{value:.6g}" for number, value in enumerate(row.get("decisions", ()), 1)}
    cells["unlike_training"] = "yes" if row["unlike_training"] else "no"
    to = f" ({row['contributions']})" if "contributions" in row else ""
    if "reasons" in row:
        cells[f"reasons{to}"] = "; ".join(f"{item['object']} ({item['contribution']:+.3g})" for item in row["reasons"])
    if "columns" in row:
        cells[f"columns{to}"] = "; ".join(f"{item['column']} ({item['contribution']:+.3g})" for item in row["columns"])
    return cells


def _write_json(path: str, file: str | None, blocks: Iterable[list[dict[str, Any]]], tally: Tally) -> None:
    """Print one JSON object once everything is predicted: an incomplete object could not be parsed."""
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, mode="w+", encoding="utf-8") as held:
        for number, row in enumerate(row for block in blocks for row in block):
            held.write((",\n    " if number else "\n    ") + output.json_of(row, indent=None))
        about = {"command": "predict", "version": __version__, "model": path, "output": file, "data": tally.data}
        head = {**about, "objects": tally.objects, "unlike_training": tally.unlike}
        if file is not None:
            output.write_json(head)
            return
        opening = output.json_of({"schema_version": output.SCHEMA_VERSION, **head}).removesuffix("\n}")
        sys.stdout.write(f'{opening},\n  "predictions": [')
        held.seek(0)
        shutil.copyfileobj(held, sys.stdout)
        print("\n  ]\n}" if tally.objects else "]\n}")


def safe(value: Any) -> Any:
    """Put a quote before text that a spreadsheet would run as a formula; numbers stay numbers."""
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    from mercer.readers.cells import is_number

    return value if is_number(value) else f"'{value}"

"""The answers of a served model, independent of the protocol: bytes in, plain values out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from mercer._version import __version__
from mercer.errors import InputError
from mercer.jobs.answers import Columns, answers
from mercer.jobs.preparation import OBJECT
from mercer.jobs.trained import TrainedModel
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.reading import read_source
from mercer.readers.source import Source

_SHAPE = 'Send {"rows": [{"column": value, ...}, ...]} for a table, or {"objects": [...]} for anything else.'


@final
@dataclass(frozen=True, eq=False)
class Service:
    """One model, with a limit on the size of a request."""

    model: TrainedModel
    columns: Columns = field(default_factory=Columns)
    most_rows: int = 10_000

    def health(self) -> dict[str, Any]:
        """Report that the model is loaded."""
        return {"status": "ok", "mercer": __version__, "task": self.model.task, "target": self.model.about["target"]}

    def schema(self) -> dict[str, Any]:
        """Describe what to send, and what is returned."""
        model, prepared = self.model, self.model.preparation
        return {
            "kind": prepared.kind,
            "task": model.task,
            "target": model.about["target"],
            "classes": None if model.classes is None else [str(label) for label in model.classes],
            "columns": [{"name": name, "kind": kind} for name, kind in prepared.columns if kind != OBJECT],
            "most_rows": self.most_rows,
            "send": _SHAPE,
            "score": model.about["score"],
        }

    def from_json(self, body: bytes) -> list[dict[str, Any]]:
        """Predictions for the objects in a JSON body."""
        try:
            found = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise InputError(f"The body is not JSON: {error}. {_SHAPE}") from error
        given = found.get("rows", found.get("objects")) if isinstance(found, dict) else found
        if not isinstance(given, list) or not given:
            raise InputError(f"The body contains no list of objects. {_SHAPE}")
        self._check_number(len(given))
        if self.model.preparation.kind != "table":
            return self._answers(self.model.objects(given), [str(number) for number in range(1, len(given) + 1)])
        return self._of_rows(given)

    def from_csv(self, body: bytes) -> list[dict[str, Any]]:
        """Predictions for the rows of a CSV body with a header."""
        if self.model.preparation.kind != "table":
            raise InputError(f"This model does not take tables. {_SHAPE}")
        options = self.model.preparation.reading(Options(require_target=False, header=True, id=self.model.about["id"]))
        data = read_source(Source("body", body), "csv", options)
        self._check_number(len(data))
        return self._of_data(data)

    def _of_rows(self, rows: Sequence[Any]) -> list[dict[str, Any]]:
        if not all(isinstance(row, Mapping) for row in rows):
            raise InputError(f"A row is not an object with a value for each column. {_SHAPE}")
        names = [name for name, _ in self.model.preparation.columns]
        absent = [name for name in names if not any(name in row for row in rows)]
        if absent:
            raise InputError(f"No row has the column {absent[0]!r}, which the model was trained with.")
        columns = {name: [row.get(name) for row in rows] for name in names}
        nested = next((name for name in names for value in columns[name] if isinstance(value, list | dict)), None)
        if nested is not None:
            raise InputError(f"The column {nested!r} holds a list or an object, not a number or text.")
        return self._answers(self.model.objects(columns), [str(number) for number in range(1, len(rows) + 1)])

    def _of_data(self, data: Data) -> list[dict[str, Any]]:
        return self._answers(self.model.objects(data), [data.name_of(row) for row in range(len(data))])

    def _answers(self, objects: Any, names: list[str]) -> list[dict[str, Any]]:
        return answers(self.model, objects, names, self.columns)

    def _check_number(self, number: int) -> None:
        if number > self.most_rows:
            raise InputError(
                f"The request has {number:,} objects; at most {self.most_rows:,} are allowed. Send them in parts."
            )


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Predictions as a table: the object, the prediction, and the probability of each class."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    flat = [_flat(row) for row in rows]
    writer.writerow(flat[0])
    writer.writerows(row.values() for row in flat)
    return text.getvalue()


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    cells = {name: value for name, value in row.items() if not isinstance(value, dict | list)}
    return cells | {f"probability of {label}": chance for label, chance in row.get("probabilities", {}).items()}

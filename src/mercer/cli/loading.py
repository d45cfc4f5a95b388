"""Models and the files that they are to be used on."""

from __future__ import annotations

import dataclasses
from typing import Any

from mercer.errors import ModelFileError
from mercer.jobs.trained import TrainedModel
from mercer.readers.data import CATEGORY, SEQUENCE, SMILES, TEXT, Data
from mercer.readers.options import Options
from mercer.readers.reading import read
from mercer.storage import load


def model_at(path: str) -> TrainedModel:
    """A model that `mercer fit` wrote; others know nothing of files."""
    model: Any = load(path)
    if not isinstance(model, TrainedModel):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__} that was saved from Python and does not say how files are to be "
            "read for it. Use it from Python, with mercer.load."
        )
    return model


def read_for(model: TrainedModel, path: str, reading: Options, *, labelled: bool) -> Data:
    """A file, read as the one that the model was trained on: same kinds of columns, same target."""
    target = reading.target or (model.about["target"] if model.preparation.kind == "table" else None)
    prepared = model.preparation
    told = dataclasses.replace(
        reading,
        target=target,
        require_target=labelled,
        id=reading.id or (model.about.get("id") if not labelled else None),
        categories=(*reading.categories, *prepared.names(CATEGORY)),
        text=(*reading.text, *prepared.names(TEXT, SEQUENCE)),
        smiles=(*reading.smiles, *prepared.names(SMILES)),
        format=reading.format or _format(model, path),
    )
    return read(path, told)


def _format(model: TrainedModel, path: str) -> str | None:
    """Text on stdin or without a telling suffix is read in the model's format."""
    known = str(model.about["format"])
    if model.preparation.kind == "gram":
        return "gram"
    if known in ("text", "labelled-text") and path.endswith(".txt"):
        return "labelled-text"
    return known if path == "-" and known not in ("tu", "folder") else None

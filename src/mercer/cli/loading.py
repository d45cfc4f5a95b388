"""Models, and how to read the files that they are used on."""

from __future__ import annotations

import dataclasses
from typing import Any

from mercer.errors import ModelFileError
from mercer.jobs.trained import TrainedModel
from mercer.readers.data import CATEGORY, NUMBER, SEQUENCE, SMILES, TEXT, TREE
from mercer.readers.options import Options
from mercer.storage import load


def model_at(path: str) -> TrainedModel:
    """A model written by `mercer fit`; others do not know how to read files."""
    model: Any = load(path)
    if not isinstance(model, TrainedModel):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__} that was saved from Python and does not know how to read files. "
            "Use it from Python, with mercer.load."
        )
    return model


def reading_for(model: TrainedModel, path: str, reading: Options, *, labelled: bool) -> Options:
    """Options to read a file like the one that the model was trained on: same columns, same kinds, same target."""
    prepared = model.preparation
    target = reading.target or (model.about["target"] if prepared.kind == "table" else None)
    return dataclasses.replace(
        reading,
        target=target,
        require_target=labelled,
        id=reading.id or (model.about.get("id") if not labelled else None),
        categories=(*reading.categories, *prepared.names(CATEGORY)),
        text=(*reading.text, *prepared.names(TEXT, SEQUENCE)),
        smiles=(*reading.smiles, *prepared.names(SMILES)),
        trees=(*reading.trees, *prepared.names(TREE)),
        numbers=(*reading.numbers, *prepared.names(NUMBER)),
        only=tuple(name for name, _ in prepared.columns) if prepared.kind == "table" else (),
        first_index=first if (first := model.about.get("first_index")) in (0, 1) else None,
        format=reading.format or _format(model, path),
    )


def _format(model: TrainedModel, path: str) -> str | None:
    """Text from stdin, or with a suffix that does not tell, is read in the format of the model."""
    known = str(model.about["format"])
    if model.preparation.kind == "gram":
        return "gram"
    if known in ("text", "labelled-text") and path.endswith(".txt"):
        return "labelled-text"
    return known if path == "-" and known not in ("tu", "folder") else None

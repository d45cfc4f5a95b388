"""What an argument refers to (a file of data, a model file or a kernel), and how a model reads files."""

from __future__ import annotations

import dataclasses
import os
import zipfile
from typing import TYPE_CHECKING, Any

from mercer._registry import KERNELS
from mercer.errors import MercerError, ModelFileError
from mercer.readers.options import Options

if TYPE_CHECKING:
    from mercer.jobs.trained import TrainedModel

DATA, MODEL, KERNEL = "data", "model", "kernel"


# Modules that only models and kernels need are imported where they are used: describing a data file needs no
# scikit-learn.


def subject_of(given: str) -> str:
    """Determine which of them it is: files by their content; anything else may be an expression."""
    if given == "-" or os.path.exists(given):
        return MODEL if _is_model(given) else DATA
    return KERNEL if _is_kernel(given) else DATA


def _is_model(path: str) -> bool:
    if not path.endswith(".mercer") and not (os.path.isfile(path) and zipfile.is_zipfile(path)):
        return False
    from mercer.storage.format import HEADER

    try:
        with zipfile.ZipFile(path) as archive:
            return HEADER in archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError):
        return path.endswith(".mercer")  # a damaged model is still a model: loading it reports what is wrong


def _is_kernel(text: str) -> bool:
    if os.sep in text or text.startswith("."):
        return False
    from mercer.kernels.text.expression import parse

    try:
        parse(text)
    except MercerError:
        return "(" in text or text in {
            entry.text for entry in KERNELS.values()
        }  # parsing it again reports what is wrong
    return True


def model_at(path: str) -> TrainedModel:
    """Load a model written by `mercer fit`; others do not know how to read files."""
    return trained(loaded(path), path)


def loaded(path: str) -> Any:
    """Load a model file. To check it, the kernel compares two of its objects, for which NumPy is fast enough."""
    from mercer._jit import numba_spared
    from mercer.storage import load

    with numba_spared(0):
        return load(path)


def trained(model: Any, path: str) -> TrainedModel:
    """The loaded model, if `mercer fit` wrote it."""
    from mercer.jobs.trained import TrainedModel

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
    alike = dataclasses.replace(
        reading,
        target=target,
        require_target=labelled,
        id=reading.id or (model.about.get("id") if not labelled else None),
        whole_files=model.about.get("whole_files"),
        first_index=first if (first := model.about.get("first_index")) in (0, 1) else None,
        format=reading.format or _format(model, path),
        class_names=reading.class_names or _class_names(model),
    )
    return prepared.reading(alike)


def _class_names(model: TrainedModel) -> tuple[tuple[str, str], ...]:
    """The names that the model uses for the labels in files."""
    return tuple((str(label), str(name)) for label, name in model.about.get("class_names") or ())


def _format(model: TrainedModel, path: str) -> str | None:
    """The format of the model for text from stdin, or for files whose suffix implies no format."""
    known = str(model.about["format"])
    if model.preparation.kind == "gram":
        return "gram"
    if model.about.get("whole_files") and not os.path.isdir(path):
        return "text"
    if known in ("text", "labelled-text") and path.endswith(".txt"):
        return "labelled-text"
    return known if path == "-" and known not in ("tu", "folder") else None

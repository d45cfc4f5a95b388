"""`mercer info`."""

from __future__ import annotations

from typing import Any

from mercer.cli import output
from mercer.cli.output import OutputOptions
from mercer.jobs.preparation import OBJECT
from mercer.jobs.trained import TrainedModel
from mercer.storage import load


def run(path: str, wanted: OutputOptions, command: str = "info") -> None:
    """What a model file holds, and how it was trained."""
    model: Any = load(path)
    found = {"model": path, **(_of_file(model) if isinstance(model, TrainedModel) else _of_estimator(model))}
    if wanted.as_json:
        output.write_result(command, found)
        return
    for key, value in found.items():
        text = _text(value)
        if text and key != "versions":
            output.write_text(f"{key.replace('_', ' ')}: {text}")


def _of_file(model: TrainedModel) -> dict[str, Any]:
    about = dict(model.about)
    about["trained_by"] = about.pop("command", "")
    proof = model.estimator.certificate_
    return {
        "estimator": type(model.estimator).__name__,
        **about,
        "classes": None if model.classes is None else [str(label) for label in model.classes],
        "columns": [{"name": name, "kind": kind} for name, kind in model.preparation.columns if kind != OBJECT],
        "certificate": {**output.certificate_as_json(proof), "precision": proof.dtype},
    }


def _of_estimator(model: Any) -> dict[str, Any]:
    parameters = {key: str(value) for key, value in model.get_params(deep=False).items()}
    return {"estimator": type(model).__name__, "parameters": parameters}


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {f'{item:.4g}' if isinstance(item, float) else item}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(f"{item['name']} ({item['kind']})" if isinstance(item, dict) else str(item) for item in value)
    return "" if value is None else str(value)

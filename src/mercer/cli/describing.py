"""`mercer info`."""

from __future__ import annotations

from typing import Any

from mercer._version import __version__
from mercer.cli import output
from mercer.jobs.preparation import OBJECT
from mercer.jobs.trained import TrainedModel
from mercer.storage import load


def run(path: str, *, as_json: bool, command: str = "info") -> None:
    """What a model file holds, and how it came about."""
    model: Any = load(path)
    told: dict[str, Any] = {"model": path, "estimator": type(model).__name__}
    if isinstance(model, TrainedModel):
        about = dict(model.about)
        about["trained_by"] = about.pop("command", "")
        told |= {"estimator": type(model.estimator).__name__, **about}
        told["classes"] = None if model.classes is None else [str(label) for label in model.classes]
        told["columns"] = [{"name": name, "kind": kind} for name, kind in model.preparation.columns if kind != OBJECT]
        proof = model.estimator.certificate_
        told["certificate"] = {
            "primal": proof.primal,
            "dual": proof.dual,
            "kkt_violation": proof.kkt_violation,
            "margin": proof.margin,
            "precision": proof.dtype,
        }
    else:
        told["parameters"] = {key: str(value) for key, value in model.get_params(deep=False).items()}
    if as_json:
        output.write_json({"command": command, "version": __version__, **told})
        return
    for key, value in told.items():
        if value is None or value == "" or key == "versions":
            continue
        if key == "columns":
            value = ", ".join(f"{item['name']} ({item['kind']})" for item in value) or None
        elif isinstance(value, dict):
            value = ", ".join(
                f"{name} {item:.4g}" if isinstance(item, float) else f"{name} {item}" for name, item in value.items()
            )
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        if value:
            output.write_text(f"{key.replace('_', ' ')}: {value}")

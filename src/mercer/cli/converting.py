"""`mercer convert`."""

from __future__ import annotations

from typing import Any

from mercer.cli import output
from mercer.cli.failures import UsageError
from mercer.cli.output import OutputOptions
from mercer.errors import InputError
from mercer.estimators.svc import SVC
from mercer.jobs.trained import TrainedModel
from mercer.storage import load, save
from mercer.storage.libsvm import from_libsvm, to_libsvm

_ZIP = b"PK"


def run(source: str, target: str, wanted: OutputOptions) -> None:
    """Convert a model from LIBSVM, or to it, depending on the first file."""
    try:
        with open(source, "rb") as stream:
            ours = stream.read(2) == _ZIP
    except OSError as error:
        raise UsageError(f"cannot read {source}: {error.strerror}") from error
    if ours:
        to_libsvm(_machine(load(source)), target)
    else:
        save(from_libsvm(source), target)
    form = "libsvm" if ours else "mercer"
    if wanted.as_json:
        output.write_result("convert", {"from": source, "to": target, "format": form})
    else:
        print(f"{form} model: {target}")


def _machine(model: Any) -> SVC:
    if isinstance(model, TrainedModel):
        if model.preparation.standardised:
            raise InputError(
                "The model standardises its numbers, which LIBSVM's files cannot hold. Train with --no-scale, on "
                "numbers that are scaled already."
            )
        model = model.estimator
    if not isinstance(model, SVC):
        raise InputError(f"LIBSVM's files hold classifiers; this is a {type(model).__name__}.")
    return model

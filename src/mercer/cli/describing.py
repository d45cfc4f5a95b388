"""`mercer info` and `mercer check`: what a model file or a file of data holds."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from mercer.cli import output
from mercer.cli.output import OutputOptions
from mercer.cli.subjects import KERNEL, MODEL, loaded, subject_of
from mercer.jobs.summary import NOUNS, summary
from mercer.readers.options import Options
from mercer.readers.problems import count
from mercer.readers.reading import read

if TYPE_CHECKING:
    from mercer.jobs.trained import TrainedModel

_LISTED = 200  # columns of a table that are listed: more than anybody reads, and quickly printed
_LONGEST_NAME = 60  # characters of the name of a column: longer ones push its kind and values off the line


def info(path: str, wanted: OutputOptions, command: str = "info", *, card: bool = False) -> None:
    """What a model file holds, and how it was trained."""
    from mercer.jobs.trained import TrainedModel

    model: Any = loaded(path)
    if command == "check":
        _put_together(model)
    if card:
        _print_card(model, path, wanted)
        return
    found = {
        "model": path,
        **(_of_file(model) if isinstance(model, TrainedModel) else _of_estimator(model)),
    }
    if wanted.as_json:
        output.write_result(command, found)
        return
    for key, value in found.items():
        text = _text(value)
        if text and key != "versions":
            output.write_text(f"{key.replace('_', ' ')}: {text}")


def _print_card(model: Any, path: str, wanted: OutputOptions) -> None:
    from mercer.cli.subjects import trained
    from mercer.jobs.card import card

    text = card(trained(model, path), path)
    if wanted.as_json:
        output.write_result("info", {"model": path, "card": text})
    else:
        print(text, end="")


def _of_file(model: TrainedModel) -> dict[str, Any]:
    from mercer.jobs.preparation import OBJECT

    about = dict(model.about)
    about["trained_by"] = about.pop("command", "")
    proof = model.machine.certificate
    return {
        "estimator": model.machine.name,
        **about,
        "classes": None if model.classes is None else [str(label) for label in model.classes],
        "columns": [{"name": name, "kind": kind} for name, kind in model.preparation.columns if kind != OBJECT],
        "certificate": {**output.certificate_as_json(proof), "precision": proof.dtype, "in_words": str(proof)},
    }


def _of_estimator(model: Any) -> dict[str, Any]:
    parameters = {key: str(value) for key, value in model.get_params(deep=False).items()}
    proof, weights = getattr(model, "certificate_", None), getattr(model, "weights_certificate_", None)
    found: dict[str, Any] = {"estimator": type(model).__name__, "parameters": parameters}
    found["certificate"] = None if proof is None else str(proof)
    if weights is not None:
        found["certificate_of_weights"] = str(weights)
    return found


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {f'{item:.4g}' if isinstance(item, float) else item}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(_item(item) for item in value)
    return "" if value is None else str(value)


def _item(item: Any) -> str:
    """One item of a list: its name, with details in brackets."""
    if isinstance(item, list):
        return " = ".join(map(str, item))
    if not isinstance(item, dict):
        return str(item)
    name, *rest = item.items()
    known = (value if isinstance(value, str) else f"{key} {value:.3g}" for key, value in rest)
    return f"{name[1]} ({', '.join(known)})"


def check(path: str, reading: Options, wanted: OutputOptions) -> None:
    """Read a file as `fit` would, and describe its content; mistakes are errors, as in other commands."""
    kind = subject_of(path)
    if kind == KERNEL:
        from mercer.cli.kernels import explain

        explain(path, wanted)
        return
    if kind == MODEL:
        _check_model(path, wanted)
        return
    data = read(path, dataclasses.replace(reading, require_labels=False))
    found = summary(data)
    proof = None
    if data.kind == "gram" and data.objects.shape[0] == data.objects.shape[1]:
        from mercer.theory.mercer import check_mercer

        proof = check_mercer(data.objects)
        found["mercer"] = {"verdict": proof.verdict, "reason": proof.reason, "smallest_eigenvalue": proof.smallest}
    if wanted.as_json:
        output.write_result("check", found)
        return
    print(output.visible(f"{data.name}: {count(len(data), NOUNS[data.kind])} ({data.format})"))
    output.write_notes(data.notes, wanted)
    if data.kind == "table":
        print()
        table = output.new_table("column", "kind", "missing", "content")
        for column in found["columns"][:_LISTED]:
            name, content = output.escaped(_short(column["name"])), output.escaped(column["content"])
            table.add_row(name, column["kind"], f"{column['missing']:,}", content)
        output.write_table(table, fold=True)
        more = len(found["columns"]) - _LISTED
        if more > 0:
            print(f"and {count(more, 'more column')}, which --json lists")
    if proof is not None:
        print()
        output.write_text(proof.reason)
    if data.labels is not None:
        print()
        output.write_text(f"{data.target or 'label'}: {found['labels']['content']}")


def _put_together(model: Any) -> None:
    """Building the estimator checks the parts of a model that predictions do not need."""
    from mercer.jobs.trained import TrainedModel

    if isinstance(model, TrainedModel):
        _ = model.estimator


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."


def _check_model(path: str, wanted: OutputOptions) -> None:
    """Loading is the check: it verifies sizes, types, checksums, classes and the relations between arrays."""
    if wanted.as_json:
        info(path, wanted, command="check")
    elif wanted.quiet:
        _put_together(loaded(path))
        print(f"{path}: intact")
    else:
        info(path, wanted, command="check")
        print()
        output.write_text("The file is intact: every array has the type, size and checksum that its header promises.")

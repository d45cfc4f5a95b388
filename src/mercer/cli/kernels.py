"""`mercer kernels`: the list of kernels, from the registry, and one kernel in full, from its class."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from mercer._check import did_you_mean
from mercer._registry import KERNELS, Entry
from mercer.cli import output
from mercer.cli.failures import UsageError
from mercer.cli.output import OutputOptions


def list_all(wanted: OutputOptions) -> None:
    """Every kernel with its line in the registry, without importing any."""
    if wanted.as_json:
        output.write_json({"kernels": [_brief(entry) for entry in KERNELS.values()]})
        return
    table = output.new_table("kernel", "objects", "value")
    for entry in KERNELS.values():
        table.add_row(output.escaped(entry.text), _kind(entry), output.escaped(entry.summary))
    output.write_table(table, fold=True)


def describe(name: str, wanted: OutputOptions) -> None:
    """One kernel: its formula, parameters and example, as its class documents them."""
    entry = _find(name)
    kernel = entry.load()
    description, example = _documentation(kernel)
    parameters = [_parameter(field) for field in dataclasses.fields(kernel)]
    if wanted.as_json:
        full = {**_brief(entry), "description": description, "parameters": parameters, "example": example}
        output.write_json({"kernel": full})
        return
    arguments = (item["name"] if item["required"] else f"{item['name']}={item['default']}" for item in parameters)
    print(f"kernels.{entry.name}({', '.join(arguments)})")
    print(f"In expressions: {entry.text}. Objects: {_kind(entry)}.")
    for paragraph in description.split("\n\n"):
        print()
        output.write_text(paragraph)
    if example:
        print()
        print(example)


def explain(text: str, wanted: OutputOptions) -> None:
    """A kernel expression: what it compares, its formula, and why it is a kernel."""
    from mercer.kernels.text.expression import parse

    kernel = parse(text)
    told = {
        "expression": str(kernel),
        "python": repr(kernel),
        "objects": kernel.domain.kind,
        "positive_semi_definite": kernel.psd,
        "latex": kernel.latex(),
        "derivation": kernel.derivation(),
    }
    if wanted.as_json:
        output.write_json({"kernel": told})
        return
    print(f"{told['expression']}, on {told['objects']}")
    print(f"Python: {told['python']}")
    print(f"LaTeX: {told['latex']}")
    print()
    print(told["derivation"])


def _find(name: str) -> Entry:
    names = {entry.text: entry for entry in KERNELS.values()} | KERNELS
    folded = {known.lower(): entry for known, entry in names.items()}
    if name.lower() in folded:
        return folded[name.lower()]
    near = did_you_mean(name.lower(), [entry.text for entry in KERNELS.values()])
    raise UsageError(f"there is no kernel {name!r}", f"{near} `mercer kernels` lists them all.".strip())


def _brief(entry: Entry) -> dict[str, Any]:
    return {"name": entry.text, "class": entry.name, "objects": _kind(entry), "summary": entry.summary}


def _kind(entry: Entry) -> str:
    """What a kernel compares, from the package it lives in: mercer.kernels.<kind>.<file>."""
    parts = entry.module.split(".")
    if len(parts) > 3:
        return parts[2]
    return "tables" if parts[2] == "tables" else "any"


def _documentation(kernel: type) -> tuple[str, str]:
    """The paragraphs of a docstring, each on one line, and its example."""
    text, start, example = inspect.cleandoc(kernel.__doc__ or "").partition(">>> ")
    paragraphs = (" ".join(paragraph.replace("`", "").split()) for paragraph in text.strip().split("\n\n"))
    return "\n\n".join(paragraphs), start + example


def _parameter(field: dataclasses.Field[Any]) -> dict[str, Any]:
    required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    return {"name": field.name, "required": required, "default": None if required else repr(field.default)}

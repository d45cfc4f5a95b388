"""The options that say how a file is to be read, shared by every command that reads one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from mercer.readers.formats import FORMATS
from mercer.readers.options import MIB, Options

_PANEL = "How the file is read (all of it is found out otherwise)"


def _option(*names: str, help: str, **more: Any) -> Any:  # noqa: A002
    return typer.Option(*names, help=help, rich_help_panel=_PANEL, **more)


_READING: dict[str, tuple[Any, Any]] = {
    "target": (
        str | None,
        _option("--target", "-t", metavar="COLUMN", help="The column to learn: a name, or a number (-1: the last)."),
    ),
    "drop": (list[str], _option("--drop", metavar="COLUMN", help="Leave a column out.")),
    "category": (list[str], _option("--category", metavar="COLUMN", help="Read a column as categories.")),
    "text": (list[str], _option("--text", metavar="COLUMN", help="Read a column as text.")),
    "smiles": (list[str], _option("--smiles", metavar="COLUMN", help="Read a column as SMILES.")),
    "id": (str | None, _option("--id", metavar="COLUMN", help="The column that names the rows.")),
    "labels": (str | None, _option("--labels", metavar="FILE", help="Labels in a file of their own.")),
    "label_pattern": (
        str | None,
        _option("--label-pattern", metavar="REGEX", help="The label in a FASTA header, as a group."),
    ),
    "format": (str | None, _option("--format", metavar="NAME", help=f"One of {', '.join(FORMATS)}.")),
    "header": (bool | None, _option("--header/--no-header", help="Whether the first line names the columns.")),
    "delimiter": (str | None, _option("--delimiter", metavar="CHARACTER", help="What separates the columns.")),
    "encoding": (str | None, _option("--encoding", metavar="NAME", help="UTF-8 if not said otherwise.")),
    "decimal_comma": (bool, _option("--decimal-comma", help="Read 1,5 as one and a half.")),
    "skip_bad": (bool, _option("--skip-bad", help="Leave out molecules that cannot be read.")),
    "skip_unlabelled": (bool, _option("--skip-unlabelled", help="Leave out rows without a label.")),
    "max_mb": (int, _option("--max-mb", min=1, metavar="MIB", help="Refuse larger files.")),
    "max_features": (int, _option("--max-features", min=1, metavar="NUMBER", help="Refuse files with more columns.")),
}
_DEFAULTS: dict[str, Any] = {"max_mb": 1024, "max_features": 10_000_000}


def reads(command: Callable[..., None]) -> Callable[..., None]:
    """A command with all of these options, which it gets as one `reading`."""
    own = inspect.signature(command, eval_str=True).parameters.values()
    parameters = [parameter for parameter in own if parameter.name != "reading"]
    for name, (kind, option) in _READING.items():
        default = _DEFAULTS.get(name, [] if kind == list[str] else False if kind is bool else None)
        annotation: Any = Annotated[kind, option]
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )

    def wrapped(**values: Any) -> None:
        given = {name: values.pop(name) for name in _READING}
        command(reading=_options(given), **values)

    wrapped.__name__ = command.__name__
    wrapped.__doc__ = command.__doc__
    wrapped.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    )
    return wrapped


def _options(given: dict[str, Any]) -> Options:
    delimiter = given["delimiter"]
    return Options(
        format=given["format"],
        target=given["target"],
        drop=tuple(given["drop"]),
        categories=tuple(given["category"]),
        text=tuple(given["text"]),
        smiles=tuple(given["smiles"]),
        id=given["id"],
        labels=given["labels"],
        label_pattern=given["label_pattern"],
        header=given["header"],
        delimiter="\t" if delimiter in ("\\t", "tab") else delimiter,
        encoding=given["encoding"],
        decimal_comma=given["decimal_comma"],
        skip_bad=given["skip_bad"],
        skip_unlabelled=given["skip_unlabelled"],
        max_bytes=given["max_mb"] * MIB,
        max_features=given["max_features"],
    )

"""Options that several commands share; a command gets each group of them as one record."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, final

import typer

from mercer.cli.output import OutputOptions
from mercer.readers.formats import FORMATS
from mercer.readers.options import MIB, Options

Data = Annotated[str, typer.Argument(metavar="DATA", help="A file, a folder, or - for stdin.")]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model file written by `mercer fit`.")]
Subject = Annotated[
    str, typer.Argument(metavar="WHAT", help="A file of data, a file with a Gram matrix, a model file, or a kernel.")
]


@final
@dataclass(frozen=True)
class Group:
    """Options by name, each with its type and default, and how they become the parameter of a command."""

    parameter: str
    options: dict[str, tuple[Any, Any]]
    """The annotated type and the default of each option."""
    record: Callable[..., Any]

    def only(self, *names: str) -> Group:
        """Some of the options."""
        return replace(self, options={name: self.options[name] for name in names})


def command(*groups: Group) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with all the options of these groups."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        records = {group.parameter for group in groups}
        own = inspect.signature(function, eval_str=True).parameters.values()
        parameters = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own if parameter.name not in records
        ] + [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for group in groups
            for name, (kind, default) in group.options.items()
        ]

        def wrapped(**values: Any) -> None:
            made = {
                group.parameter: group.record(**{name: values.pop(name) for name in group.options}) for group in groups
            }
            function(**values, **made)

        wrapped.__name__, wrapped.__doc__ = function.__name__, function.__doc__
        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return wrapped

    return decorate


def flag(name: str, help: str) -> tuple[Any, bool]:  # noqa: A002
    return Annotated[bool, typer.Option(name, help=help)], False


def _value(kind: Any, name: str, metavar: str, help: str, default: Any = None, **more: Any) -> tuple[Any, Any]:  # noqa: A002
    names = [name, *more.pop("also", ())]
    return Annotated[kind, typer.Option(*names, metavar=metavar, help=help, **more)], default


def _columns(name: str, help: str) -> tuple[Any, list[str]]:  # noqa: A002
    return _value(list[str], name, "COLUMN", help, [])


def _plan(no_scale: bool = False, **chosen: Any) -> Any:
    from mercer.jobs.problem import Plan

    return Plan(scale=not no_scale, **chosen)


def _output(json: bool = False, quiet: bool = False, show_code: bool = False, debug: bool = False) -> OutputOptions:
    del debug  # read from the arguments by `app.run`, since an error may keep them from being parsed
    return OutputOptions(json, quiet, show_code)


def _reading(delimiter: str | None, category: list[str], max_mb: int, **given: Any) -> Options:
    found: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    separator = "\t" if delimiter in ("\\t", "tab") else delimiter
    return Options(delimiter=separator, categories=tuple(category), max_bytes=max_mb * MIB, **found)


SEED = _value(int, "--seed", "NUMBER", "Seed for random folds and samples.", 0, min=0)
PLAN = Group(
    "plan",
    {
        "kernel": _value(
            str, "--kernel", "EXPRESSION", "The kernel to use, instead of searching for one.", "auto", also=["-k"]
        ),
        "task": _value(str, "--task", "NAME", "The task: auto, classification or regression.", "auto"),
        "C": _value(
            float | None,
            "--C",
            "NUMBER",
            "The penalty C (for ridge regression: alpha) to use, instead of searching.",
            min=1e-12,
        ),
        "folds": _value(int, "--folds", "NUMBER", "Number of folds of the cross-validation.", 5, min=2, max=100),
        "seed": SEED,
        "time_limit": _value(
            float | None,
            "--time-limit",
            "SECONDS",
            "End the search after this long, with the best kernel so far.",
            min=0.1,
        ),
        "search_size": _value(
            int | None,
            "--search-size",
            "NUMBER",
            "Compare kernels on at most this many objects. The default is 2,000 to 20,000, depending on the cost.",
            min=10,
        ),
        "no_scale": flag("--no-scale", "Do not standardise numbers."),
        "impute": flag("--impute", "Fill in missing values instead of reporting them as an error."),
        "balanced": flag("--balanced", "Give all classes the same total weight, however rare they are."),
    },
    _plan,
)
OUTPUT = Group(
    "output",
    {
        "show_code": flag("--show-code", "Only print Python code that does the same."),
        "json": flag("--json", "Print one JSON object instead of text."),
        "quiet": (Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no notes.")], False),
        "debug": flag("--debug", "Show the traceback of an error."),
    },
    _output,
)
READING = Group(
    "reading",
    {
        "target": _value(
            str | None,
            "--target",
            "COLUMN",
            "The column to predict: its name, or its number (-1 for the last).",
            also=["-t"],
        ),
        "drop": _columns("--drop", "Ignore this column; may be repeated."),
        "category": _columns("--category", "Read this column as categories; may be repeated."),
        "text": _columns("--text", "Read this column as text; may be repeated."),
        "smiles": _columns("--smiles", "Read this column as SMILES; may be repeated."),
        "id": _value(str | None, "--id", "COLUMN", "The column that names the rows."),
        "labels": _value(str | None, "--labels", "FILE", "A separate file with the labels."),
        "label_pattern": _value(
            str | None,
            "--label-pattern",
            "REGEX",
            "A regular expression whose group matches the label in a FASTA header.",
        ),
        "format": _value(str | None, "--format", "NAME", f"The format, if it is not recognised: {', '.join(FORMATS)}."),
        "header": (
            Annotated[
                bool | None,
                typer.Option("--header/--no-header", help="Whether the first line holds the names of the columns."),
            ],
            None,
        ),
        "delimiter": _value(str | None, "--delimiter", "CHARACTER", "The character that separates columns."),
        "encoding": _value(str | None, "--encoding", "NAME", "The encoding of the file. The default is UTF-8."),
        "decimal_comma": flag("--decimal-comma", "Read 1,5 as the number 1.5."),
        "skip_bad": flag("--skip-bad", "Skip molecules that cannot be read."),
        "skip_unlabelled": flag("--skip-unlabelled", "Skip rows without a label."),
        "max_mb": _value(int, "--max-mb", "MIB", "Refuse files larger than this.", 1024, min=1),
        "max_features": _value(
            int, "--max-features", "NUMBER", "Refuse files with more columns than this.", 10_000_000, min=1
        ),
    },
    _reading,
)

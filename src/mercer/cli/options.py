"""Options that several commands share; a command gets each group of them as one record."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, final

import typer

from mercer.cli.output import OutputOptions
from mercer.errors import ParameterError
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
    """Options by name, with types and defaults, and how they are combined into one parameter of a command."""

    parameter: str
    options: dict[str, tuple[Any, Any]]
    """The annotated type and the default of each option."""
    record: Callable[..., Any]

    def only(self, *names: str) -> Group:
        """Some of the options."""
        return replace(self, options={name: self.options[name] for name in names})

    def without(self, name: str) -> Group:
        """All options but one."""
        return self.only(*(known for known in self.options if known != name))

    def changed(self, **options: tuple[Any, Any]) -> Group:
        """The same options, with another type, default or help text for some."""
        return replace(self, options=self.options | options)


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


def option(
    kind: Any,
    help: str,  # noqa: A002
    metavar: str | None = None,
    default: Any = None,
    *names: str,
    **more: Any,
) -> tuple[Any, Any]:
    """The type and the default of an option, which has the name of its parameter unless `names` are given."""
    return Annotated[kind, typer.Option(*names, metavar=metavar, help=help, **more)], default


def flag(help: str, *names: str) -> tuple[Any, bool]:  # noqa: A002
    """An option without a value."""
    return option(bool, help, None, False, *names)


def _plan(no_scale: bool = False, **chosen: Any) -> Any:
    from mercer.jobs.problem import Plan

    return Plan(scale=not no_scale, **chosen)


def _output(json: bool = False, quiet: bool = False, show_code: bool = False, debug: bool = False) -> OutputOptions:
    del debug  # read from the arguments by `app.run`, since an error may keep them from being parsed
    return OutputOptions(json, quiet, show_code)


def _reading(
    delimiter: str | None, category: list[str], max_mb: int, class_name: list[str], target: list[str], **given: Any
) -> Options:
    found: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    separator = "\t" if delimiter in ("\\t", "tab") else delimiter
    return Options(
        delimiter=separator,
        categories=tuple(category),
        max_bytes=max_mb * MIB,
        class_names=tuple(map(_class_name, class_name)),
        target=target[0] if target else None,
        more_targets=tuple(target[1:]),
        **found,
    )


def _class_name(given: str) -> tuple[str, str]:
    label, equals, name = given.partition("=")
    if not equals or not label.strip() or not name.strip():
        raise ParameterError(f"--class-name takes LABEL=NAME, such as 1=survived, not {given!r}.")
    return label.strip(), name.strip()


METRIC = option(
    str,
    "The metric for choosing and judging models: accuracy, balanced_accuracy, auc, f1 (f1=CLASS), log_loss, r2, mae, "
    "rmse or quantile=0.9.",
    "NAME",
    "auto",
)
THRESHOLD = option(
    str | None,
    "Predict this one of two classes from this probability on, instead of 1/2; yes=5:1 if missing a yes "
    "costs five times as much as a false alarm.",
    "CLASS=PROBABILITY",
)
Threshold = THRESHOLD[0]
SEED = option(int, "Seed for random folds and samples.", "NUMBER", 0, min=0)
PLAN = Group(
    "plan",
    {
        "kernel": option(
            str, "The kernel to use, instead of searching for one.", "EXPRESSION", "auto", "--kernel", "-k"
        ),
        "task": option(str, "The task: auto, classification or regression.", "NAME", "auto"),
        "C": option(
            float | None, "The penalty C (alpha, for ridge regression) to use.", "NUMBER", None, "--C", min=1e-12
        ),
        "folds": option(int, "Number of folds of the cross-validation.", "NUMBER", 5, min=2, max=100),
        "seed": SEED,
        "time_limit": option(
            float | None, "End the search after this long, with the best kernel so far.", "SECONDS", min=0.1
        ),
        "search_size": option(
            int | None,
            "Compare kernels on at most this many objects. The default is 2,000 to 20,000, depending on the cost.",
            "NUMBER",
            min=10,
        ),
        "no_scale": flag("Do not standardise numbers.", "--no-scale"),
        "impute": option(
            bool,
            "Fill missing values (numbers by the median, categories by a new category), or refuse them.",
            None,
            True,
        ),
        "balanced": flag("Give all classes the same total weight, however rare they are.", "--balanced"),
        "metric": METRIC,
        "threshold": THRESHOLD,
        "memory": option(
            float | None,
            "Memory for the data, in addition to the program itself; `fit` reads files that need more in pieces. The "
            "default is half of the free memory.",
            "MIB",
            min=16,
        ),
    },
    _plan,
)
OUTPUT = Group(
    "output",
    {
        "show_code": flag("Only print Python code that does the same.", "--show-code"),
        "json": flag("Print one JSON object instead of text.", "--json"),
        "quiet": flag("Show no progress and no notes.", "--quiet", "-q"),
        "debug": flag("Show the traceback of an error.", "--debug"),
    },
    _output,
)
READING = Group(
    "reading",
    {
        "target": option(
            list[str],
            "The column to predict: its name or number (-1 for the last). `fit` takes several, one after another.",
            "COLUMN",
            [],
            "--target",
            "-t",
        ),
        "drop": option(list[str], "Ignore this column; may be repeated.", "COLUMN", []),
        "group": option(
            str | None,
            "Keep rows with the same value of this column in one fold, such as those of a patient.",
            "COLUMN",
        ),
        "time": option(
            str | None,
            "Test machines on rows that are later, by this column, than those they learnt from.",
            "COLUMN",
        ),
        "weight": option(str | None, "How much each row counts, in training and in scores.", "COLUMN"),
        "class_name": option(list[str], "Rename a class, such as 1=survived; may be repeated.", "LABEL=NAME", []),
        "keep": option(
            list[str],
            "Learn from this column although it seems to number or name the rows; may be repeated.",
            "COLUMN",
            [],
        ),
        "category": option(list[str], "Read this column as categories; may be repeated.", "COLUMN", []),
        "text": option(list[str], "Read this column as text; may be repeated.", "COLUMN", []),
        "smiles": option(list[str], "Read this column as SMILES; may be repeated.", "COLUMN", []),
        "id": option(str | None, "The column that names the rows.", "COLUMN"),
        "labels": option(str | None, "A separate file with the labels.", "FILE"),
        "label_pattern": option(
            str | None, "A regular expression whose group matches the label in a FASTA header.", "REGEX"
        ),
        "format": option(str | None, f"The format, if it is not recognised: {', '.join(FORMATS)}.", "NAME"),
        "sheet": option(str | None, "Which sheet of a spreadsheet, or table of a database.", "NAME"),
        "header": option(bool | None, "Whether the first line holds the names of the columns."),
        "delimiter": option(str | None, "The character that separates columns.", "CHARACTER"),
        "encoding": option(str | None, "The encoding of the file. The default is UTF-8.", "NAME"),
        "decimal_comma": flag("Read 1,5 as the number 1.5.", "--decimal-comma"),
        "skip_bad": flag("Skip molecules that cannot be read.", "--skip-bad"),
        "skip_unlabelled": flag("Skip rows without a label.", "--skip-unlabelled"),
        "max_mb": option(int, "Refuse files larger than this.", "MIB", 1024, min=1),
        "max_features": option(
            int | None,
            "Refuse files with more columns than this. The default is 200,000 for tables, 10,000,000 for matrices.",
            "NUMBER",
            min=1,
        ),
    },
    _reading,
)

"""What goes to stdout: tables on a terminal, plain text through a pipe, one JSON object for programs."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from mercer._progress import silenced
from mercer._version import __version__

if TYPE_CHECKING:
    from rich.table import Table

    from mercer.jobs.metrics import Metric
    from mercer.jobs.problem import Problem
    from mercer.selection.trials import Trial
    from mercer.training.certificate import Certificate

_HIDDEN = {place: f"\\x{place:02x}" for place in (*range(32), *range(127, 160)) if chr(place) not in "\t\n"} | {
    place: f"\\u{place:04x}" for place in (0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""Characters that control a terminal, or change the direction of the text after them."""
_JSON_HIDDEN = {place: f"\\u{place:04x}" for place in _HIDDEN if place > 31}
Cell = tuple[str, *tuple[float, ...]]

SCHEMA_VERSION = 1
"""The version of the JSON objects that commands print; it increases when a key disappears or changes its meaning."""
_KERNEL_WIDTH = 16  # minimum width in characters for the text of a kernel: narrower ones are hard to read
_PAGE = 160  # the width of a table in a pipe, unless its words are wider
_WIDE = 1000  # the width in a pipe, where no text is wrapped: the reading program decides


@final
@dataclass(frozen=True)
class OutputOptions:
    """What a command prints."""

    as_json: bool = False
    quiet: bool = False
    show_code: bool = False

    def progress(self) -> contextlib.AbstractContextManager[None]:
        """Hide progress inside the context, unless it is wanted."""
        return silenced() if self.quiet else contextlib.nullcontext()


def on_terminal() -> bool:
    """Whether stdout is a terminal that can show more than plain text."""
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def visible(text: str) -> str:
    """Text of a file, or its name, made safe for a terminal: control characters are shown instead of executed."""
    return text.translate(_HIDDEN)


def write_json(content: Mapping[str, Any]) -> None:
    """One object, with the version of its schema first."""
    print(json_of({"schema_version": SCHEMA_VERSION, **content}))


def write_result(command: str, content: Mapping[str, Any]) -> None:
    """The result of a command as JSON."""
    write_json({"command": command, "version": __version__, **content})


def write_code(command: str, code: str, output: OutputOptions) -> None:
    """Python code that does the same as a command."""
    if output.as_json:
        write_result(command, {"code": code})
    else:
        print(code)


def write_notes(notes: Sequence[str], output: OutputOptions, *, gap: bool = False) -> None:
    """Notes as a list; with `gap`, an empty line follows."""
    if output.quiet:
        return
    for note in notes:
        write_text(f"- {note}")
    if notes and gap:
        print()


def json_of(content: Mapping[str, Any], *, indent: int | None = 2) -> str:
    """Valid JSON: numbers that are not finite become null."""
    from mercer.theory.showing import plain

    text = json.dumps(plain(content), indent=indent, ensure_ascii=False, allow_nan=False)
    return text.translate(_JSON_HIDDEN)  # JSON escapes the others by itself


def escaped(text: str) -> str:
    """Text for a table, escaped so that nothing in it acts as markup or as a control character."""
    from rich.markup import escape

    return escape(visible(text))


def new_table(*columns: str) -> Table:
    """An empty table: with a rule below the header on a terminal, plain columns in a pipe."""
    from rich import box
    from rich.table import Table

    # Two blanks between columns in both cases; the box of the rule adds one of its own.
    lines, blanks = (box.SIMPLE_HEAD, 1) if on_terminal() else (None, 2)
    padding = (0, blanks, 0, 0)
    return Table(*columns, box=lines, show_edge=False, pad_edge=False, padding=padding, header_style="bold")


def ranking(problem: Problem, rows: Iterable[tuple[Trial, Sequence[Cell]]], *columns: str) -> Table:
    """A table of kernels, best first: the penalty of each, its score, further columns, and the time it took.

    A cell is a format string, and the scores to insert.
    """
    from mercer.jobs.candidates import short_text

    table = new_table()
    table.add_column("kernel", overflow="fold", min_width=_KERNEL_WIDTH)
    for column in (problem.learner.penalty, problem.metric.head, *columns, "seconds"):
        table.add_column(column, justify="right", no_wrap=True)
    for trial, cells in rows:
        shown = (cell.format(*map(problem.metric.figure, values)) for cell, *values in cells)
        kernel = escaped(short_text(trial.kernel, problem.preparation))
        table.add_row(kernel, f"{trial.penalty:g}", *shown, f"{trial.seconds:.2f}")
    return table


def write_table(table: Table, *, fold: bool) -> None:
    """Print a table, in colours if the terminal has them (NO_COLOR is honoured).

    On a narrow terminal, `fold` wraps the text of cells; a table whose numbers still do not fit extends past the edge
    rather than losing them. In a pipe, a file or a notebook, only very long cells are wrapped.
    """
    from rich.console import Console

    if on_terminal():
        console = Console(highlight=False)
        needed = console.measure(table, options=console.options.update(width=_WIDE))
        console.width = max(console.width, needed.minimum if fold else needed.maximum)
        console.print(table)
        return
    console = Console(width=_WIDE, color_system=None, force_terminal=False, highlight=False)
    needed = console.measure(table)
    console.width = max(_PAGE, needed.minimum) if fold else _WIDE
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        print(line.rstrip())


def write_text(text: str) -> None:
    """Print a paragraph, wrapped to the width of the terminal."""
    import shutil
    import textwrap

    width = min(shutil.get_terminal_size().columns, 100) if on_terminal() else _WIDE
    print(textwrap.fill(visible(text), width, break_long_words=False, break_on_hyphens=False))


def trial_as_json(trial: Trial, metric: Metric) -> dict[str, Any]:
    """A kernel with its best penalty, and its scores."""
    return {
        "kernel": str(trial.kernel),
        "penalty": trial.penalty,
        "score": metric.sign * trial.score,
        "fold_scores": (metric.sign * trial.fold_scores).tolist(),
        "seconds": trial.seconds,
    }


def certificate_as_json(certificate: Certificate) -> dict[str, Any]:
    """How close a machine is to its optimum."""
    return {name: getattr(certificate, name) for name in ("primal", "dual", "kkt_violation", "margin")}

"""What goes to stdout: tables for people, plain text through a pipe, one JSON object for programs."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mercer._version import __version__

if TYPE_CHECKING:
    from rich.table import Table

SCHEMA_VERSION = 1
KERNEL = 16  # columns that a kernel's text gets at least
_WIDE = 1000  # through a pipe nothing is folded: whoever reads it decides


def on_terminal() -> bool:
    """Whether somebody reads stdout on a terminal that can do more than plain text."""
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def write_json(content: Mapping[str, Any]) -> None:
    """One object with its schema's version first."""
    print(json_of({"schema_version": SCHEMA_VERSION, **content}))


def write_code(command: str, code: str, *, as_json: bool) -> None:
    """Python code that does what a command does, instead of doing it."""
    if as_json:
        write_json({"command": command, "version": __version__, "code": code})
    else:
        print(code)


def json_of(content: Mapping[str, Any], *, indent: int | None = 2) -> str:
    """JSON that every reader takes: what is not a finite number becomes null."""
    return json.dumps(_finite(content), indent=indent, ensure_ascii=False, allow_nan=False)


def new_table() -> Table:
    """An empty table: a rule under the head on a terminal, columns and nothing else through a pipe."""
    from rich import box
    from rich.table import Table

    # Two blanks between columns either way; the rule's box brings one of its own.
    lines, blanks = (box.SIMPLE_HEAD, 1) if on_terminal() else (None, 2)
    return Table(box=lines, show_edge=False, pad_edge=False, padding=(0, blanks, 0, 0), header_style="bold")


def write_table(table: Table, *, fold: bool) -> None:
    """Print a table, in colours only where they are wanted (NO_COLOR is honoured).

    On a narrow terminal `fold` breaks the lines of cells; a table whose numbers do not fit even so runs over the edge
    rather than lose them.
    """
    from rich.console import Console

    if on_terminal():
        console = Console(highlight=False)
        needed = console.measure(table, options=console.options.update(width=_WIDE))
        console.width = max(console.width, needed.minimum if fold else needed.maximum)
        console.print(table)
        return
    console = Console(width=_WIDE, color_system=None, force_terminal=False, highlight=False)
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        print(line.rstrip())


def write_text(text: str) -> None:
    """A paragraph, folded to the terminal; as it is through a pipe."""
    import shutil
    import textwrap

    width = min(shutil.get_terminal_size().columns, 100) if on_terminal() else _WIDE
    print(textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

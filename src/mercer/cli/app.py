"""The commands, and how they start and end.

Commands import what they need when they run: help and the version load neither Numba nor scikit-learn.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NoReturn

import typer

from mercer._version import __version__
from mercer.cli.commands import COMMANDS
from mercer.cli.failures import ExitCode, Failure, Terminated, show_traceback


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # a stream that was replaced or is closed
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # characters that a terminal lacks are no error
    try:
        with warnings.catch_warnings(), _ended_by_sigterm():
            warnings.showwarning = _show_warning
            code = _application()(list(arguments), prog_name="mercer", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe, as in `mercer kernels | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # otherwise Python complains again at exit
        return ExitCode.UNEXPECTED
    except (Exception, KeyboardInterrupt) as error:
        failure = _failure(error)
        if "--debug" in arguments:
            show_traceback(error)
        # Read from the raw arguments, since parsing them may be what failed.
        failure.tell(as_json="--json" in arguments)
        return failure.code
    if code == ExitCode.INTERRUPTED:
        Failure(ExitCode.INTERRUPTED, "interrupted").tell(as_json="--json" in arguments)
    return code if isinstance(code, int) else 0


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Convert SIGTERM to an exception, so that a command cleans up; only the main thread of a process can do this."""

    def end(*_: object) -> NoReturn:
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _failure(error: BaseException) -> Failure:
    if isinstance(error, typer.TyperException):
        return _usage_failure(error.format_message().strip())
    return Failure.of(error)


def _usage_failure(sentence: str) -> Failure:
    """Typer's message, with its suggestion moved to the hint."""
    message, hint = sentence, "`mercer --help` lists the commands, `mercer COMMAND --help` its options."
    for start, end in ((". Did you mean ", "?"), (" (Possible options: ", ")")):
        head, found, suggestion = sentence.partition(start)
        if found:
            message, hint = head, f"Did you mean {suggestion.removesuffix(end)}?"
    return Failure(ExitCode.USAGE, message[:1].lower() + message[1:].rstrip("."), hint)


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    del where, more  # users need not know which line of our source warned
    from mercer.cli.output import visible

    print("warning:", visible(" ".join(str(message).split())), file=sys.stderr)


def _application() -> typer.Typer:
    app = typer.Typer(
        rich_markup_mode=None,  # help is plain text: the same on a terminal, through a pipe and in the docs
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback(invoke_without_command=True)(mercer)
    for command in COMMANDS:
        app.command()(command)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"mercer {__version__}")
        raise typer.Exit


def mercer(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Kernel machines for any data: tables, text, sequences, molecules, graphs, trees.

    \b
    Examples:
      mercer demo
      mercer fit pets.csv --target pet
      mercer predict model.mercer new.csv
    """
    del version, debug
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(ExitCode.USAGE)

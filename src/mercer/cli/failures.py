"""How a command fails: one line that says what is wrong, one that says what to do, and an exit code.

::

    0  done                        4  training did not converge, with --strict 1  unexpected: a bug           5  a model
    file that cannot be used 2  wrong usage               130  interrupted 3  data that cannot be used  143 ended by
    SIGTERM
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from dataclasses import dataclass
from enum import IntEnum
from typing import final

from mercer.errors import MercerError, MissingExtraError, ModelFileError, ParameterError


class ExitCode(IntEnum):
    """The exit code of the process."""

    UNEXPECTED = 1
    USAGE = 2
    DATA = 3
    NOT_CONVERGED = 4
    MODEL_FILE = 5
    INTERRUPTED = 130
    TERMINATED = 143


class UsageError(MercerError):
    """Wrong usage of a command; `hint` says what would be right."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        if hint:
            self.add_note(hint)


def refuse_unknown_task(task: str) -> None:
    """Refuse an unknown task, and list the valid ones."""
    tasks = ("auto", "classification", "regression")
    if task not in tasks:
        raise UsageError(f"there is no task {task!r}", f"Tasks are {', '.join(tasks)}.")


class Interrupted(UsageError):
    """Ctrl-C; the message says what was written and how to continue."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command like Ctrl-C: finished work is kept, unfinished files are removed."""


class NotConverged(UsageError):
    """Training that did not converge, with --strict."""


_CODES = (
    (NotConverged, ExitCode.NOT_CONVERGED),
    (ModelFileError, ExitCode.MODEL_FILE),
    ((UsageError, ParameterError, MissingExtraError), ExitCode.USAGE),
)


@final
@dataclass(frozen=True)
class Failure:
    """What is printed about an exception: its notes are the hints."""

    code: ExitCode
    message: str
    hint: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        if was_interrupted(error):
            ended = was_interrupted(error, Terminated)
            code = ExitCode.TERMINATED if ended else ExitCode.INTERRUPTED
            return cls(code, "terminated" if ended else "interrupted", _hints(error))
        if isinstance(error, MercerError):
            code = next((code for kind, code in _CODES if isinstance(error, kind)), ExitCode.DATA)
            return cls(code, _line(str(error)), _hints(error))
        if isinstance(error, OSError):
            return cls(ExitCode.DATA, _line(str(error)))
        message = _line(f"unexpected {type(error).__name__}: {error}")
        return cls(ExitCode.UNEXPECTED, message, "this is a bug in Mercer; run again with --debug for the traceback")

    def tell(self, *, as_json: bool) -> None:
        """Write `error:` and `hint:` to stderr, one line each; with `as_json` also one object to stdout."""
        from mercer.cli.output import visible

        print(f"error: {visible(self.message)}", file=sys.stderr)
        if self.hint:
            print(f"hint: {visible(self.hint)}", file=sys.stderr)
        if as_json:
            from mercer.cli.output import write_json

            with contextlib.suppress(OSError):  # stdout itself may have failed
                told = {"code": self.code.name.lower(), "message": self.message, "hint": self.hint or None}
                write_json({"error": told})
                sys.stdout.flush()


def was_interrupted(error: BaseException | None, kind: type[KeyboardInterrupt] = KeyboardInterrupt) -> bool:
    """Whether Ctrl-C is the cause: compiled code can wrap the interrupt in an error of its own."""
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False


def show_traceback(error: BaseException) -> None:
    traceback.print_exception(error, file=sys.stderr)


def _hints(error: BaseException) -> str:
    return _line(" ".join(getattr(error, "__notes__", ())))


def _line(text: str) -> str:
    return " ".join(text.split())

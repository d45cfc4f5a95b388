"""The worker at its desk: questions as JSON lines on stdin, answers as JSON lines on stdout, one after the other.

Run as ``python -m mercer.studio.desk``. It ends when its stdin does, so that it never outlives the server.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from mercer.errors import MercerError
from mercer.studio.refusal import Refusal

METHODS: Mapping[str, str] = {
    "picture": "mercer.studio.playground.picture:picture",
    "trace": "mercer.studio.playground.traces:trace",
    "complete": "mercer.studio.playground.typing:completions",
    "parse": "mercer.studio.playground.typing:parsed",
    "pair": "mercer.studio.lab.pair:pair",
    "question": "mercer.studio.lab.question:is_kernel",
    "gram": "mercer.studio.lab.matrix:gram_file",
    "describe": "mercer.studio.workbench.describe:describe",
    "plan": "mercer.studio.workbench.command:asked",
    "sample": "mercer.studio.workbench.samples:write_sample",
    "explain": "mercer.studio.workbench.explain:explain",
    "warm": "mercer.studio.playground.warming:warm",
    "warm_lab": "mercer.studio.lab.warming:warm_lab",
}
"""What may be asked, and the function that answers it."""

_UNEXPECTED = "Something unexpected went wrong ({}). Please report it, with what you did."


def answer(question: str) -> dict[str, Any]:
    """The answer to one line."""
    try:
        asked = json.loads(question)
        function = _function(asked["method"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {"error": Refusal("This question cannot be read.").told()}
    try:
        told = asked.get("told")
        if not isinstance(told, dict):
            raise Refusal("A question is an object of fields.")
        return {"answer": function(told)}
    except MercerError as error:
        return {"error": Refusal.of(error).told()}
    except Exception as error:
        # A page is answered whatever happens; the traceback is for whoever started the server.
        sys.excepthook(type(error), error, error.__traceback__)
        return {"error": {**Refusal(_UNEXPECTED.format(type(error).__name__)).told(), "unexpected": True}}


def _function(method: str) -> Callable[[Mapping[str, Any]], Any]:
    module, _, name = METHODS[method].partition(":")
    function: Callable[[Mapping[str, Any]], Any] = getattr(importlib.import_module(module), name)
    return function


def main() -> None:
    """Answer until stdin ends. What libraries print goes to stderr: stdout belongs to the answers."""
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin, Told(answers))


class Told:
    """The stream of answers, which also announces, once per question, that something is being compiled."""

    def __init__(self, stream: TextIO) -> None:
        from mercer.studio.compiling import tell_when_compiling

        self._stream = stream
        self._silent = True
        tell_when_compiling(self.compiling)

    def compiling(self) -> None:
        """Something is about to be compiled."""
        if self._silent:
            self._silent = False
            self._stream.write(json.dumps({"compiling": True}) + "\n")
            self._stream.flush()

    def write(self, line: str) -> None:
        self._stream.write(line)
        self._silent = True

    def flush(self) -> None:
        self._stream.flush()


def serve(questions: TextIO, answers: TextIO | Told) -> None:
    """One line out for each line in."""
    for question in questions:
        try:
            told = json.dumps(answer(question), allow_nan=False)
        except ValueError:
            told = json.dumps({"error": Refusal("The answer holds a number beyond the largest float.").told()})
        answers.write(f"{told}\n")
        answers.flush()


if __name__ == "__main__":
    main()

"""What a file holds, before anything is learnt from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mercer.errors import DataFileError, InputError
from mercer.jobs.problem import task_of
from mercer.jobs.summary import summary
from mercer.readers.data import Data
from mercer.readers.reading import read
from mercer.studio.refusal import Refusal
from mercer.studio.workbench.command import asked, options_of
from mercer.studio.workbench.objects import shown

_SHOWN = 5
"""The most objects of a file that are shown: enough to see whether it was understood."""
_LINE = re.compile(r"[^:]+:(\d+):")


def describe(told: Mapping[str, Any]) -> dict[str, Any]:
    """Kind, columns, target, the first objects; or what is wrong, with its line."""
    plan = asked(told)
    path = str(told["path"])
    try:
        data = read(path, options_of(plan, labelled=plan["target"] is not None))
    except InputError as error:
        return {"problem": _problem(error)}
    answer: dict[str, Any] = {
        **summary(data),
        "target": data.target,
        "first": _first(data),
        "problem": None,
        "task": None,
    }
    if data.labels is not None:
        notes: list[str] = []
        try:
            answer["task"] = task_of(data.labels, plan["task"], notes)
        except InputError as error:
            answer["problem"] = _problem(error)
        answer["notes"] = [*answer["notes"], *notes]
    elif data.kind == "table":
        answer["needs_target"] = True
    else:
        answer["problem"] = {"message": "This file has no labels to learn from.", "line": None}
    return answer


def _first(data: Data) -> list[dict[str, Any]]:
    return [shown(data, row) for row in range(min(_SHOWN, len(data)))]


def _problem(error: InputError) -> dict[str, Any]:
    message = " ".join(f"{Refusal.of(error)} {' '.join(getattr(error, '__notes__', ()))}".split())
    found = _LINE.match(message) if isinstance(error, DataFileError) else None
    return {"message": message, "line": int(found[1]) if found else None}

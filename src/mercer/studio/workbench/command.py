"""What a page asks for: as options of the readers, as a plan, and as the equivalent command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from mercer.errors import MercerError
from mercer.jobs.problem import Plan
from mercer.kernels.text.expression import parse
from mercer.readers.formats import FORMATS
from mercer.readers.options import Options
from mercer.studio import fields
from mercer.studio.refusal import Refusal, refuse

_TASKS = ("auto", "classification", "regression")
_MOST_COLUMNS = 1000
"""The most columns that a page may name: nobody chooses more by hand."""


def asked(told: Mapping[str, Any]) -> dict[str, Any]:
    """A request as plain values, each checked: what plan.json holds."""
    plan: dict[str, Any] = {
        "task": fields.choice(told, "task", _TASKS),
        "kernel": fields.text(told, "kernel", "auto", longest=500) or "auto",
        "seed": fields.whole(told, "seed", 0, low=0, high=2**31 - 1),
        "folds": fields.whole(told, "folds", 5, low=2, high=20),
        "balanced": fields.truth(told, "balanced"),
        "impute": fields.truth(told, "impute"),
        "target": _optional(told, "target"),
        "format": _optional(told, "format"),
        "drop": _names(told, "drop"),
    }
    if plan["kernel"] != "auto":
        try:
            parse(plan["kernel"])
        except MercerError as error:
            raise Refusal.of(error, "kernel") from error
    if plan["format"] is not None and plan["format"] not in FORMATS:
        refuse(f"There is no format {plan['format']!r}.", "format")
    if told.get("time_limit") is not None:
        plan["time_limit"] = fields.number(told, "time_limit", 60.0, low=0.1, high=1e7)
    return plan


def options_of(told: Mapping[str, Any], *, labelled: bool = True) -> Options:
    """How to read the file of a plan."""
    return Options(
        target=told.get("target"),
        format=told.get("format"),
        drop=tuple(told.get("drop", ())),
        require_target=labelled,
        require_labels=labelled,
    )


def plan_of(told: Mapping[str, Any]) -> Plan:
    """What to train."""
    names = ("kernel", "task", "folds", "seed", "balanced", "impute", "time_limit")
    return Plan(**{name: told[name] for name in names if told.get(name) is not None})


def command_line(path: str, options: Options, plan: Plan) -> str:
    """The command that trains the same model."""
    words = ["mercer", "fit", path]
    for name, value in (("--target", options.target), ("--format", options.format)):
        words += [name, value] if value is not None else []
    for column in options.drop:
        words += ["--drop", column]
    usual = Plan()
    for name in ("kernel", "C", "task", "folds", "seed", "time_limit", "search_size"):
        value = getattr(plan, name)
        words += [f"--{name.replace('_', '-')}", str(value)] if value != getattr(usual, name) else []
    words += [f"--{name}" for name in ("balanced", "impute") if getattr(plan, name)]
    return shlex.join(words)


def _optional(told: Mapping[str, Any], name: str) -> str | None:
    return None if told.get(name) in (None, "") else fields.text(told, name, longest=500)


def _names(told: Mapping[str, Any], name: str) -> list[str]:
    found = told.get(name, [])
    if not isinstance(found, list) or len(found) > _MOST_COLUMNS or not all(isinstance(one, str) for one in found):
        refuse(f"{name} must be a list of names.", name)
    return found

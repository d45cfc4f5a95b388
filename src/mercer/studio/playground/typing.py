"""Help while a kernel is being typed: matching names, and the first error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from mercer.errors import MercerError
from mercer.kernels.text.completion import complete
from mercer.kernels.text.expression import parse
from mercer.studio import fields
from mercer.studio.refusal import Refusal

_MOST = 12
"""The most proposals in a list: nobody reads one that has to be scrolled."""


def completions(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What may follow at the caret."""
    text = fields.text(told, "text", longest=1000)
    caret = fields.whole(told, "caret", len(text), low=0, high=1000)
    return [asdict(found) for found in complete(text, caret)[:_MOST]]


def parsed(told: Mapping[str, Any]) -> dict[str, Any]:
    """What a kernel's text says; an error names its character."""
    try:
        kernel = parse(fields.text(told, "text", longest=1000))
        return {"text": str(kernel), "objects": kernel.domain.kind, "psd": bool(kernel.psd)}
    except MercerError as error:
        raise Refusal.of(error, "kernel") from error

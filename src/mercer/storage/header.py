"""The text of the header: JSON without the freedoms that make it ambiguous or dangerous."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from mercer.errors import ModelFileError

MAX_HEADER = 2**20  # bytes of JSON: the largest kernels take some ten thousand
MAX_DEPTH = 200  # levels: four per kernel within a kernel, and far fewer than exhaust Python's stack
# A string without an end runs to the end of the text, so that the scan takes one pass whatever the text.
_MARK = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{\]}]', re.DOTALL)


def parse(text: bytes) -> Any:
    """The header as dicts, lists and scalars: no NaN, no key twice, no deep nesting, no huge numbers."""
    depth = 0
    for mark in _MARK.finditer(text):
        first = mark.group()[:1]
        depth += (first in b"[{") - (first in b"]}")
        if depth > MAX_DEPTH:
            raise ModelFileError(f"its header is nested more than {MAX_DEPTH} levels deep.")
    try:
        return json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse_number,
            parse_float=_finite,
            parse_int=_whole,
        )
    except ValueError as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"its header is not JSON: {error}.") from error


def shown(text: object) -> str:
    """A piece of a file that nobody vouches for, short and without control characters."""
    quoted = ascii(text)
    return quoted if len(quoted) <= 80 else quoted[:77] + "..."


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ModelFileError("its header has an object with a key that occurs twice.")
    return found


def _refuse_number(text: str) -> Any:
    raise ModelFileError(f"its header holds the number {shown(text)}, which is out of range.")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _whole(text: str) -> int:
    return int(text) if len(text) <= 20 else _refuse_number(text)

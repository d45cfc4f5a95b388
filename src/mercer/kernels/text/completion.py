"""Completions of a kernel expression that is being typed."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import final

from mercer._registry import KERNELS, Entry
from mercer.errors import MercerError
from mercer.kernels.text.expression import maker_of, parameters_of

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")
_CALL = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*$")
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")


@final
@dataclass(frozen=True)
class Completion:
    """One completion: `text` replaces the characters from `start` to the caret."""

    text: str
    start: int
    kind: str
    """"kernel" or "parameter"."""
    about: str


def complete(text: str, caret: int | None = None) -> list[Completion]:
    """The names of kernels, and of parameters of the enclosing call, that match the word before the caret.

    The caret is before the character of that number, or at the end if it is None. Names that start with the word come
    first, in the order of the registry, then those that contain it.

    >>> [found.text for found in complete("rat")]
    ['rational_quadratic']
    >>> [found.text for found in complete("rbf(ga")][0]
    'gamma='
    """
    before = text if caret is None else text[: max(caret, 0)]
    plain = _without_strings(before)
    if "'" in plain or '"' in plain:
        return []  # inside a string: the name of a column, known only to its table
    word = _WORD.search(plain)
    start = word.start() if word else len(before)
    if not word and re.search(r"[0-9A-Za-z_)\]]\s*$", plain):
        return []  # only an operator can follow a complete value
    begun = word.group().lower() if word else ""
    found = _parameters(plain[:start], start) if re.search(r"[(,]\s*$", plain[:start]) else []
    found += [Completion(entry.text, start, "kernel", entry.summary) for entry in KERNELS.values() if _typed(entry)]
    return _fitting(found, begun)


def _without_strings(text: str) -> str:
    return _STRING.sub(lambda match: " " * len(match.group()), text)


def _fitting(found: list[Completion], begun: str) -> list[Completion]:
    """Names that start with the word, then those that contain it."""
    first = [one for one in found if one.text.lower().startswith(begun)]
    inside = [one for one in found if begun and one not in first and begun in one.text.lower()]
    return [one for one in first + inside if one.text != begun]


def _typed(entry: Entry) -> bool:
    """Whether a kernel is written by its name: sums, products and multiples have operators."""
    return entry.name not in ("Sum", "Product", "Scaled", "Power", "FromBlocks", "FromFunction", "PullBack", "RankOne")


def _parameters(before: str, start: int) -> list[Completion]:
    """Parameters of the innermost open call that are not given yet."""
    opened = _open_call(before)
    if opened is None:
        return []
    name, inside = opened
    try:
        maker = maker_of(name)
    except MercerError:
        return []
    given = set(re.findall(r"([A-Za-z_]\w*)\s*=", inside))
    defaults = {item.name: item.default for item in dataclasses.fields(maker)} if isinstance(maker, type) else {}
    told = []
    for parameter in parameters_of(maker).values():
        default = defaults.get(parameter.name, parameter.default)
        about = "required" if default in (dataclasses.MISSING, parameter.empty) else f"default {default!r}"
        if parameter.name not in given:
            told.append(Completion(f"{parameter.name}=", start, "parameter", f"{name}: {about}"))
    return told


def _open_call(before: str) -> tuple[str, str] | None:
    """The name of the innermost call whose bracket is still open, and its content so far."""
    depth = 0
    for position in range(len(before) - 1, -1, -1):
        character = before[position]
        depth += (character in ")]") - (character in "([")
        if depth < 0:
            name = _CALL.search(before[:position])
            return (name.group(1), before[position + 1 :]) if name and character == "(" else None
    return None

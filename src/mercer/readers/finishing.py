"""The last step of every reader of objects in order: labels from wherever they are, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mercer.readers.data import Data
from mercer.readers.labels import from_sidecar, typed
from mercer.readers.options import Options
from mercer.readers.problems import problem

_HINT = "Give them with --labels FILE: one label per line, in the order of the objects, or lines of id and label."


def finished(
    name: str,
    format_: str,
    kind: str,
    objects: Any,
    labels: Sequence[str] | None,
    options: Options,
    *,
    ids: Sequence[str] | None = None,
    lines: Sequence[int] | None = None,
    notes: Sequence[str] = (),
    target: str = "label",
) -> Data:
    """Data with typed labels; a sidecar file counts more than what the file itself says."""
    n = len(objects)
    if not n:
        raise problem(name, "the file holds no objects")
    found = None
    if options.labels is not None:
        text, target = from_sidecar(options.labels, ids, n, options)
        found = typed(text, options.labels)
    elif labels is not None:
        found = typed(labels, name, lines)
    elif options.require_target and options.require_labels:
        raise problem(name, "the objects have no labels", hint=_HINT)
    return Data(name, format_, kind, objects, found, None if found is None else target, ids, lines, tuple(notes))

"""The Gram matrix of a file: whether it is one, what it says, and what it looks like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.linalg

from mercer._types import Float64
from mercer.errors import MercerError
from mercer.readers.options import Options
from mercer.readers.reading import read
from mercer.studio.playground.packing import packed
from mercer.studio.refusal import Refusal
from mercer.theory.diagnosis import diagnose
from mercer.theory.mercer import check_mercer
from mercer.theory.seriation import seriation
from mercer.theory.showing import plain

_DRAWN = 240
"""The most rows that are drawn: a page has hardly more pixels for them."""
_DECOMPOSED = 1500
"""The most objects for which all eigenvalues are computed: more would take seconds."""
_BARS = 40
"""The most eigenvalues that are drawn."""


def gram_file(told: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that the page shows about a file with a Gram matrix."""
    try:
        data = read(str(told["path"]), Options(format="gram", require_target=False, require_labels=False))
        matrix = np.asarray(data.objects, dtype=np.float64)
        checked = check_mercer(matrix)
        diagnosis = str(diagnose(matrix, y=data.labels)) if checked.psd else ""
    except MercerError as error:
        raise Refusal.of(error, "file") from error
    square = matrix.shape == (len(matrix), len(matrix)) and len(matrix) > 0 and bool(np.isfinite(matrix).all())
    return {
        "objects": len(matrix),
        "verdict": checked.verdict,
        "reason": checked.reason,
        "smallest": plain(checked.smallest),
        "check": str(checked),
        "diagnosis": diagnosis,
        "gram": _drawn(matrix, data.labels) if square else None,
        "spectrum": _spectrum(matrix) if square else [],
    }


def _drawn(matrix: Float64, labels: Any) -> dict[str, Any]:
    """The matrix, thinned evenly if it is large, with similar objects side by side; and their classes."""
    rows = np.unique(np.linspace(0, len(matrix) - 1, min(len(matrix), _DRAWN)).round().astype(np.intp))
    part = matrix[np.ix_(rows, rows)]
    names, groups = np.unique(np.zeros(len(rows)) if labels is None else np.asarray(labels)[rows], return_inverse=True)
    if len(names) > 3:  # more classes than colours
        groups = np.zeros(len(rows), dtype=np.intp)
    order = seriation((part + part.T) / 2, groups)
    return {
        "order": [int(rows[place]) for place in order],
        "classes": [int(groups[place]) for place in order],
        "values": packed(part[np.ix_(order, order)]),
    }


def _spectrum(matrix: Float64) -> list[float]:
    if len(matrix) > _DECOMPOSED:
        return []
    values = scipy.linalg.eigvalsh((matrix + matrix.T) / 2)[::-1]
    ends = values if len(values) <= _BARS else np.concatenate([values[: _BARS // 2], values[-_BARS // 2 :]])
    return [float(value) for value in ends]

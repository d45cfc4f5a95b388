"""Voronoi cells of objects in feature space: each belongs to the centre that is nearest by the distance of the kernel.

Centres are objects, and |phi(x) - phi(c)|^2 = k(x, x) - 2 k(x, c) + k(c, c), so any kernel has cells. Random centres
give cells of very different sizes. In a few rounds, cells that are far too small lose their centre, and cells that are
far too large get several.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram.contract import Gram

_ENTRIES = 2**22
"""Kernel values that are processed at once: some megabytes."""
_ROUNDS = 6
"""The most rounds of changing centres. Cells that are still too large cannot be divided: their objects look alike."""
_LARGEST = 1.6
"""Cells above this multiple of the requested size are divided: time grows with the square of their size."""
_SMALLEST = 0.2
"""Cells below this fraction of it lose their centre: machines trained on so few objects would be poor."""

Nearest = Callable[[Indices], Indices]
"""For every object, the nearest of some centres, which are given by their positions."""


@final
@dataclass(frozen=True, eq=False)
class Division:
    """The positions of the centres, and the cell of each object."""

    centres: Indices
    labels: Indices


def closest(similar: Float64, own: Float64, count: int = 1) -> Indices:
    """The nearest centres of each row, one column each, from kernel values with centres and of these with themselves.

    Of several that are equally near, the first.
    """
    # If all centres have the same length, the most similar is the nearest, however small the similarities are.
    alike = bool((own == own[0]).all())
    if count == 1 and alike:
        return np.asarray(similar.argmax(axis=1))[:, None]
    away = -similar if alike else own - 2.0 * similar
    found, rows = np.empty((len(similar), count), dtype=np.intp), np.arange(len(similar))
    for place in range(count):
        found[:, place] = away.argmin(axis=1)
        away[rows, found[:, place]] = np.inf
    return found


def nearest_by(gram: Gram) -> Nearest:
    """The nearest centres by the entries of a Gram matrix, in float64: those of narrow kernels vanish in float32."""
    exact, diagonal = gram.refined(), gram.diagonal()

    def nearest(centres: Indices) -> Indices:
        rows, n = max(1, _ENTRIES // len(centres)), gram.shape[0]
        found = [np.zeros(0, dtype=np.intp)]
        for start in range(0, n, rows):
            part = np.arange(start, min(start + rows, n))
            found.append(closest(exact.view(part, centres).exact(), diagonal[centres])[:, 0])
        return np.concatenate(found)

    return nearest


def divide(n: int, size: int, rng: np.random.Generator, nearest: Nearest) -> Division:
    """Cells of about this many of n objects."""
    centres = np.sort(rng.choice(n, size=max(1, round(n / size)), replace=False))
    labels = nearest(centres)
    for _ in range(_ROUNDS):
        counts = np.bincount(labels, minlength=len(centres))
        large, small = counts > _LARGEST * size, counts < _SMALLEST * min(size, n / len(centres))
        if not (large.any() or small.any()):
            break
        fresh = [centres[~(large | small)]]
        for cell in np.flatnonzero(large):
            members = np.flatnonzero(labels == cell)
            fresh.append(rng.choice(members, size=-(-len(members) // size), replace=False))
        wanted = np.unique(np.concatenate(fresh))
        centres = wanted if len(wanted) else centres[:1]
        labels = nearest(centres)
    kept = np.flatnonzero(np.bincount(labels, minlength=len(centres)))
    return Division(centres[kept], np.searchsorted(kept, labels))

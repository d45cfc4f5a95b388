"""Voronoi cells of objects in feature space: each belongs to the centre that is nearest by the distance of the kernel.

Centres are objects themselves, and |phi(x) - phi(c)|^2 = k(x, x) - 2 k(x, c) + k(c, c): so any kernel has cells. Random
centres give cells of very different sizes. Those that stay far too small lose their centre, and those that grow far
too large get several instead of one, a few times over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram.contract import Gram

_ENTRIES = 2**22
"""Kernel values that are looked at together: some megabytes."""
_ROUNDS = 6
"""Changes of centres, at most. Cells that are too large after so many cannot be divided: their objects look alike."""
_LARGEST = 1.6
"""Cells above this multiple of the size asked for are divided: time grows with the square of their sizes."""
_SMALLEST = 0.2
"""Cells below this share of it lose their centre: so few objects would make poor machines."""

Nearest = Callable[[Indices], Indices]
"""The nearest of some centres, given by their places, for every object."""


@final
@dataclass(frozen=True, eq=False)
class Division:
    """The places of the centres, and the cell of each object."""

    centres: Indices
    labels: Indices


def closest(similar: Float64, own: Float64) -> Indices:
    """The nearest centre of each row, from kernel values with the centres and those of centres with themselves."""
    # Where centres are of one length, the most similar is the nearest, however small the similarities are.
    alike = bool((own == own[0]).all())
    return np.asarray(similar.argmax(axis=1) if alike else (own - 2.0 * similar).argmin(axis=1))


def nearest_by(gram: Gram) -> Nearest:
    """By the entries of a Gram matrix; in float64, since those of narrow kernels vanish in float32."""
    exact, diagonal = gram.refined(), gram.diagonal()

    def nearest(centres: Indices) -> Indices:
        rows, n = max(1, _ENTRIES // len(centres)), gram.shape[0]
        found = [np.zeros(0, dtype=np.intp)]
        for start in range(0, n, rows):
            part = np.arange(start, min(start + rows, n))
            found.append(closest(exact.view(part, centres).exact(), diagonal[centres]))
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

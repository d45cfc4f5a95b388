"""Voronoi cells of objects in feature space: each belongs to the centre that is nearest by the distance of the kernel.

Centres are objects themselves, and |phi(x) - phi(c)|^2 = k(x, x) - 2 k(x, c) + k(c, c): so any kernel has cells. Random
centres give cells of very different sizes. Those that stay far too small lose their centre, and those that grow far
too large get several instead of one, a few times over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64, Indices
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel

_ROWS = 16_384
"""Objects that are compared with all centres at a time: some megabytes."""
_ROUNDS = 6
"""Changes of centres, at most. Cells that are too large after so many cannot be divided: their objects look alike."""
_LARGEST = 1.6
"""Cells above this multiple of the size asked for are divided: time grows with the square of their sizes."""
_SMALLEST = 0.2
"""Cells below this share of it lose their centre: so few objects would make poor machines."""


@final
@dataclass(frozen=True, eq=False)
class Division:
    """The places of the centres, and the cell of each object."""

    centres: Indices
    labels: Indices


def nearest(fitted: FittedKernel, objects: Objects, centres: Objects) -> Indices:
    """The nearest of the centres, for each object; the first of several."""
    own = fitted.diagonal(fitted.features(centres))
    alike = bool((own == own[0]).all())  # then the most similar is the nearest, however small the similarities are
    found = [np.zeros(0, dtype=np.intp)]
    for start in range(0, len(objects), _ROWS):
        # In float64: values of narrow kernels far from any centre vanish in float32, and tell nothing there.
        similar: Float64 = gram_of(fitted, objects.take(slice(start, start + _ROWS)), centres, dtype=np.float64).exact()
        found.append(similar.argmax(axis=1) if alike else (own - 2.0 * similar).argmin(axis=1))
    return np.concatenate(found)


def divide(fitted: FittedKernel, objects: Objects, size: int, rng: np.random.Generator) -> Division:
    """Cells of about this many objects."""
    n = len(objects)
    centres = np.sort(rng.choice(n, size=max(1, round(n / size)), replace=False))
    labels = nearest(fitted, objects, objects.take(centres))
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
        labels = nearest(fitted, objects, objects.take(centres))
    kept = np.flatnonzero(np.bincount(labels, minlength=len(centres)))
    return Division(centres[kept], np.searchsorted(kept, labels))

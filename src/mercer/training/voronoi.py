"""Voronoi cells of training objects and new ones, in the distance of a kernel: see `gram.voronoi`."""

from __future__ import annotations

import numpy as np

from mercer._types import Indices
from mercer.gram import voronoi
from mercer.gram.make import gram_of
from mercer.gram.voronoi import Division
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel

_ROWS = 16_384
"""Objects that are compared with all centres at a time: a few megabytes."""


def nearest(fitted: FittedKernel, objects: Objects, centres: Objects) -> Indices:
    """The nearest centre of each object; the first of several."""
    own = fitted.diagonal(fitted.features(centres))
    found = [np.zeros(0, dtype=np.intp)]
    for start in range(0, len(objects), _ROWS):
        # In float64: far from any centre, values of narrow kernels underflow in float32.
        similar = gram_of(fitted, objects.take(slice(start, start + _ROWS)), centres, dtype=np.float64).exact()
        found.append(voronoi.closest(similar, own))
    return np.concatenate(found)


def divide(fitted: FittedKernel, objects: Objects, size: int, rng: np.random.Generator) -> Division:
    """Divide objects into cells of about this size."""
    return voronoi.divide(len(objects), size, rng, lambda places: nearest(fitted, objects, objects.take(places)))

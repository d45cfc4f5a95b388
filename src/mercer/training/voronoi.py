"""Voronoi cells of training objects and new ones, in the distance of a kernel: see `gram.voronoi`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._types import Indices
from mercer.gram import voronoi
from mercer.gram.executors import Executor, elsewhere
from mercer.gram.make import gram_of
from mercer.gram.voronoi import Division
from mercer.inputs.base import Objects
from mercer.inputs.streamed import Streamed
from mercer.kernels.base import FittedKernel

_ROWS = 16_384
"""Objects that are compared with all centres at a time: a few megabytes."""


def nearest(fitted: FittedKernel, objects: Objects, centres: Objects) -> Indices:
    """The nearest centre of each object; the first if several are."""
    return np.asarray(nearest_few(fitted, objects, centres, 1)[:, 0])


def nearest_few(fitted: FittedKernel, objects: Objects, centres: Objects, count: int) -> Indices:
    """The nearest centres of each object in order, one per column. Blocks are processed where they are stored."""
    if not isinstance(objects, Streamed):
        return _nearest(fitted, objects, centres, count)
    of_block, numbers = _NearestInBlock(fitted, objects, centres, count), range(len(objects.blocks))
    far = working_on(objects)
    return np.concatenate(list(map(of_block, numbers)) if far is None else far.gather(of_block, numbers))


def working_on(objects: Objects) -> Executor | None:
    """The workers that process the objects elsewhere; None if the threads of this machine do."""
    own: Any = objects.executor if isinstance(objects, Streamed) else None
    return own if hasattr(own, "gather") else elsewhere()


@final
@dataclass(frozen=True, eq=False)
class _NearestInBlock:
    fitted: FittedKernel
    objects: Streamed
    centres: Objects
    count: int

    def __call__(self, number: int) -> Indices:
        return _nearest(self.fitted, self.objects.block(number), self.centres, self.count)


def _nearest(fitted: FittedKernel, objects: Objects, centres: Objects, count: int) -> Indices:
    own = fitted.diagonal(fitted.features(centres))
    found = [np.zeros((0, count), dtype=np.intp)]
    for start in range(0, len(objects), _ROWS):
        # In float64: far from any centre, values of narrow kernels underflow in float32.
        similar = gram_of(fitted, objects.take(slice(start, start + _ROWS)), centres, dtype=np.float64).exact()
        found.append(voronoi.closest(similar, own, count))
    return np.concatenate(found)


def divide(fitted: FittedKernel, objects: Objects, size: int, rng: np.random.Generator) -> Division:
    """Divide objects into cells of about this size."""
    return voronoi.divide(len(objects), size, rng, lambda places: nearest(fitted, objects, objects.take(places)))

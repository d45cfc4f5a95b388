"""Objects that lie in blocks on workers, regrouped without a detour through the client.

A group may have objects in every block, and one task for each pair of a block and a group would be too many. So groups
are put in bundles: each block is cut into one part for each bundle, the parts of a bundle are joined, and the tasks of
its groups take their objects from it, most often on the worker that has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from mercer._types import Indices
from mercer.cluster import tasks
from mercer.cluster.partitions import needed

_MOST_PARTS = 4000
"""The most pairs of a block and a bundle, each of which is a task: Dask hands out a few thousand tasks in seconds."""
_GONE = ("cancelled", "error", "lost")


@final
class Bundles:
    """Some groups of objects in blocks."""

    def __init__(self, session: Any, objects: Any, groups: Sequence[Indices], chosen: Sequence[int]) -> None:
        self._session, self._objects, self._groups = session, objects, groups
        most = max(1, min(len(chosen), _MOST_PARTS // len(objects.blocks)))
        self._bundle = dict(zip(chosen, _evenly([len(groups[place]) for place in chosen], most), strict=True))
        self._left = Counter(self._bundle.values())
        members: list[list[Indices]] = [[] for _ in self._left]
        for place, bundle in self._bundle.items():
            members[bundle].append(groups[place])
        self._ids = [np.sort(np.concatenate(some)) for some in members]
        self._futures: dict[int, Any] = dict(enumerate(session.compute_all(self._joined(range(len(self._ids))))))

    def of(self, place: int) -> tuple[Any, Indices]:
        """The future of a bundle, and the places in it of the objects of a group."""
        bundle = self._bundle[place]
        if self._futures[bundle].status in _GONE:
            (self._futures[bundle],) = self._session.compute_all(self._joined([bundle]))
        return self._futures[bundle], np.searchsorted(self._ids[bundle], self._groups[place]).astype(np.int32)

    def done(self, place: int) -> None:
        """A group no longer needs its objects."""
        self._left[self._bundle[place]] -= 1
        if not self._left[self._bundle[place]]:
            del self._futures[self._bundle[place]]  # their memory is free

    def _joined(self, bundles: Sequence[int]) -> list[Any]:
        """The lazy objects of bundles; each block is read once for all of them."""
        session, edges = self._session, self._objects.edges
        held = session.hold(self._objects)
        parts: list[list[Any]] = [[] for _ in bundles]
        of_object = np.full(len(self._objects), -1, dtype=np.int16)
        for number, bundle in enumerate(bundles):
            of_object[self._ids[bundle]] = number
        for block in range(len(self._objects.blocks)):
            own, read = of_object[edges[block] : edges[block + 1]], needed(self._objects, block)
            cut = session.lazily(tasks.cut, held, block, own, tuple(read), *read.values())
            for number in np.unique(own[own >= 0]).tolist():
                parts[number].append(session.lazily(tasks.part, cut, number))
        return [session.lazily(tasks.joined, *some) for some in parts]


def _evenly(sizes: Sequence[int], most: int) -> list[int]:
    """The number of a bundle for each group: neighbours together, about equally many objects in each."""
    middles = (np.cumsum(sizes) - np.asarray(sizes) / 2) * most / sum(sizes)
    return [int(number) for number in np.unique(np.floor(middles), return_inverse=True)[1]]

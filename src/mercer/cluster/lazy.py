"""What a user passes from Dask, as blocks to train on and as arrays in memory."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from mercer.cluster.connection import current
from mercer.cluster.executor import Workers
from mercer.cluster.partitions import LazyBlocks, computed, length, listed
from mercer.errors import InputError
from mercer.inputs.blocks import Blocks

_known: dict[tuple[int, int], tuple[Any, LazyBlocks]] = {}
"""The blocks of collections, by the identities of collection and session: a fit looks at its data several times, and
plans them once. They are dropped with the collection, so that nothing of it stays on the cluster."""


def blocks_of(collection: Any) -> Blocks:
    """A `dask.array`, `dask.dataframe` or `dask.bag` as blocks; asked for the same one again, the same blocks."""
    from dask.base import tokenize

    session, name = current(), tokenize(collection)
    key = (id(collection), id(session))
    if key in _known and _known[key][0]() is collection and _known[key][1].name == name:  # not assigned to meanwhile
        return _known[key][1]
    blocks = _planned(collection, name, session)
    blocks.executor = None if session is None else Workers(session)
    _known[key] = weakref.ref(collection, lambda _: _known.pop(key, None)), blocks
    return blocks


def in_memory(values: Any) -> Any:
    """Lazy targets or weights, as an array."""
    parts = [listed(part) for part in computed(partitions_of(values), current())]
    return np.concatenate([np.asarray(part) for part in parts if len(part)])


def _planned(collection: Any, name: str, session: Any) -> LazyBlocks:
    from dask.delayed import delayed

    partitions = partitions_of(collection)
    chunks = getattr(collection, "chunks", None)
    if chunks is not None and not np.isnan(chunks[0]).any():
        sizes = list(chunks[0])
    else:  # unknown until somebody looks
        sizes = computed([delayed(length)(part) for part in partitions], session)
    return LazyBlocks(name, partitions, sizes, getattr(collection, "columns", None))


def partitions_of(collection: Any) -> list[Any]:
    """Lazy values, one for each partition; of an array, whole rows."""
    if hasattr(type(collection), "rechunk") and collection.ndim == 2 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    if not hasattr(type(collection), "to_delayed"):
        raise InputError(
            f"A {type(collection).__name__} of Dask has no partitions. Use dask.array, dask.dataframe or dask.bag, for "
            "example dask.bag.from_delayed([value])."
        )
    return list(np.ravel(np.asarray(collection.to_delayed(), dtype=object)))

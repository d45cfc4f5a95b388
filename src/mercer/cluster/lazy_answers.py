"""What models answer for lazy data: lazy arrays, computed partition by partition where the data are."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from mercer._version import __version__
from mercer.cluster import tasks
from mercer.cluster.arrival import arrived, shared
from mercer.cluster.lazy import partitions_of
from mercer.cluster.partitions import listed


def answered(model: Any, method: str, X: Any, example: Any) -> Any:
    """A `dask.array` of what a method of a fitted model gives for each object; `example` is what it gives for one.

    Where Dask knows the lengths of partitions, it knows those of the answers.
    """
    from dask.delayed import delayed

    da: Any = importlib.import_module("dask.array")  # has no types
    # As bytes from here on: Dask holds locks while it makes them, and what a model computes then would wait for these.
    protocol: Any = importlib.import_module("distributed.protocol")
    held = delayed(tasks.opened, pure=False)(__version__, protocol.serialize_bytes(_without_proof(model)))
    partitions, chunks = partitions_of(X), getattr(X, "chunks", None)
    lengths = [np.nan] * len(partitions) if chunks is None else chunks[0]
    like = np.asarray(example)[:0]
    ask = delayed(tasks.call, pure=False)
    parts = [
        da.from_delayed(ask(__version__, answer, held, method, part, like), shape=(length, *like.shape[1:]), meta=like)
        for part, length in zip(partitions, lengths, strict=True)
    ]
    return da.concatenate(parts, axis=0, allow_unknown_chunksizes=True)


def _without_proof(model: Any) -> Any:
    """A model whose certificate was not asked for yet goes without: making it may take longer than training."""
    if vars(model).get("_prove") is None:
        return model
    made = object.__new__(type(model))
    vars(made).update(vars(model), _prove=None)
    return made


def answer(model: Any, method: str, partition: Any, like: Any) -> Any:
    """For one partition; for one without objects, no answers."""
    objects, _ = arrived(listed(partition))
    return np.asarray(getattr(shared(model), method)(objects)) if len(objects) else like

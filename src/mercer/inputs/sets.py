"""Finite sets and multisets of hashable elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from mercer._types import Int64
from mercer.errors import InputError, InputTypeError
from mercer.inputs.base import Arrays, bad_item, listed, misfit, refuse_masked, shown, stored
from mercer.inputs.hashing import content_hash
from mercer.inputs.ragged import RaggedObjects, fit_together, offsets_of

_LARGEST = 2**53
"""Larger multiplicities are not exact in float64."""


@dataclass(eq=False, repr=False)
class Sets(RaggedObjects):
    """A batch of multisets: the sorted names of the elements of each, their multiplicities, and offsets.

    A batch is a list of sets, lists (repeats count), or counters such as `collections.Counter`; or a matrix with one
    row per set, in which column j is the multiplicity (0 or 1 for sets) of the element ``j``. Names are hashes of
    content, the same in every process. Kernels on sets ignore multiplicities, kernels on multisets use them.

    >>> from mercer.inputs.sets import Sets
    >>> Sets.coerce([{"a", "b"}, ["a", "a", "b"]]).multiplicities
    array([1, 1, 2, 1])
    """

    kind: ClassVar[str] = "sets"

    names: Int64
    multiplicities: Int64
    offsets: Int64

    @classmethod
    def parse(cls, raw: Any) -> Self:
        frame = hasattr(raw, "to_numpy") and len(raw.shape) == 2
        if sp.issparse(raw) or frame or (isinstance(raw, np.ndarray) and raw.dtype != object):
            refuse_masked(raw)
            return cls._of_matrix(raw)
        return cls._of_counters([_counted(position, item) for position, item in enumerate(listed(raw, cls.kind))])

    @classmethod
    def _of_counters(cls, counters: list[dict[int, int]]) -> Self:
        rows = [sorted(counter.items()) for counter in counters]
        flat = np.asarray([pair for row in rows for pair in row], dtype=np.int64).reshape(-1, 2)
        return cls(flat[:, 0].copy(), flat[:, 1].copy(), offsets_of(len(row) for row in rows))

    @classmethod
    def _of_matrix(cls, raw: Any) -> Self:
        array: Any = raw if sp.issparse(raw) else np.asarray(raw)
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise InputTypeError(f"Expected a matrix of 0 and 1 with one row per set, got {array.dtype} {array.shape}.")
        if not array.shape[0]:
            raise InputError("Found 0 sets while a minimum of 1 is required.")
        # SciPy supports neither half precision nor foreign byte orders.
        native: Any = array if sp.issparse(array) else array.astype(np.float64)
        csr = sp.csr_array(native, copy=True)  # do not modify the caller's matrix
        csr.sum_duplicates()
        csr.eliminate_zeros()
        values = np.asarray(csr.data, dtype=np.float64)
        wrong = np.flatnonzero(~((values >= 0) & (values == np.floor(values)) & (values <= _LARGEST)))
        if len(wrong):
            row = int(np.searchsorted(csr.indptr, wrong[0], side="right")) - 1
            raise InputError(
                f"A matrix of sets holds 0 and 1 (or how many times an element occurs), but row {row}, column "
                f"{csr.indices[wrong[0]]} holds {values[wrong[0]]:g}. For real numbers use a kernel on vectors."
            )
        used = np.unique(csr.indices)
        names = np.zeros(csr.shape[1], dtype=np.int64)
        names[used] = [content_hash(int(column)) for column in used]
        owners = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
        order = np.lexsort((names[csr.indices], owners))
        return cls(
            names[csr.indices][order], values[order].astype(np.int64), offsets_of(np.diff(csr.indptr).astype(np.int64))
        )

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        names, counts, offsets = stored(arrays, cls.kind, "names", "multiplicities", "offsets")
        ok = names.dtype.kind == counts.dtype.kind == "i" and fit_together(offsets, names, counts)
        if ok:
            inside = np.ones(max(len(names) - 1, 0), dtype=bool)
            inside[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(names))] - 1] = False
            ok = bool((counts > 0).all()) and bool((np.diff(names) > 0)[inside].all())
        if not ok:
            raise misfit(cls.kind, "names, multiplicities and offsets disagree")
        return cls(names.astype(np.int64), counts.astype(np.int64), offsets.astype(np.int64))


def _counted(position: int, item: Any) -> dict[int, int]:
    if isinstance(item, str | bytes | Iterator) or not isinstance(item, Iterable):
        hint = "Use set(text) for its characters or text.split() for its words." if isinstance(item, str) else ""
        if isinstance(item, Iterator):
            hint = "It can be read only once: pass a list or a set of its elements."
        raise bad_item("sets", position, item, hint)
    pairs: Mapping[Hashable, Any]
    try:
        pairs = item if isinstance(item, Mapping) else Counter(item)
    except TypeError as error:
        raise InputTypeError(
            f"Elements of sets must be hashable, but set {position} holds one that is not: {error}."
        ) from error
    counts: dict[int, int] = {}
    for element, count in pairs.items():
        if isinstance(count, bool) or not isinstance(count, Integral) or not 0 <= int(count) <= _LARGEST:
            raise InputError(
                f"Set {position} holds {shown(element)} {count!r} times; multiplicities are whole numbers from 0 "
                "to 2^53."
            )
        if count:
            try:
                counts[content_hash(element)] = int(count)
            except InputTypeError as error:
                raise InputTypeError(f"Set {position}: {error}") from error
    return counts

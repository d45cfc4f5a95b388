"""Matrices of expensive kernels that one piece of work computed and another needs again: a search and its final fit.

Within `sharing`, matrices that are noted are found by `gram_of` when the same kernel is asked for on the same objects.
Objects do not change within one call of the library, so nothing can be out of date.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._process import within
from mercer._types import DType
from mercer.gram.contract import Gram
from mercer.inputs.base import Objects
from mercer.inputs.items import Items
from mercer.kernels.base import FittedKernel, State


@final
@dataclass(frozen=True, eq=False)
class _Noted:
    fitted: FittedKernel
    objects: Objects
    gram: Gram


KNOWN: ContextVar[list[_Noted] | None] = ContextVar("matrices that are known", default=None)


def sharing() -> contextlib.AbstractContextManager[None]:
    """Within the block, matrices that are noted are found again."""
    return within(KNOWN, [])


def note(fitted: FittedKernel, objects: Objects, gram: Gram) -> None:
    """Keep a stored matrix of an expensive kernel, as far as memory allows; the oldest are dropped first."""
    kept = KNOWN.get()
    if kept is None or not gram.expensive or not gram.in_memory or gram.bytes > gram.budget // 2:
        return
    kept.append(_Noted(fitted, objects, gram))
    while sum(one.gram.bytes for one in kept) > gram.budget // 2:
        del kept[0]


def find(fitted: FittedKernel, objects: Objects, dtype: DType | None) -> Gram | None:
    """The matrix of this kernel on these objects, if it was noted."""
    for one in KNOWN.get() or ():
        right = one.fitted.kernel == fitted.kernel and dtype in (None, one.gram.dtype)
        if right and _same_state(one.fitted.state, fitted.state) and same_objects(one.objects, objects):
            return one.gram
    return None


def same_objects(one: Objects, other: Objects) -> bool:
    """Whether two batches hold the same objects in the same order."""
    if one is other:
        return True
    if type(one) is not type(other) or len(one) != len(other):
        return False
    if isinstance(one, Items) and isinstance(other, Items):
        return all(left is right for left, right in zip(one.items, other.items, strict=True))
    return _same_arrays(one.to_arrays(), other.to_arrays())


def _same_state(one: State, other: State) -> bool:
    if one.objects is not None or other.objects is not None or len(one.parts) != len(other.parts):
        return False
    return _same_arrays(one.values, other.values) and all(map(_same_state, one.parts, other.parts))


def _same_arrays(one: Any, other: Any) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)

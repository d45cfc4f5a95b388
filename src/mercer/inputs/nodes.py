"""Nodes of one graph, by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mercer._types import Int64
from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.base import Arrays, Objects, refuse_masked


@dataclass(eq=False, repr=False)
class Nodes(Objects):
    """Node numbers, from 0, of a graph that the kernel knows.

    >>> from mercer.inputs.nodes import Nodes
    >>> Nodes.coerce([3, 0, 2]).numbers
    array([3, 0, 2])
    """

    kind: ClassVar[str] = "nodes"

    numbers: Int64

    @classmethod
    def parse(cls, raw: Any) -> Self:
        array = _numbers(raw)
        numbers = array.astype(np.int64)  # beyond 2^63 they become negative
        if (numbers < 0).any():
            where = int(np.flatnonzero(numbers < 0)[0])
            raise InputError(f"Item {where} is node {array[where]}; nodes are numbered from 0.")
        return cls(numbers)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        numbers = arrays.get("numbers")
        if numbers is None or numbers.ndim != 1 or numbers.dtype.kind != "i" or (numbers < 0).any():
            raise ModelFileError("The stored nodes are not a list of node numbers.")
        return cls(numbers.astype(np.int64))


def _numbers(raw: Any) -> npt.NDArray[Any]:
    """Whole numbers in one dimension, of whatever type."""
    if isinstance(raw, str | bytes) or not (isinstance(raw, Sequence | np.ndarray) or hasattr(raw, "to_numpy")):
        raise InputTypeError(f"Expected a list of node numbers, got {type(raw).__name__}.")
    refuse_masked(raw)
    array = np.asarray(raw)
    if array.dtype == object and all(isinstance(number, int | np.integer) for number in array.ravel()):
        array = np.array(array.tolist())
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputTypeError(f"Expected a list of node numbers, got an array of shape {array.shape}.")
    if not len(array):
        raise InputError("Found 0 nodes while a minimum of 1 is required.")
    if array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.rint(array)).all():
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InputTypeError(
            "Nodes are given by their numbers, counted from 0 in the order of the graph; got "
            f"{array.tolist()[0]!r} first."
        )
    return array

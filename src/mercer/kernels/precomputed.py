"""A Gram matrix that the user computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.errors import InputError, KernelError
from mercer.inputs.gram_rows import GramRows
from mercer.kernels.base import Kernel, State
from mercer.kernels.loops.symmetry import nearly_symmetric

_COPIED = 32 * 2**20
"""Bytes: matrices up to this size are copied in some milliseconds."""


@final
@dataclass(frozen=True)
class Precomputed(Kernel):
    """Values looked up in a matrix: square for training, K(new, training) for prediction.

    Two new objects cannot be compared, since the matrix does not contain their similarity.

    >>> from mercer import kernels
    >>> kernels.Precomputed().fit([[2.0, 1.0], [1.0, 2.0]])([[2.0, 1.0], [1.0, 2.0]])
    array([[2., 1.],
           [1., 2.]])
    """

    domain = GramRows
    is_precomputed = True
    psd = symmetric = False  # nothing is known about the matrix

    def resolve(self, objects: GramRows) -> State:
        assert objects.matrix is not None
        return State({"n_train": np.asarray(objects.matrix.shape[1])})

    def features(self, objects: GramRows, state: State, dtype: DType) -> GramRows:
        expected = int(state.values["n_train"])
        if objects.matrix is not None and objects.matrix.shape[1] != expected:
            raise InputError(
                f"A precomputed kernel needs K(new, training), of shape ({len(objects)}, {expected}): one row per new "
                f"object, one column per training object. Got shape {objects.matrix.shape}."
            )
        if objects.training and objects.index.max(initial=-1) >= expected:  # only a damaged model file can ask for it
            raise InputError(
                f"There are {expected} training objects, but the model refers to number {objects.index.max()}."
            )
        return objects

    def tile(self, left: GramRows, right: GramRows, state: State, out: Floating) -> None:
        if not right.training or left.matrix is None:
            raise KernelError(
                "A precomputed kernel cannot compare new objects with each other: the matrix holds only their "
                "similarities to the training objects. Compute the block you need and pass it instead."
            )
        rows = left.matrix if _all_of(left) else left.matrix[left.index]
        if rows.dtype == out.dtype:
            np.take(rows, right.index, axis=1, out=out, mode="clip")  # already checked by `features`
        else:
            out[...] = rows[:, right.index]

    def whole(self, left: GramRows, right: GramRows, state: State) -> Floating | None:
        """The training matrix, if it is symmetric but for its last bits, so that there is nothing to even out.

        A small one is copied, so that whoever changes it later does not change what was learnt from it.
        """
        same = right.training and left.matrix is right.matrix
        if not same or left.matrix is None or not (_all_of(left) and _all_of(right)):
            return None
        square = _writable(left.matrix) if left.matrix.nbytes > _COPIED else left.matrix.copy()
        return square if nearly_symmetric(square) else None

    def diagonal(self, features: GramRows, state: State) -> Float64:
        if features.self_similarity is None:
            raise KernelError(
                "k(x, x) of new objects is not part of K(new, training). Where it is needed, to normalise for "
                "example, pass GramRows.rows(K, self_similarity=...) instead of the bare matrix."
            )
        return features.self_similarity


def _all_of(rows: GramRows) -> bool:
    """Whether these are all rows of their matrix, in their order."""
    matrix, index = rows.matrix, rows.index
    return matrix is not None and len(index) == len(matrix) and bool((index == np.arange(len(index))).all())


def _writable(matrix: Floating) -> Floating:
    """The array behind a view that nobody may write to; nobody does, but loops are compiled anew for such views."""
    behind = matrix.base
    if isinstance(behind, np.ndarray) and behind.flags.writeable and behind.flags.c_contiguous:
        found: Floating = behind
        if found.dtype == matrix.dtype and found.shape == matrix.shape:
            return found
    return matrix.copy()

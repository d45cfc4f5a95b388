"""A Gram matrix that the user computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import DType, Float64, Floating
from mercer.errors import InputError, KernelError
from mercer.inputs.gram_rows import GramRows
from mercer.kernels.base import Kernel, State


@final
@dataclass(frozen=True)
class Precomputed(Kernel):
    """Values looked up in a matrix: square for training, K(new, training) for prediction.

    Two new objects cannot be compared, since the matrix does not say how alike they are.

    >>> from mercer import kernels
    >>> kernels.Precomputed().fit([[2.0, 1.0], [1.0, 2.0]])([[2.0, 1.0], [1.0, 2.0]])
    array([[2., 1.],
           [1., 2.]])
    """

    domain = GramRows
    is_precomputed = True
    psd = symmetric = False  # nothing is known of the matrix

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
        out[...] = left.matrix[np.ix_(left.index, right.index)]

    def diagonal(self, features: GramRows, state: State) -> Float64:
        if features.self_similarity is None:
            raise KernelError(
                "k(x, x) of new objects is not part of K(new, training). Where it is needed, to normalise for "
                "example, pass GramRows.rows(K, self_similarity=...) instead of the bare matrix."
            )
        return features.self_similarity

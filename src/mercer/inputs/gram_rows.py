"""Rows of a Gram matrix that the user computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Index, Indices
from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.base import Arrays, Objects, misfit, stored
from mercer.inputs.vectors import Vectors, is_sparse


@dataclass(eq=False, repr=False)
class GramRows(Objects):
    """Objects known only by their similarities to the training objects.

    Training objects are the rows *and* columns of a square matrix; new objects are rows of K(new, training), and their
    similarity to each other is unknown. `self_similarity`, the values k(x, x) of new objects, is needed only if a
    kernel uses them (normalising does).
    """

    kind: ClassVar[str] = "rows of a Gram matrix"

    matrix: npt.NDArray[Any] | None
    """The whole matrix; None for training objects from a model file, which only serve as columns."""
    index: Indices
    """Which rows of it these objects are (and, for training objects, which columns)."""
    training: bool = field(kw_only=True)
    self_similarity: Float64 | None = field(default=None, kw_only=True)

    @classmethod
    def rows(cls, matrix: Any, *, self_similarity: Any = None) -> Self:
        """New objects: K(new, training), with their own k(x, x) if known."""
        values = Vectors.coerce(matrix).dense()
        own = None if self_similarity is None else np.asarray(self_similarity, dtype=np.float64)
        if own is not None and (own.shape != (len(values),) or not np.isfinite(own).all()):
            raise InputError(
                f"self_similarity must have one finite value per row: expected ({len(values)},), got {own.shape}, "
                f"{np.isfinite(own).sum()} of them finite."
            )
        return cls(values, np.arange(len(values)), training=False, self_similarity=own)

    @classmethod
    def coerce(cls, raw: Any, *, new: bool = False) -> Self:
        if isinstance(raw, cls):
            return raw
        if is_sparse(raw):
            raise InputTypeError(
                "Sparse precomputed Gram matrices are not supported: entries that are not stored would have to be "
                "zeros, and all of them are used. Pass K.toarray() if that is what they are."
            )
        values = Vectors.coerce(raw).dense()
        if new:
            return cls(values, np.arange(len(values)), training=False)
        if values.shape[0] != values.shape[1]:
            raise InputError(
                f"A precomputed training Gram matrix must be a square matrix: got shape {values.shape}. Row i, column "
                "j holds k(x_i, x_j) of two training objects."
            )
        own = np.diagonal(values).astype(np.float64)
        return cls(values, np.arange(len(values)), training=True, self_similarity=own)

    def __len__(self) -> int:
        return len(self.index)

    def take(self, index: Index) -> Self:
        own = None if self.self_similarity is None else self.self_similarity[index]
        return type(self)(self.matrix, self.index[index], training=self.training, self_similarity=own)

    def to_arrays(self) -> Arrays:
        if not self.training or self.self_similarity is None:
            raise ModelFileError("Only training objects of a precomputed kernel can be stored, not new ones.")
        return {"index": self.index.astype(np.int64), "self_similarity": self.self_similarity}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        index, own = stored(arrays, cls.kind, "index", "self_similarity")
        if index.ndim != 1 or index.dtype.kind != "i" or index.shape != own.shape or (index < 0).any():
            raise misfit(cls.kind, "there must be one non-negative index for each value")
        return cls(None, index.astype(np.intp), training=True, self_similarity=own.astype(np.float64))

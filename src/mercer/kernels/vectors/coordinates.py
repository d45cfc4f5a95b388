"""Measures computed coordinate by coordinate: their features, and the numbers they accept."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np

from mercer._types import DType, Float64
from mercer.errors import InputError
from mercer.inputs.vectors import Vectors, position
from mercer.kernels.base import SAFE_IN_SINGLE, Batch, Measure, State

_NUMBERS_AT_ONCE = 2**22
"""Rows are made dense 32 MB at a time: more would only take memory, much less would need many small calls."""


@final
@dataclass(frozen=True, eq=False)
class CoordinateFeatures(Batch):
    """Rows in the precision of the Gram matrix, and float64 numbers for each: k(x, x), or the sum of the row."""

    rows: Any
    """A C-contiguous writable array (one compiled signature), or CSR."""
    numbers: Float64

    @classmethod
    def of(
        cls,
        vectors: Vectors,
        dtype: DType,
        number: Callable[[Any], Float64],
        *,
        shift: Float64 | None = None,
        every: bool = False,
    ) -> Self:
        """`number` maps dense float64 rows to one or more numbers each; `shift` is subtracted from dense rows.

        The numbers must not depend on columns of zeros, unless `every` column counts.
        """
        values: Any = vectors.values
        with np.errstate(over="ignore", invalid="ignore"):
            numbers = np.concatenate([number(block) for block in _dense_blocks(vectors, every)])
            if vectors.is_sparse:
                return cls(values.astype(dtype), numbers)
            return cls(np.array(values if shift is None else values - shift, dtype=dtype, order="C"), numbers)


class Coordinatewise(Measure):
    """A measure computed coordinate by coordinate. Subclasses define `own` and `tile`."""

    domain = Vectors
    owner: ClassVar[str] = ""
    """The kernel named in messages, if not this class itself."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest number that it accepts."""
        return -np.inf, np.inf

    @property
    def every(self) -> bool:
        """Whether columns of zeros change the value."""
        return False

    @abstractmethod
    def own(self, rows: Float64) -> Float64:
        """k(x, x) of dense rows, or the numbers per row that `tile` and `diagonal` need."""

    def resolve(self, objects: Vectors) -> State:
        refuse_outside(self.owner or type(self).__name__, objects, *self.bounds)
        return State()

    def features(self, objects: Vectors, state: State, dtype: DType) -> Any:
        refuse_outside(self.owner or type(self).__name__, objects, *self.bounds)
        return CoordinateFeatures.of(objects, dtype, self.own, every=self.every)

    def diagonal(self, features: CoordinateFeatures, state: State) -> Float64:
        return features.numbers

    def single_precision(self, features: CoordinateFeatures, state: State) -> bool:
        return bool(features.numbers.max(initial=0.0) < SAFE_IN_SINGLE)


def _dense_blocks(vectors: Vectors, every: bool) -> Iterator[Float64]:
    """The rows in blocks, so CSR is never expanded as a whole; without columns of zeros if allowed."""
    values: Any = vectors.values
    step = max(1, _NUMBERS_AT_ONCE // vectors.n_features)
    if vectors.is_sparse and not every:  # more rows fit if they use few columns
        step = max(step, math.isqrt(_NUMBERS_AT_ONCE * len(vectors) // max(1, values.nnz)))
    for start in range(0, len(vectors), step):
        block = values[start : start + step]
        if vectors.is_sparse:
            block = (block if every else block[:, np.unique(block.indices)]).toarray()
        yield block.astype(np.float64)


def row_sums(rows: Float64) -> Float64:
    """The sum of each row; refuses what exceeds the range of float64."""
    sums: Float64 = rows.sum(axis=1)
    if not np.isfinite(sums).all():
        raise InputError(
            "overflow in kernel: the sum of a row exceeds the range of float64. Rescale the features, for example "
            "with sklearn.preprocessing.MinMaxScaler."
        )
    return sums


def refuse_outside(owner: str, vectors: Vectors, low: float, high: float = np.inf) -> None:
    """Refuse entries outside [low, high]; the message names the first."""
    if (low, high) == (-np.inf, np.inf):
        return
    values: Any = vectors.values
    stored = values.data if vectors.is_sparse else values
    wrong = (stored < low) | (stored > high)
    where = int(wrong.argmax()) if wrong.size else 0
    if wrong.size and wrong.ravel()[where]:
        row, column = position(values, where)
        got = float(stored.ravel()[where])
    elif vectors.is_sparse and not low <= 0 <= high and values.nnz < np.prod(values.shape):
        row = int((np.diff(values.indptr) < values.shape[1]).argmax())
        own = values.indices[values.indptr[row] : values.indptr[row + 1]]
        column = int(np.setdiff1d(np.arange(len(own) + 1), own)[0])
        got = 0.0
    else:
        return
    if (low, high) == (0, np.inf):
        rule = "non-negative numbers: on others it is not a kernel"
    else:
        bounds = [f"at least {low:g}"] * (low > -np.inf) + [f"at most {high:g}"] * (high < np.inf)
        rule = f"numbers of {' and '.join(bounds)}: outside this range it is not a kernel"
    raise InputError(
        f"{owner} compares {rule}. Row {row}, column {column} holds {got:g}. Shift or rescale the features, for "
        "example with sklearn.preprocessing.MinMaxScaler."
    )

"""Rows of numbers, dense or CSR, and their products."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from mercer._jit import Array, jit
from mercer._types import Float64, Floating
from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.base import Arrays, Objects, read_only, refuse_masked

Values = Any
"""A C-contiguous float64 or float32 array, or a scipy.sparse.csr_array; the stubs of the two have nothing in common."""
EXPANDED_COLUMNS = 4096
"""CSR rows up to this wide are expanded tile by tile, because a dense product is far faster than a sparse one. Wider
rows would need more memory for a tile than the cache holds."""
_FEW_ENTRIES = 0.15
"""... unless less than this fraction of the entries of the left rows is stored: summing the matching columns of the
right rows is then faster than a dense product, several times as fast if one entry in twenty is stored."""


@dataclass(eq=False, repr=False)
class Vectors(Objects):
    """A matrix whose rows are the objects: C-contiguous float64 or float32, or CSR.

    >>> from mercer.inputs.vectors import Vectors
    >>> X = Vectors.coerce([[0, 1], [2, 3]])
    >>> X.shape, X[0], len(X[1:])
    ((2, 2), array([0., 1.]), 1)
    """

    kind: ClassVar[str] = "vectors"

    values: Values

    _moments = cast("tuple[Float64, Float64] | None", None)

    @classmethod
    def parse(cls, raw: Any) -> Self:
        values = _sparse(raw) if is_sparse(raw) else _dense(raw)
        if values.shape[0] == 0:
            raise InputError(f"Found array with 0 sample(s) (shape={values.shape}) while a minimum of 1 is required.")
        if values.shape[1] == 0:
            raise InputError(
                f"Found array with 0 feature(s) (shape={values.shape}) while a minimum of 1 is required: "
                "a vector without features cannot be compared to another."
            )
        _refuse_non_finite(values)
        return cls(values)

    @classmethod
    def of_columns(cls, columns: Arrays) -> Self:
        return cls.coerce(np.column_stack([_numeric(name, values) for name, values in columns.items()]))

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def nbytes(self) -> int:
        return int(self.values.data.nbytes)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        widths = sorted({part.n_features for part in parts})
        if len(widths) > 1:
            raise InputError(
                f"Vectors of different lengths cannot be joined: {' and '.join(map(str, widths))} features."
            )
        if any(part.is_sparse for part in parts):
            import scipy.sparse as sp

            return cls(sp.csr_array(sp.vstack([part.values for part in parts], format="csr")))
        return cls(read_only(np.concatenate([part.values for part in parts])))

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self), self.n_features

    def __getitem__(self, index: Any) -> Any:
        """One row as an array, or some of the rows (a slice, positions or a mask) as `Vectors`.

        So scikit-learn's splitters and searches, which index by rows, accept them.
        """
        if isinstance(index, tuple) and len(index) == 2 and index[1] in (Ellipsis, slice(None)):
            index = index[0]
        if isinstance(index, int | np.integer):
            row = self.values[[int(index)]]
            return (row.toarray() if self.is_sparse else row)[0]
        return self.take(index if isinstance(index, slice) else _positions(index, len(self)))

    @property
    def is_sparse(self) -> bool:
        return is_sparse(self.values)

    @property
    def moments(self) -> tuple[Float64, Float64]:
        """The mean and the variance of each column of dense rows, in float64; infinite or NaN if they overflow."""
        if self._moments is None:  # computed once, since they are used several times
            mean, variance = np.empty(self.n_features), np.empty(self.n_features)
            _column_moments(self.values, mean, variance)
            self._moments = mean, variance
        return self._moments

    def dense(self) -> npt.NDArray[Any]:
        """The rows as an array, whether they are stored sparse or not."""
        rows: npt.NDArray[Any] = self.values.toarray() if self.is_sparse else self.values
        return rows

    def to_arrays(self) -> Arrays:
        if is_sparse(self.values):
            csr = self.values
            shape = np.asarray(csr.shape, dtype=np.int64)
            return {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": shape}
        return {"values": self.values}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        try:
            if "values" in arrays:
                return cls.coerce(arrays["values"])
            import scipy.sparse as sp

            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            csr = sp.csr_array(parts, shape=(int(arrays["shape"][0]), int(arrays["shape"][1])))
            csr.check_format(full_check=True)
            return cls.coerce(csr)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"The stored vectors do not fit together: {error}") from error


DATES = (
    'In a table, read them as days: kernels.on("when", kernels.RBF(gamma=1e-6), as_="days"), plus '
    'kernels.on("when", kernels.Periodic(period=365.25), as_="days") for what repeats every year. '
    "mercer.inputs.dates.days(X) gives the numbers."
)
"""Advice for dates, which as bare numbers would be microseconds or nanoseconds."""


def position(values: Values, where: int) -> tuple[int, int]:
    """Row and column of entry number `where`, counted along the rows; in a CSR matrix, among the stored entries."""
    if is_sparse(values):
        return int(np.searchsorted(values.indptr, where, side="right")) - 1, int(values.indices[where])
    return divmod(where, int(values.shape[1]))


def _positions(index: Any, n: int) -> npt.NDArray[np.intp]:
    """The positions that a mask or a list selects."""
    found = np.asarray(index)
    if found.dtype == bool and found.shape != (n,):
        raise InputError(f"The mask has shape {found.shape}, but there are {n} rows.")
    if found.dtype != bool and (found.dtype.kind not in "iu" or found.ndim != 1) and found.size:
        raise InputTypeError(f"Rows are chosen by a slice, positions or a mask, not by {index!r:.60}.")
    return np.flatnonzero(found) if found.dtype == bool else found.astype(np.intp)


def _dense(raw: Any) -> Float64 | npt.NDArray[np.float32]:
    if isinstance(raw, str | bytes):
        raise InputTypeError("Expected rows of numbers, got one string. Pass a list, and a kernel on strings.")
    refuse_masked(raw)
    if _has_dates(raw):
        raise InputError(f"X must hold numbers, but it holds dates or times. {DATES}")
    try:
        values = np.asarray(raw)
    except ValueError as error:
        raise InputTypeError(f"Expected rows of numbers of equal length, but their lengths differ: {error}") from error
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported: X must hold real numbers.")
    if values.dtype.kind in "Mm":
        raise InputError(f"X must hold numbers, but it holds dates or times. {DATES}")
    if values.dtype.kind in "OUSV":
        values = _numbers(values)
    if values.ndim == 1:
        raise InputError(
            f"Expected 2D array, got 1D array instead: shape {values.shape}. Reshape your data: use X.reshape(-1, 1) "
            "for one feature, X.reshape(1, -1) for one sample."
        )
    if values.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {values.ndim}D array instead: shape {values.shape}. Reshape your data."
        )
    dtype = np.float32 if values.dtype == np.float32 else np.float64
    return read_only(np.ascontiguousarray(values, dtype=dtype))


def _has_dates(raw: Any) -> bool:
    """Whether a column of a data frame holds dates, times or durations: NumPy would count their microseconds."""
    dtypes = getattr(raw, "dtypes", ())  # those of a pandas frame are a series of them
    return any(
        getattr(dtype, "kind", "") in ("M", "m") or bool(getattr(dtype, "is_temporal", bool)())
        for dtype in (dtypes if np.ndim(dtypes) else [dtypes])
    )


def _numbers(values: npt.NDArray[Any]) -> Float64:
    try:
        return values.astype(np.float64)
    except TypeError as error:  # an object that is not a number: scikit-learn's contract is a TypeError
        dated = any(isinstance(value, dt.date | dt.time | dt.timedelta) for value in values.flat)
        remedy = f". {DATES}" if dated else ""
        raise InputTypeError(f"X must hold numbers; argument must be a string or a number: {error}{remedy}") from error
    except ValueError as error:
        raise InputError(
            f"X must hold numbers, but {error}. For text use a kernel on strings, for example kernels.Spectrum(3), "
            'and pass a list of str (kernels made of a function, such as pull_back, need objects="strings"); for a '
            "table use kernels.on(column, kernel)."
        ) from error


def _sparse(raw: Any) -> Any:
    import scipy.sparse as sp

    if raw.dtype.kind == "c":
        raise InputError("Complex data not supported: X must hold real numbers.")
    csr = sp.csr_array(raw)
    dtype = np.float32 if csr.dtype == np.float32 else np.float64
    if csr.dtype != dtype:
        csr = csr.astype(dtype)
    if not csr.has_canonical_format:
        csr = csr.copy()  # it may share memory with `raw`, which must not be modified
        csr.sum_duplicates()
    if csr.indices.dtype != np.int32 and max(csr.nnz, *csr.shape) < 2**31:
        parts = (csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int32))
        csr = sp.csr_array(parts, shape=csr.shape)
    return csr


def _refuse_non_finite(values: Values) -> None:
    numbers = values.data if is_sparse(values) else values
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(numbers.sum(dtype=np.float64)):  # a single pass settles almost every input
            return
    bad = ~np.isfinite(numbers)
    count = int(bad.sum())
    if not count:
        return
    where = int(np.flatnonzero(bad)[0])
    row, column = position(values, where)
    name = "NaN" if np.isnan(numbers.ravel()[where]) else "infinity or a value too large for its dtype"
    raise InputError(
        f"Input X contains {name}: {count} entr{'y' if count == 1 else 'ies'} not finite, the first at row {row}, "
        f"column {column}. Impute or drop them first, for example with sklearn.impute.SimpleImputer."
    )


def _numeric(name: str, values: npt.NDArray[Any]) -> Float64:
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    if values.dtype.kind in "Mm":
        raise InputError(f"{name!r} holds dates or times, not numbers. {DATES}")
    for row, value in enumerate(values):
        try:
            float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"row {row} of {name!r} holds {str(value)[:40]!r}, which is not a number. Use a kernel on strings."
            ) from None
    return values.astype(np.float64)


def dot_products(left: Any, right: Any, out: Floating) -> None:
    """out[i, j] = <left_i, right_j>."""
    if not (is_sparse(left) or is_sparse(right)):
        np.matmul(left, right.T, out=out)
    elif left.shape[1] > EXPANDED_COLUMNS:
        product: Any = left @ right.T
        out[...] = product.toarray() if is_sparse(product) else product
    elif is_sparse(left) and left.nnz < _FEW_ENTRIES * left.shape[0] * left.shape[1]:
        turned = right.T.toarray(order="C") if is_sparse(right) else np.ascontiguousarray(right.T)
        columns = turned.astype(out.dtype, copy=False)
        _add_columns(left.indptr, left.indices, left.data.astype(out.dtype, copy=False), columns, out)
    else:
        np.matmul(expanded(left, out.dtype), expanded(right, out.dtype).T, out=out)


def expanded(rows: Any, dtype: npt.DTypeLike) -> Any:
    """Rows as a dense array."""
    return rows.toarray().astype(dtype, copy=False) if is_sparse(rows) else rows


def squared_lengths(rows: Any) -> Float64:
    """|x|^2 of each row, summed in float64; rows in blocks already have it."""
    if hasattr(rows, "squared_lengths"):
        return np.asarray(rows.squared_lengths)
    if not is_sparse(rows):
        return np.asarray(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    lengths: Float64 = _squared_lengths(rows.indptr, rows.data)
    return lengths


def numbers_of(objects: Any) -> float:
    """The average number of numbers per object for vectors; 0 for other kinds.

    >>> numbers_of(Vectors.coerce([[1.0, 2.0]]))
    2.0
    """
    if not isinstance(objects, Vectors):
        return 0.0
    values: Any = objects.values
    return float(values.nnz / max(1, len(objects)) if is_sparse(values) else values.shape[1])


def is_sparse(rows: Any) -> bool:
    """Whether these rows are CSR; the stubs of dense and sparse arrays have nothing in common."""
    # If scipy.sparse has not been imported, nothing can be sparse; importing it takes as long as a whole short command.
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return issparse is not None and bool(issparse(rows))


def _column_moments_plain(rows: Array, mean: Array, variance: Array) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        rows.mean(axis=0, dtype=np.float64, out=mean)
        np.square(rows - mean).mean(axis=0, out=variance)


@jit(plain=_column_moments_plain)
def _column_moments(rows: Array, mean: Array, variance: Array) -> None:
    n = rows.shape[0]
    mean[:] = 0.0
    variance[:] = 0.0
    for i in range(n):
        row = rows[i]
        for j in range(row.shape[0]):
            mean[j] += row[j]
    for j in range(mean.shape[0]):
        mean[j] /= n
    for i in range(n):
        row = rows[i]
        for j in range(row.shape[0]):
            difference = row[j] - mean[j]
            variance[j] += difference * difference
    for j in range(variance.shape[0]):
        variance[j] /= n


@jit(reassociate=False)  # entries are added in their order, so that <x, z> has the bits of <z, x>
def _add_columns(indptr: Array, indices: Array, data: Array, columns: Array, out: Array) -> None:
    for i in range(out.shape[0]):
        row = out[i]
        row[:] = 0
        p, end = indptr[i], indptr[i + 1]
        while p + 3 < end:  # four at a time, so the row is loaded and stored only once
            a, b, c, d = data[p], data[p + 1], data[p + 2], data[p + 3]
            w, x, y, z = columns[indices[p]], columns[indices[p + 1]], columns[indices[p + 2]], columns[indices[p + 3]]
            for j in range(row.shape[0]):
                row[j] = row[j] + a * w[j] + b * x[j] + c * y[j] + d * z[j]
            p += 4
        while p < end:
            a, w = data[p], columns[indices[p]]
            for j in range(row.shape[0]):
                row[j] += a * w[j]
            p += 1


@jit
def _squared_lengths(indptr: Array, data: Array) -> Any:
    lengths = np.empty(indptr.shape[0] - 1)
    for i in range(lengths.shape[0]):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += float(data[p]) * data[p]
        lengths[i] = total
    return lengths

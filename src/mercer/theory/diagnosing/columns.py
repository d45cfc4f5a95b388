"""The features of vectors: dominant scales, and columns that carry no information about the labels, or give them away.

Vectors may be dense or sparse, and may be numbers in the columns of a table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from mercer._types import Float64, Indices
from mercer.errors import MercerError
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel
from mercer.theory.diagnosing.targets import Target, left_out_agreement, neighbour_agreement

_FEW, _KEPT = 3, 20
"""How many of the most informative columns are tried without the others: too few may miss a joint pattern, too many
include columns without information."""
_LARGEST = 50_000_000
"""The most entries (nonzero ones of sparse vectors) that are examined."""
_SHOWN = 10  # the most columns in a list: nobody reads more


@final
@dataclass(frozen=True, eq=False)
class Columns:
    """Statistics of the features."""

    count: int
    constant: int
    """The number of columns that are constant."""
    names: tuple[str, ...] = ()
    """The names of the columns of a table."""
    sparse: bool = False
    widest: int = 0
    """The column with the largest standard deviation, `narrowest` with the smallest above 0."""
    narrowest: int = 0
    scale_ratio: float = 1.0
    """The ratio of their standard deviations."""
    widest_share: float = 0.0
    """The fraction of all squared distances that the widest column contributes."""
    standardised: float | None = None
    """The agreement of neighbours or a ridge machine after standardising the columns; `before` is without."""
    before: float | None = None
    irrelevant: int | None = None
    """The number of columns that, one at a time, predict the labels no better than chance."""
    relevant: tuple[int, ...] = ()
    """The most informative ones."""
    relevant_alone: float | None = None
    """The agreement of neighbours or a ridge machine with these columns alone, on objects that were not used to choose
    them."""
    giveaways: tuple[int, ...] = ()
    """Columns with one value for each class: probably the label in disguise."""

    def name(self, column: int) -> str:
        """The name of a column."""
        return repr(self.names[column]) if self.names else str(column)


def columns_of(kernel: Kernel, objects: Any, target: Target | None, rng: np.random.Generator) -> Columns | None:
    """Statistics for vectors of two or more columns, else None; in a table, for the kernel with most columns."""
    part = _vectors_of(kernel, objects)
    if part is None:
        return None
    kernel, vectors, names = part
    X: Any = vectors.values
    size = X.nnz if vectors.is_sparse else X.size
    if len(vectors) < 2 or vectors.n_features < 2 or size > _LARGEST:
        return None
    X = sp.csc_array(X, dtype=np.float64) if vectors.is_sparse else np.asarray(X, dtype=np.float64)
    names = names if len(names) == X.shape[1] else ()  # one column of a table may hold many numbers
    spread = _spread(X)
    usable = np.flatnonzero((spread > 0) & np.isfinite(spread))
    found = Columns(X.shape[1], X.shape[1] - len(usable), names, vectors.is_sparse)
    if not len(usable):
        return found
    widest, narrowest = int(usable[spread[usable].argmax()]), int(usable[spread[usable].argmin()])
    with np.errstate(all="ignore"):
        share = float(1.0 / ((spread[usable] / spread[widest]) ** 2).sum())
        ratio = float(spread[widest] / spread[narrowest])
    found = replace(found, widest=widest, narrowest=narrowest, scale_ratio=ratio, widest_share=share)
    if target is None or not target.varies:
        return found
    found = replace(found, before=_success(kernel, X, target), giveaways=_giveaways(X, usable, target))
    if ratio > 10:
        scaled = _success(kernel, _standardised(X[:, usable], spread[usable]), target)
        found = replace(found, standardised=scaled)
    if X.shape[0] >= 20:
        irrelevant, relevant, alone = _relevance(kernel, X, usable, target, rng)
        found = replace(found, irrelevant=irrelevant, relevant=relevant, relevant_alone=alone)
    return found


def _vectors_of(kernel: Kernel, objects: Any) -> tuple[Kernel, Vectors, tuple[str, ...]] | None:
    """The kernel, the vectors that it compares, and the names of their columns; None if there are none."""
    if isinstance(objects, Vectors):
        return kernel, objects, ()
    parts = [part for part in kernel.on_columns if issubclass(part.kernel.domain, Vectors)]
    if not parts:
        return None
    widest = max(parts, key=lambda part: len(part.columns))
    images: Any = widest.images(objects)
    return widest.kernel, images, widest.columns


def _sparse(X: Any) -> bool:
    return bool(sp.issparse(X))


def _spread(X: Any) -> Float64:
    """The standard deviation of each column."""
    with np.errstate(all="ignore"):
        if not _sparse(X):
            return np.asarray(X.std(axis=0))
        largest = np.asarray(abs(X).max(axis=0).toarray()).ravel()
        scale = np.where(largest > 0, largest, 1.0)
        scaled = X @ sp.diags_array(1.0 / scale)  # so that squares neither overflow nor underflow
        mean = np.asarray(scaled.mean(axis=0)).ravel()
        squares = np.asarray(scaled.power(2).mean(axis=0)).ravel()
        variance = squares - mean**2
        return np.asarray(scale * np.sqrt(np.where(variance > 1e-14 * squares, variance, 0.0)))


def _standardised(X: Any, spread: Float64) -> Any:
    """Every column with a standard deviation of 1; zeros of sparse vectors stay zeros."""
    if _sparse(X):
        return X @ sp.diags_array(1.0 / spread)
    return (X - X.mean(axis=0)) / spread


def _relevance(
    kernel: Kernel, X: Any, usable: Indices, target: Target, rng: np.random.Generator
) -> tuple[int, tuple[int, ...], float | None]:
    """Rank columns on one half of the objects and try them on the other: those chosen by luck fail there."""
    n = X.shape[0]
    order = rng.permutation(n)
    one, two = order[: n // 2], order[n // 2 :]
    seen = X[:, usable]
    told = _explained_variance(seen, target)
    noise = np.quantile(_explained_variance(seen, target.take(order)), 0.99) if len(usable) >= _FEW else 0.0
    noise = max(float(noise), 4.0 / n)
    clear = told > noise
    first = _explained_variance(_rows(seen, one), target.take(one))
    chosen = usable[np.argsort(-first, kind="stable")[: max(_FEW, min(_KEPT, int(clear.sum())))]]
    alone = _success(kernel, _rows(X[:, chosen], two), target.take(two)) if len(two) >= 10 else None
    best = usable[np.argsort(-told, kind="stable")[: min(_KEPT, int(clear.sum()))]]
    return int((~clear).sum()), tuple(int(i) for i in best), alone


def _rows(X: Any, rows: Indices) -> Any:
    return sp.csc_array(X.tocsr()[rows]) if _sparse(X) else X[rows]


def _explained_variance(X: Any, target: Target) -> Float64:
    """The fraction of each column's variance that the labels explain."""
    Y = target.columns
    Y = Y[:, np.linalg.norm(Y, axis=0) > 0]
    with np.errstate(all="ignore"):
        basis = np.linalg.svd(Y, full_matrices=False)
        kept = basis[0][:, basis[1] > 1e-9 * basis[1].max(initial=0.0)]
        spread = _spread(X)
        if _sparse(X):  # targets are centred, so the means need not be subtracted
            along = np.asarray((X.T @ kept).T) / np.maximum(spread, 1e-300)
        else:
            along = kept.T @ ((X - X.mean(axis=0)) / np.maximum(spread, 1e-300))
        found = np.where(spread > 0, np.square(along).sum(axis=0) / X.shape[0], 0.0)
    return np.asarray(np.nan_to_num(found))


def _success(kernel: Kernel, X: Any, target: Target) -> float | None:
    if not target.varies:
        return None
    X = sp.csr_array(X) if _sparse(X) else X
    try:
        K = kernel.fit(X)(X)
    except (MercerError, ValueError):  # the kernel only works on these columns
        return None
    K = (K + K.T) / 2
    if not np.isfinite(K).all():
        return None
    return max(neighbour_agreement(K, target)[0], left_out_agreement(K, target)[0])


def _giveaways(X: Any, usable: Indices, target: Target) -> tuple[int, ...]:
    codes = np.unique(target.codes)
    if target.classes is None or X.shape[0] < 3 * len(codes):
        return ()
    suspect = usable[_explained_variance(X[:, usable], target) > 1.0 - 1e-6]  # labels explain all its variance
    found = []
    for column in suspect:
        values = np.asarray(X[:, [column]].toarray() if _sparse(X) else X[:, [column]]).ravel()
        each = [np.unique(values[target.codes == code]) for code in codes]
        if all(len(one) == 1 for one in each) and len({float(one[0]) for one in each}) == len(codes):
            found.append(int(column))
        if len(found) == _SHOWN:
            break
    return tuple(found)

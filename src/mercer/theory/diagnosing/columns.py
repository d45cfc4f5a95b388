"""The features of vectors: scales that drown each other, columns that tell nothing, or everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import MercerError
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel
from mercer.theory.diagnosing.targets import Target, left_out_agreement, neighbour_agreement

Float64 = npt.NDArray[np.float64]

_FEW = 3
_KEPT = 20
_WIDE = 4096


@final
@dataclass(frozen=True, eq=False)
class Columns:
    """Figures of the features."""

    count: int
    constant: int
    """Columns that are the same for all objects."""
    widest: int
    """The column with the largest standard deviation, `narrowest` with the smallest above 0."""
    narrowest: int
    scale_ratio: float
    """Of their standard deviations."""
    widest_share: float
    """The share of all squared distances that the widest column makes."""
    standardised: float | None
    """How well neighbours or a ridge machine do once the columns are standardised; `before` is without."""
    before: float | None
    irrelevant: int | None
    """Columns that, one at a time, tell no more of the labels than chance."""
    relevant: tuple[int, ...]
    """Those that tell most."""
    relevant_alone: float | None
    """How well neighbours or a ridge machine do with these columns alone, on objects they were not chosen by."""
    giveaways: tuple[int, ...]
    """Columns with one value for each class: probably the label in disguise."""


def columns_of(kernel: Kernel, objects: Any, target: Target | None, rng: np.random.Generator) -> Columns | None:
    """None for anything but dense vectors of two columns or more."""
    if (
        not isinstance(objects, Vectors)
        or objects.is_sparse
        or not 2 <= objects.n_features <= _WIDE
        or len(objects) < 2
    ):
        return None
    X = np.asarray(objects.values, dtype=np.float64)
    with np.errstate(all="ignore"):
        spread = X.std(axis=0)
    usable = np.flatnonzero((spread > 0) & np.isfinite(spread))
    if not len(usable):
        return Columns(X.shape[1], X.shape[1], 0, 0, 1.0, 0.0, None, None, None, (), None, ())
    widest, narrowest = int(usable[spread[usable].argmax()]), int(usable[spread[usable].argmin()])
    with np.errstate(all="ignore"):
        share = float(1.0 / ((spread[usable] / spread[widest]) ** 2).sum())
        ratio = float(spread[widest] / spread[narrowest])
    standardised = before = relevant_alone = irrelevant = None
    relevant: tuple[int, ...] = ()
    if target is not None and len(np.unique(target.codes)) > 1:
        before = _success(kernel, X, target)
        if ratio > 10:
            standardised = _success(kernel, (X[:, usable] - X[:, usable].mean(axis=0)) / spread[usable], target)
        if len(X) >= 20:
            irrelevant, relevant, relevant_alone = _relevance(kernel, X, usable, target, rng)
    return Columns(X.shape[1], X.shape[1] - len(usable), widest, narrowest, ratio, share, standardised, before,
                   irrelevant, relevant, relevant_alone, _giveaways(X, target))  # fmt: skip


def _relevance(
    kernel: Kernel, X: Float64, usable: npt.NDArray[np.intp], target: Target, rng: np.random.Generator
) -> tuple[int, tuple[int, ...], float | None]:
    """Columns are ranked on one half of the objects and tried on the other: chosen by luck, they fail there."""
    order = rng.permutation(len(X))
    one, two = order[: len(X) // 2], order[len(X) // 2 :]
    told = _told(X[:, usable], target)
    noise = np.quantile(_told(X[:, usable], target.take(order)), 0.99) if len(usable) >= _FEW else 0.0
    noise = max(float(noise), 4.0 / len(X))
    clear = told > noise
    first = _told(X[np.ix_(one, usable)], target.take(one))
    chosen = usable[np.argsort(-first, kind="stable")[: max(_FEW, min(_KEPT, int(clear.sum())))]]
    alone = _success(kernel, X[np.ix_(two, chosen)], target.take(two)) if len(two) >= 10 else None
    best = usable[np.argsort(-told, kind="stable")[: min(_KEPT, int(clear.sum()))]]
    return int((~clear).sum()), tuple(int(i) for i in best), alone


def _told(X: Float64, target: Target) -> Float64:
    """The share of each column's variance that the labels explain."""
    Y = target.columns
    Y = Y[:, np.linalg.norm(Y, axis=0) > 0]
    with np.errstate(all="ignore"):
        around = X - X.mean(axis=0)
        around = around / np.maximum(np.linalg.norm(around, axis=0), 1e-300)
        basis = np.linalg.svd(Y, full_matrices=False)
        kept = basis[0][:, basis[1] > 1e-9 * basis[1].max(initial=0.0)]
        found = np.square(kept.T @ around).sum(axis=0)
    return np.asarray(np.nan_to_num(found))


def _success(kernel: Kernel, X: Float64, target: Target) -> float | None:
    if len(np.unique(target.codes)) < 2:
        return None
    try:
        K = kernel.fit(X)(X)
    except (MercerError, ValueError):  # a kernel that is made for these columns and no others
        return None
    K = (K + K.T) / 2
    if not np.isfinite(K).all():
        return None
    return max(neighbour_agreement(K, target)[0], left_out_agreement(K, target)[0])


def _giveaways(X: Float64, target: Target | None) -> tuple[int, ...]:
    if target is None or target.classes is None or len(np.unique(target.codes)) < 2:
        return ()
    codes = np.unique(target.codes)
    if len(X) < 3 * len(codes):
        return ()
    firsts = np.array([X[np.flatnonzero(target.codes == code)[0]] for code in codes])
    constant = np.ones(X.shape[1], dtype=bool)
    for code, first in zip(codes, firsts, strict=True):
        constant &= (X[target.codes == code] == first).all(axis=0)
    different = np.array([len(np.unique(column)) == len(codes) for column in firsts.T])
    return tuple(int(i) for i in np.flatnonzero(constant & different)[:10])

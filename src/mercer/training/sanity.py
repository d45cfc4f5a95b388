"""Warnings about data and kernels that are legal, but from which nothing can be learnt."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.errors import KernelWarning
from mercer.gram.contract import Gram
from mercer.inputs.base import Objects
from mercer.inputs.vectors import Vectors

_SCALES = 1e5
_SAMPLE = 32
_BLOCK = 1 << 18


def warn_of_scales(objects: Objects) -> None:
    """Say so if one feature drowns the others; they count for nothing in distances and dot products then."""
    if not isinstance(objects, Vectors) or objects.is_sparse or objects.n_features < 2:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        spread = _deviations(np.asarray(objects.values))
    usable = np.flatnonzero((spread > 0) & np.isfinite(spread))
    if not len(usable):
        return
    widest, narrowest = usable[spread[usable].argmax()], usable[spread[usable].argmin()]
    if spread[widest] > _SCALES * spread[narrowest]:
        warnings.warn(
            f"The features are on wildly different scales: the standard deviation of column {widest} is "
            f"{spread[widest]:.3g}, of column {narrowest} {spread[narrowest]:.3g}. The kernel hardly sees the narrow "
            "ones. Standardise them, for example with sklearn.preprocessing.StandardScaler.",
            KernelWarning,
            stacklevel=3,
        )


def _deviations(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Standard deviations of columns, by blocks of rows: differences from the mean of all would be one more matrix."""
    mean = values.mean(axis=0, dtype=np.float64)
    squares = np.zeros_like(mean)
    step = max(1, _BLOCK // values.shape[1])
    for start in range(0, len(values), step):
        squares += np.square(values[start : start + step] - mean).sum(axis=0)
    return np.asarray(np.sqrt(squares / len(values)))


def warn_if_constant(gram: Gram) -> None:
    """Say so if all objects look the same to the kernel, judged by an evenly spread sample of rows."""
    n = gram.shape[0]
    if n < 2:
        return
    rows = gram.rows(np.unique(np.linspace(0, n - 1, _SAMPLE).astype(np.intp)))
    size = float(np.abs(rows).max())
    if float(rows.max()) - float(rows.min()) <= 1e-12 * size:
        warnings.warn(
            f"The kernel is constant on these {n} objects (every value is {size:g}): nothing tells one from another. "
            "Rescale the data, or choose another width for the kernel.",
            KernelWarning,
            stacklevel=3,
        )

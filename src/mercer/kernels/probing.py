"""Kernel classes written by users are tested on a few objects when they are first used.

Otherwise mistakes in a class would show as a bad model, or not at all: a `tile` that rebinds its buffer leaves
arbitrary values, a wrong `diagonal` is written into every Gram matrix, and a class that claims to be positive
semi-definite is not checked again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._record import STRANGERS
from mercer._types import Float64
from mercer.errors import CostError, KernelError, MercerError, UnfittedError

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

_OBJECTS = 12
"""The number of objects compared: enough to reveal most mistakes, few enough to take no time."""
_ROUNDING = 1e-5
"""Differences up to this fraction of the largest value are rounding errors, possibly of float32 ..."""
_NEGATIVE = 1e-8
"""... and so are negative eigenvalues up to this fraction of the trace."""

_ONE_PIECE = 2**31
"""The most values computed at once: 16 GiB. Larger blocks fit few computers, and could not be interrupted."""


def probe(kernel: Kernel, objects: Any) -> None:
    """Test the kernel and its components whose classes are not yet tested; raises KernelError."""
    for part, seen in parts(kernel, objects):
        kind = type(part)
        if kind in STRANGERS and len(seen) > 1:
            _examine(part, seen.take(np.unique(np.linspace(0, len(seen) - 1, _OBJECTS).astype(np.intp))))
            STRANGERS.discard(kind)


def refuse_large(rows: int, columns: int) -> None:
    """Refuse a block that is too large to be computed in one piece."""
    if rows * columns > _ONE_PIECE:
        raise CostError(
            f"{rows:,} x {columns:,} kernel values in one piece take {rows * columns * 8 / 2**30:,.0f} GiB, and cannot "
            "be interrupted. Compare fewer objects at a time, or make a matrix that is computed by tiles: "
            "mercer.gram.make.gram_of(fitted, objects)."
        )


def unfitted(kernel: Kernel) -> UnfittedError:
    """The error for a kernel that is called before it is fitted."""
    return UnfittedError(
        f"{kernel} is not fitted, and some kernels depend on the data. Fit it first: kernel.fit(X)(X) "
        "compares training objects with each other, kernel.fit(X)(new, X) new ones with them."
    )


def array_of_features(kernel: Kernel, features: Any) -> KernelError:
    """The error for features that are a bare array or list."""
    return KernelError(
        f"{type(kernel).__name__}.features returned {'an array' if hasattr(features, 'ndim') else 'a list'}, which "
        "cannot be sliced object by object as tiles are. Keep it in a dataclass of your own that derives from "
        "mercer.kernels.base.Batch: each of its fields is then sliced by take."
    )


def parts(kernel: Kernel, objects: Any) -> Iterator[tuple[Kernel, Any]]:
    """The kernel and all its components, each with the objects that it compares.

    In searches, a kernel that looks up rows of a computed matrix keeps the original kernel. That one compares other
    objects, and was tested when the matrix was computed.
    """
    if not isinstance(objects, kernel.domain):
        return
    yield kernel, objects
    try:
        seen = kernel.images(objects)
    except MercerError:
        return
    for child in kernel.children:
        yield from parts(child, seen)


def _examine(kernel: Kernel, objects: Any) -> None:
    name, n = type(kernel).__name__, len(objects)
    state = kernel.resolve(objects)
    features = kernel.features(objects, state, np.float64)
    if len(features) != n:
        raise KernelError(f"{name}.features returned {len(features)} features for {n} objects. Return one for each.")
    values = np.full((n, n), np.nan)
    kernel.tile(*kernel.align(features, features, state), state, values)
    missing = int(np.isnan(values).sum())
    if missing:
        raise KernelError(
            f"{name}.tile left {missing} of {values.size} entries of `out` without a value, or wrote NaN. It must "
            "write every value into the array that it is given, as in out[...] = values; out = values only renames "
            "another array."
        )
    _compare_diagonal(name, values, kernel.diagonal(features, state))
    if kernel.symmetric:
        _refuse_asymmetry(name, values)
    if kernel.psd:
        _refuse_indefinite(name, values)


def _compare_diagonal(name: str, values: Float64, diagonal: Float64) -> None:
    if np.shape(diagonal) != (len(values),):
        raise KernelError(f"{name}.diagonal must return one number per object; it returned shape {np.shape(diagonal)}.")
    off = np.abs(np.diagonal(values) - diagonal)
    worst = int(off.argmax())
    if off[worst] > _ROUNDING * float(np.abs(values).max()):
        raise KernelError(
            f"{name}.diagonal says k(x, x) = {diagonal[worst]:g} where {name}.tile says {values[worst, worst]:g}. Both "
            "must say the same: Gram matrices take k(x, x) from `diagonal`."
        )


def _refuse_asymmetry(name: str, values: Float64) -> None:
    off = np.abs(values - values.T)
    i, j = np.unravel_index(int(off.argmax()), off.shape)
    if off[i, j] > _ROUNDING * float(np.abs(values).max()):
        raise KernelError(
            f"{name} is not symmetric: k(x, z) = {values[i, j]:g}, but k(z, x) = {values[j, i]:g}. A kernel gives the "
            "same value in both orders; for example use (k(x, z) + k(z, x)) / 2."
        )


def _refuse_indefinite(name: str, values: Float64) -> None:
    lowest = float(np.linalg.eigvalsh((values + values.T) / 2)[0])
    if lowest < -_NEGATIVE * float(np.abs(np.diagonal(values)).sum()) - float(np.finfo(float).tiny):
        raise KernelError(
            f"{name} says that it is positive semi-definite (psd is True), but its matrix on {len(values)} objects has "
            f"the eigenvalue {lowest:.3g}. Correct the formula, or give the class psd = False: fits then look at the "
            "matrix, and can repair it."
        )

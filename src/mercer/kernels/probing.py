"""Kernel classes that users write are tried out on a few objects when they are first used.

What a class gets wrong otherwise shows as a bad model, or not at all: a `tile` that rebinds its buffer leaves what was
in memory before, a wrong `diagonal` is written over every Gram matrix, and a class that says it is positive
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
"""How many are compared: enough for most mistakes to show, few enough to take no time."""
_ROUNDING = 1e-5
"""Differences up to this share of the largest value are rounding, in float32 somewhere inside perhaps ..."""
_NEGATIVE = 1e-8
"""... and so are eigenvalues this share of the trace below zero."""

_ONE_PIECE = 2**31
"""Values that are computed at once, at most: 16 GiB. Larger blocks fit few machines, and nobody could stop them."""


def probe(kernel: Kernel, objects: Any) -> None:
    """Try the kernel, and those that it is made of, where their classes are new here; raises KernelError."""
    for part, seen in parts(kernel, objects):
        kind = type(part)
        if kind in STRANGERS and len(seen) > 1:
            _examine(part, seen.take(np.unique(np.linspace(0, len(seen) - 1, _OBJECTS).astype(np.intp))))
            STRANGERS.discard(kind)


def refuse_large(rows: int, columns: int) -> None:
    """Refuse a block that is to be computed in one piece, and is too large for that."""
    if rows * columns > _ONE_PIECE:
        raise CostError(
            f"{rows:,} x {columns:,} kernel values in one piece take {rows * columns * 8 / 2**30:,.0f} GiB, and cannot "
            "be interrupted. Compare fewer objects at a time, or make a matrix that is computed by tiles: "
            "mercer.gram.make.gram_of(fitted, objects)."
        )


def unfitted(kernel: Kernel) -> UnfittedError:
    """The answer to a kernel that is called before it is fitted."""
    return UnfittedError(
        f"{kernel} is a kernel that has seen no objects, and some depend on them. Fit it first: kernel.fit(X)(X) "
        "compares training objects with each other, kernel.fit(X)(new, X) new ones with them."
    )


def array_of_features(kernel: Kernel, features: Any) -> KernelError:
    """The answer to features that are a bare array or list."""
    return KernelError(
        f"{type(kernel).__name__}.features returned {'an array' if hasattr(features, 'ndim') else 'a list'}, which "
        "cannot be sliced object by object as tiles are. Keep it in a dataclass of your own that derives from "
        "mercer.kernels.base.Batch: each of its fields is then sliced by take."
    )


def parts(kernel: Kernel, objects: Any) -> Iterator[tuple[Kernel, Any]]:
    """The kernel and all that it is made of, each with the objects that it compares.

    Searches compare rows of a matrix that was computed before, by a kernel that keeps the one they stand for: that one
    compares other objects, and was tried when the matrix was made.
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
            f"{name}.tile left {missing} of {values.size} entries of `out` without a value. It must write every value "
            "into the array that it is given, as in out[...] = values; out = values only renames another array."
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
            "same value both ways round; for example use (k(x, z) + k(z, x)) / 2."
        )


def _refuse_indefinite(name: str, values: Float64) -> None:
    lowest = float(np.linalg.eigvalsh((values + values.T) / 2)[0])
    if lowest < -_NEGATIVE * float(np.abs(np.diagonal(values)).sum()) - float(np.finfo(float).tiny):
        raise KernelError(
            f"{name} says that it is positive semi-definite (psd is True), but its matrix on {len(values)} objects has "
            f"the eigenvalue {lowest:.3g}. Correct the formula, or give the class psd = False: fits then look at the "
            "matrix, and can repair it."
        )

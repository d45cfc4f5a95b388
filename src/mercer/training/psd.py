"""The guard against kernels that are none, and the repair of their Gram matrices."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer import _check
from mercer._stored import Stored
from mercer._types import Float64
from mercer.errors import KernelError, KernelWarning, ModelFileError
from mercer.gram.contract import Gram
from mercer.gram.make import gram_of_values
from mercer.gram.spectrum import negligible, smallest_eigenvalue
from mercer.kernels.base import Kernel

REPAIRS = ("clip", "flip", "shift")
MODES = ("warn", "error", "ignore", *REPAIRS)


@final
@dataclass(frozen=True, eq=False)
class Guarded:
    """The Gram matrix to train on, and the way back from its coefficients to those of the kernel as it is.

    With K = V S V', ``clip`` trains on V max(S, 0) V', ``flip`` on V |S| V', ``shift`` on K - min(S) I. Coefficients b
    on V f(S) V' predict what V f(S)/S V' b predicts with K itself, for training objects exactly and for new ones by
    the same rule; so prediction uses the kernel as it is, over all training objects. A shift only adds to what an
    object has in common with itself, which new objects have with none.
    """

    gram: Gram
    vectors: Float64 | None = None
    factors: Float64 | None = None
    """f(S) / S, zero where S is."""
    shift: float = 0.0

    @property
    def repaired(self) -> bool:
        return self.vectors is not None or self.shift != 0.0

    def expanded(self, coefficients: Float64) -> Float64:
        """Coefficients of the kernel as it is, one row per training object."""
        if self.vectors is None or self.factors is None:
            return coefficients
        return np.asarray(self.vectors @ (self.factors[:, None] * (self.vectors.T @ coefficients)))


@final
@dataclass(frozen=True, eq=False)
class Repair:
    """What a certificate needs of a repaired matrix: coefficients on it (of the support objects), and the shift."""

    dual: Float64
    shift: float

    @classmethod
    def of(cls, guarded: Guarded, coefficients: Float64) -> Repair | None:
        return cls(coefficients, guarded.shift) if guarded.repaired else None

    def stored(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        return {"repair_shift": self.shift}, {"repair_dual": self.dual}

    @classmethod
    def restored(cls, stored: Stored) -> Repair | None:
        dual, shift = stored.arrays.get("repair_dual"), stored.values.get("repair_shift")
        if dual is None:
            return None
        expansion = stored.expansion
        if expansion is None or dual.dtype.kind != "f" or dual.shape != expansion.coefficients.shape:
            raise ModelFileError("coefficients on the repaired matrix and on the kernel do not fit together.")
        if not isinstance(shift, float) or not np.isfinite(shift):
            raise ModelFileError("the shift of a repaired matrix is not a number.")
        return cls(dual, shift)


def stored_repair(repair: Repair | None) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Values and arrays of a model file; none where nothing was repaired."""
    return ({}, {}) if repair is None else repair.stored()


def certified(repair: Repair | None, coefficients: Float64, products: Float64, support: Any) -> tuple[Float64, Float64]:
    """Coefficients over all training objects, and their products with the matrix that was trained on.

    `products` are those of the kernel as it is with `coefficients`, which belong to the training objects `support`.
    """
    full = np.zeros(products.shape)
    full[support] = coefficients if repair is None else repair.dual
    return full, products if repair is None else products + repair.shift * full


def quietly(psd: object) -> object:
    """The same without the warning, where the machine itself will be guarded anyway."""
    return "ignore" if psd == "warn" else psd


def guard(owner: str, kernel: Kernel, gram: Gram, psd: object) -> Guarded:
    """Look for a negative eigenvalue, unless the rules of kernel algebra exclude one, and do about it what is asked."""
    mode = _check.choice(owner, "psd", psd, MODES)
    if kernel.psd or mode == "ignore":
        return Guarded(gram)
    gram = gram.stored_if_it_fits()  # the solver needs it anyway
    lowest = smallest_eigenvalue(gram)
    if lowest >= -negligible(gram):
        return Guarded(gram)
    if mode in REPAIRS:
        return _repaired(gram, mode)
    message = (
        f"The Gram matrix of {kernel} is not positive semi-definite: its smallest eigenvalue is about {lowest:.3g}. "
        "No feature space has such inner products, so margins and optimality certificates mean little. "
        "Use a kernel that is one, or repair the matrix with psd='clip', 'flip' or 'shift'; psd='ignore' silences this."
    )
    if mode == "error":
        raise KernelError(message)
    warnings.warn(message, KernelWarning, stacklevel=3)
    return Guarded(gram)


def _repaired(gram: Gram, mode: str) -> Guarded:
    K = gram.exact()
    if mode == "shift":
        shift = -float(scipy.linalg.eigvalsh(K, subset_by_index=(0, 0))[0])
        matrix = K.copy()
        matrix.flat[:: len(K) + 1] += shift
        return Guarded(gram_of_values(matrix, matrix.diagonal(), gram), shift=shift)
    values, vectors = scipy.linalg.eigh(K)
    wanted = np.maximum(values, 0.0) if mode == "clip" else np.abs(values)
    nothing = np.abs(values) <= len(K) * np.finfo(np.float64).eps * np.abs(values).max()
    factors = np.where(nothing, 0.0, np.sign(values) if mode == "flip" else values > 0)
    matrix = (vectors * np.where(nothing, 0.0, wanted)) @ vectors.T
    matrix = (matrix + matrix.T) / 2
    return Guarded(gram_of_values(matrix, matrix.diagonal(), gram), vectors, factors)

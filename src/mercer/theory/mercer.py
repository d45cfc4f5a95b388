"""Mercer's theorem applied: is this matrix, or this function, a kernel?

A symmetric function is a kernel exactly if all its Gram matrices are positive semi-definite. One matrix with a negative
eigenvalue refutes this; the closure rules of kernel algebra can prove it; matrices without negative eigenvalues are
only evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.linalg

from mercer import _check, _deadline, _speed
from mercer._types import Float64, Indices
from mercer.errors import InputError, KernelError
from mercer.gram.contract import Gram
from mercer.gram.effort import Effort
from mercer.gram.make import gram_of
from mercer.gram.spectrum import lowest_pair
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel, Kernel
from mercer.kernels.precomputed import Precomputed
from mercer.theory.arguments import in_time, is_matrix, kernel_of, matrix_of
from mercer.theory.remedies import Refit, Remedy, remedies_by_products, remedies_for
from mercer.theory.showing import Report
from mercer.theory.witness import Witness, fewest

DIRECT = 1500
"""Matrices up to this size are fully decomposed: a second or two."""
_PROBES, _PROBE_SIZE = 8, 300
"""The number and size of random sub-matrices of larger ones: a few tenths of a second. More or larger ones find more
violations."""
_PRODUCTS = 200.0
"""The typical number of products with the matrix of more objects; used only to estimate costs."""
_RELATIVE = 1e-10
"""The assumed relative error of entries in float64. A smaller value would blame kernels that sum many terms, a larger
one would mistake real violations for rounding."""
ASYMMETRY = 1e-5
"""Differences between k(x, z) and k(z, x) up to this fraction of the largest entry count as float32 rounding. A larger
value would hide mistakes."""


@final
@dataclass(frozen=True, eq=False)
class MercerCheck(Report):
    """The result of `check_mercer`: `verdict` is "psd", "indefinite", "asymmetric", "not square" or "not finite"."""

    verdict: str
    reason: str
    n: int
    smallest: float | None = None
    """The smallest eigenvalue; if `exact` is False, the lowest value that was found, an upper bound on it."""
    largest: float | None = None
    tolerance: float | None = None
    tolerance_reason: str = ""
    method: str = ""
    exact: bool = True
    asymmetry: float = 0.0
    """The largest |K[i, j] - K[j, i]|, and `where` it is."""
    where: tuple[int, int] | None = None
    witness: Witness | None = None
    """A few objects, with weights, that cannot be embedded in any feature space."""
    vector: Float64 | None = None
    """v with v'Kv = `smallest`, over all objects, if that is negative."""
    promise: str = ""
    """What the closure rules say: "proven", "not proven", or nothing for a bare matrix."""
    derivation: str = ""
    remedies: tuple[Remedy, ...] = ()

    @property
    def psd(self) -> bool:
        return self.verdict == "psd"

    def __bool__(self) -> bool:
        return self.psd

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "psd": self.psd}

    def rows(self) -> list[tuple[str, str]]:
        rows = [("objects", f"{self.n:,}")]
        if self.smallest is not None and self.largest is not None:
            rows.append(("eigenvalues", f"{self.smallest:.4g} to {self.largest:.4g} ({self.method})"))
        if self.tolerance is not None:
            rows.append(("tolerance", f"{self.tolerance:.2g}. {self.tolerance_reason}"))
        if self.where is not None:
            rows.append(("asymmetry", f"{self.asymmetry:.3g} between entries {self.where} and {self.where[::-1]}"))
        if self.witness is not None:
            weights = ", ".join(f"{weight:.3g}" for weight in self.witness.vector)
            objects = f"objects {list(self.witness.objects)} with weights [{weights}]"
            rows.append(("witness", f"{objects}: v'Kv = {self.witness.value:.4g}"))
        if self.promise:
            rows.append(("closure rules", self.promise))
        return rows + [("remedy", str(remedy)) for remedy in self.remedies]


@in_time
def check_mercer(
    kernel_or_matrix: Any,
    objects: Any = None,
    *,
    tol: float | None = None,
    memory: float | str = "auto",
    random_state: int = 0,
    time_limit: float | None = None,
) -> MercerCheck:
    """Whether a matrix, or the Gram matrix of a kernel on these objects, is square, symmetric and without negative
    eigenvalues.

    `tol` says how far below zero an eigenvalue may be, as a fraction of the trace; the default allows for rounding. Up
    to 1,500 objects all eigenvalues are computed. For more, Lanczos iterations search for the smallest one, and
    sub-matrices of random objects are decomposed: a violation that is found is real, but others may be missed, and the
    effects of remedies are estimated from products with the matrix. `time_limit` is in seconds.

    >>> found = check_mercer([[1.0, 2.0], [2.0, 1.0]])
    >>> found.verdict, found.smallest, found.witness.objects
    ('indefinite', -1.0, (0, 1))
    >>> from mercer import kernels
    >>> check_mercer(kernels.RBF() + kernels.Linear() * kernels.Linear(), [[0.0], [1.0], [3.0]]).promise
    'proven'
    """
    del time_limit  # enforced by the decorator
    if tol is not None:
        tol = _check.real("check_mercer", "tol", tol, low=0, high_open=True)
    rng = np.random.default_rng(random_state)
    if is_matrix(kernel_or_matrix):
        if objects is not None:
            raise InputError("A matrix already stands for its objects: pass a matrix alone, or a kernel and objects.")
        return _of_matrix(matrix_of("check_mercer", kernel_or_matrix), tol, rng, {}, None)
    kernel = kernel_of("check_mercer", kernel_or_matrix)
    if objects is None:
        raise InputError("check_mercer needs the objects whose Gram matrix is to be checked: pass a list of them.")
    parsed = objects if isinstance(objects, Objects) else kernel.coerce(objects)
    fitted = kernel.fit(parsed)
    proof = {"promise": "proven" if kernel.psd else "not proven", "derivation": kernel.derivation()}

    def matrix(other: Kernel, ids: Indices) -> Float64:
        return whole_matrix(other.fit(parsed), parsed.take(ids), memory)

    refit = None if kernel.psd else (kernel, matrix)
    if len(parsed) <= DIRECT or not kernel.symmetric:
        return _of_matrix(whole_matrix(fitted, parsed, memory), tol, rng, proof, refit)
    gram = gram_of(fitted, parsed, memory=memory)
    Effort("check_mercer", _PRODUCTS, remedy="Check random parts of the objects.").announce(gram)
    return _iterative(gram.stored_if_it_fits(), tol, rng, proof, refit)


def feature_vectors(K: Any, *, tol: float | None = None) -> Float64:
    """Phi with Phi Phi' = K, one row per object: any positive semi-definite matrix is a kernel matrix.

    Columns are ordered by the length they add, and there are as many as K has positive eigenvalues.

    >>> Phi = feature_vectors([[2.0, 1.0], [1.0, 2.0]])
    >>> (Phi @ Phi.T).round(9)
    array([[2., 1.],
           [1., 2.]])
    """
    matrix = matrix_of("feature_vectors", K)
    found = check_mercer(matrix, tol=tol)
    if not found.psd:
        raise KernelError(
            f"This matrix has no feature vectors: {found.reason} "
            "check_mercer(K).remedies says what can be done about it."
        )
    values, vectors = scipy.linalg.eigh((matrix + matrix.T) / 2)
    kept = np.flatnonzero(values > float(found.tolerance or 0.0) * 1e-3)[::-1]
    directions = vectors[:, kept]
    signs = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(len(kept))])
    return np.asarray(directions * signs * np.sqrt(values[kept]))


def whole_matrix(fitted: FittedKernel, objects: Objects, memory: float | str = "auto") -> Float64:
    """Every entry, computed in both orders so that asymmetry shows, with the exact diagonal."""
    if fitted.kernel.symmetric:
        return gram_of(fitted, objects, memory=memory, dtype=np.float64).exact()
    K = np.array(gram_of(fitted, objects, objects, memory=memory, dtype=np.float64).dense(), dtype=np.float64)
    np.fill_diagonal(K, fitted.diagonal(fitted.features(objects)))
    return K


def allowance(diagonal: Float64, largest: float, tol: float | None, *, single: bool = False) -> tuple[float, str]:
    """How far below zero an eigenvalue may be, and why; `largest` is the largest of them."""
    trace = float(np.abs(diagonal).sum())
    if tol is not None:
        return tol * trace, f"As requested: {tol:g} of the trace."
    share = 1e-6 if single else _RELATIVE
    rounding = len(diagonal) * float(np.finfo(np.float64).eps) * largest
    return max(share * trace, rounding, float(np.finfo(float).tiny)), (
        f"Entries that are right to {share:g} of sqrt(k(x,x) k(z,z)) move no eigenvalue by more than {share:g} of the "
        "trace (Weyl), so anything above that below zero is rounding."
    )


def _of_matrix(
    K: Float64, tol: float | None, rng: np.random.Generator, proof: dict[str, Any], refit: Refit | None
) -> MercerCheck:
    """The result for a matrix in memory; `proof` is the result of the closure rules for its kernel."""
    wrong, asymmetry, where = misshapen(K, proof)
    if wrong is not None:
        return wrong
    known = {**proof, "asymmetry": asymmetry, "where": where}
    K = (K + K.T) / 2 if asymmetry else K
    if len(K) > DIRECT:
        gram = gram_of(Precomputed().fit(K), K, dtype=np.float64).stored_if_it_fits()
        return _iterative(gram, tol, rng, known, refit)
    _deadline.refuse_decomposition(len(K), _speed.EIGENVECTORS)
    values, vectors = scipy.linalg.eigh(K)
    tolerance, why = allowance(np.diagonal(K), float(np.abs(values).max()), tol)
    known |= {"smallest": float(values[0]), "largest": float(values[-1]), "tolerance": tolerance,
              "tolerance_reason": why, "method": "all of them"}  # fmt: skip
    if values[0] >= -tolerance:
        return _in_order(len(K), known)
    witness, remedies = fewest(K, tolerance, vectors[:, 0]), remedies_for(K, values, tolerance, refit)
    return _refuted(len(K), known, witness, vectors[:, 0], remedies)


def misshapen(K: Float64, proof: Mapping[str, Any] = {}) -> tuple[MercerCheck | None, float, tuple[int, int] | None]:
    """The result for a matrix that is not square, finite or symmetric; its asymmetry, and where that is."""
    n = len(K)
    if K.shape[0] != K.shape[1]:
        reason = f"It has {K.shape[0]} rows and {K.shape[1]} columns."
        return MercerCheck("not square", reason, n, **proof), 0.0, None
    if not np.isfinite(K).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(K))[0])
        reason = f"Entry ({row}, {column}) is {K[row, column]}."
        return MercerCheck("not finite", reason, n, where=(row, column), **proof), 0.0, None
    gap = np.abs(K - K.T)
    row, column = sorted(int(i) for i in np.unravel_index(int(gap.argmax()), K.shape))
    asymmetry, size = float(gap[row, column]), float(np.abs(K).max())
    where = (row, column) if asymmetry > 0 else None
    if asymmetry <= ASYMMETRY * size:
        return None, asymmetry, where
    reason = (
        f"Entries ({row}, {column}) and ({column}, {row}) are {K[row, column]:g} and {K[column, row]:g}. A "
        "kernel gives the same value in both orders; (k(x, z) + k(z, x)) / 2 does."
    )
    return MercerCheck("asymmetric", reason, n, asymmetry=asymmetry, where=where, **proof), asymmetry, where


def _iterative(
    gram: Gram, tol: float | None, rng: np.random.Generator, known: dict[str, Any], refit: Refit | None
) -> MercerCheck:
    """Lanczos on the whole matrix, and random sub-matrices: their eigenvalues are never below the smallest of all."""
    n, diagonal = gram.shape[0], gram.diagonal()
    smallest, vector, largest = lowest_pair(gram.matvec, n, rng)
    tolerance, why = allowance(diagonal, max(largest, -smallest), tol, single=gram.dtype is np.float32)
    witness = None
    if smallest < -tolerance:
        heaviest = np.sort(np.argsort(-np.abs(vector), kind="stable")[:_PROBE_SIZE])
        witness = fewest(gram.view(heaviest).exact(), tolerance, ids=heaviest)
    for _ in range(_PROBES):
        ids = np.sort(rng.choice(n, size=min(n, _PROBE_SIZE), replace=False))
        K = gram.view(ids).exact()
        values, vectors = scipy.linalg.eigh(K, subset_by_index=(0, 0))
        if values[0] < smallest:
            smallest, vector = float(values[0]), np.zeros(n)
            vector[ids] = vectors[:, 0]
        if witness is None and values[0] < -tolerance:
            witness = fewest(K, tolerance, ids=ids)
    known |= {"smallest": smallest, "largest": largest, "tolerance": tolerance, "tolerance_reason": why,
              "exact": False, "method": f"Lanczos, and {_PROBES} random sub-matrices of {_PROBE_SIZE}"}  # fmt: skip
    if smallest >= -tolerance:
        return _in_order(n, known)
    return _refuted(n, known, witness, vector, remedies_by_products(gram, smallest, vector, tolerance, rng, refit))


def _in_order(n: int, known: dict[str, Any]) -> MercerCheck:
    exact, promise = known.get("exact", True), known.get("promise", "")
    said = "No eigenvalue is negative beyond rounding." if exact else "No negative eigenvalue was found."
    if promise == "proven":
        more = "The closure rules prove the same for any objects."
    elif promise == "not proven":
        more = "No closure rule covers this kernel, so other objects may still refute it: see certify_kernel."
    else:
        more = "Any such matrix is a matrix of inner products: see feature_vectors."
    return MercerCheck("psd", f"{said} {more}", n, **known)


def _refuted(
    n: int, known: dict[str, Any], witness: Witness | None, vector: Float64, remedies: Iterable[Remedy]
) -> MercerCheck:
    smallest, largest = known["smallest"], known["largest"]
    reason = (
        f"Its smallest eigenvalue is {smallest:.4g}, {_next_to(-smallest, largest)}: no feature space has such inner "
        "products."
    )
    return MercerCheck("indefinite", reason, n, witness=witness, vector=vector, remedies=tuple(remedies), **known)


def _next_to(size: float, largest: float) -> str:
    """The size of a negative eigenvalue compared to the largest one, in words."""
    if largest <= 0:
        return "and none is positive"
    share = size / largest
    return (
        f"{100 * share:.3g} % of the largest in size"
        if share < 1
        else f"{share:,.3g} times the largest ({largest:.4g}) in size"
    )

"""Mercer's theorem put to work: is this matrix, or this function, a kernel?

A symmetric function is a kernel exactly if every Gram matrix it makes is positive semi-definite. One matrix with a
negative eigenvalue refutes; the closure rules of kernel algebra prove; matrices without one are evidence, no more.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer import _check
from mercer._types import Float64
from mercer.errors import InputError, KernelError
from mercer.gram.make import gram_of
from mercer.gram.spectrum import lowest_pair
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel, Kernel
from mercer.theory.arguments import is_matrix, kernel_of, matrix_of
from mercer.theory.remedies import Remedy, remedies_by_products, remedies_for
from mercer.theory.showing import html_table, plain, text_table
from mercer.theory.witness import Witness, fewest

DIRECT = 1500
"""Matrices up to this size are decomposed completely: a second or two."""
_PROBES = 8
_PROBE_SIZE = 300
_RELATIVE = 1e-10
_ASYMMETRY = 1e-5


@final
@dataclass(frozen=True, eq=False)
class MercerCheck:
    """The answer of `check_mercer`: `verdict` is "psd", "indefinite", "asymmetric", "not square" or "not finite"."""

    verdict: str
    reason: str
    n: int
    smallest: float | None = None
    """The smallest eigenvalue; if `exact` is False, the lowest value that was found, which it cannot exceed."""
    largest: float | None = None
    tolerance: float | None = None
    tolerance_reason: str = ""
    method: str = ""
    exact: bool = True
    asymmetry: float = 0.0
    """The largest |K[i, j] - K[j, i]|, and `where` it is."""
    where: tuple[int, int] | None = None
    witness: Witness | None = None
    """A few objects, with weights, that no feature space can hold."""
    vector: Float64 | None = None
    """v with v'Kv = `smallest`, over all objects, where that is negative."""
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
        """Everything as numbers, strings, lists and dicts."""
        found: dict[str, Any] = plain(self)
        return {**found, "psd": self.psd}

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("objects", f"{self.n:,}")]
        if self.smallest is not None and self.largest is not None:
            rows.append(("eigenvalues", f"{self.smallest:.4g} to {self.largest:.4g} ({self.method})"))
        if self.tolerance is not None:
            rows.append(("tolerance", f"{self.tolerance:.2g}. {self.tolerance_reason}"))
        if self.where is not None:
            rows.append(("asymmetry", f"{self.asymmetry:.3g} between entries {self.where} and {self.where[::-1]}"))
        if self.witness is not None:
            weights = ", ".join(f"{weight:.3g}" for weight in self.witness.vector)
            rows.append(
                (
                    "witness",
                    f"objects {list(self.witness.objects)} with weights [{weights}]: v'Kv = {self.witness.value:.4g}",
                )
            )
        if self.promise:
            rows.append(("closure rules", self.promise))
        return rows + [("remedy", str(remedy)) for remedy in self.remedies]

    def __str__(self) -> str:
        said = f"{self.verdict}: {self.reason}\n{text_table(self._rows())}"
        return f"{said}\n\n{self.derivation}" if self.derivation else said

    def _repr_html_(self) -> str:
        import html

        proof = f"<pre>{html.escape(self.derivation)}</pre>" if self.derivation else ""
        said = f"<b>{html.escape(self.verdict)}</b>: {html.escape(self.reason)}"
        return f"<div>{said}{html_table(self._rows())}{proof}</div>"


def check_mercer(
    kernel_or_matrix: Any,
    objects: Any = None,
    *,
    tol: float | None = None,
    memory: float | str = "auto",
    random_state: int = 0,
) -> MercerCheck:
    """Whether a matrix, or the Gram matrix of a kernel on these objects, is square, symmetric and without negative
    eigenvalues.

    `tol` says how far below zero an eigenvalue may be, as a share of the trace; the default is what rounding can do.
    Up to 1,500 objects all eigenvalues are computed. Beyond, Lanczos iterations look for the smallest one and
    sub-matrices of random objects are decomposed: a violation that is found is real, one that is not may still exist,
    and what remedies do is estimated from products with the matrix.

    >>> found = check_mercer([[1.0, 2.0], [2.0, 1.0]])
    >>> found.verdict, found.smallest, found.witness.objects
    ('indefinite', -1.0, (0, 1))
    >>> from mercer import kernels
    >>> check_mercer(kernels.RBF() + kernels.Linear() * kernels.Linear(), [[0.0], [1.0], [3.0]]).promise
    'proven'
    """
    if tol is not None:
        tol = _check.real("check_mercer", "tol", tol, low=0, high_open=True)
    rng = np.random.default_rng(random_state)
    if is_matrix(kernel_or_matrix):
        if objects is not None:
            raise InputError("A matrix has its objects in it already: pass a matrix alone, or a kernel and objects.")
        return _of_matrix(matrix_of("check_mercer", kernel_or_matrix), tol, rng)
    kernel = kernel_of("check_mercer", kernel_or_matrix)
    if objects is None:
        raise InputError("check_mercer needs the objects whose Gram matrix is to be looked at: pass a list of them.")
    parsed = objects if isinstance(objects, Objects) else kernel.coerce(objects)
    fitted = kernel.fit(parsed)
    promise = "proven" if kernel.psd else "not proven"
    extra = {"promise": promise, "derivation": kernel.derivation()}
    if len(parsed) <= DIRECT or not kernel.symmetric:
        K = whole_matrix(fitted, parsed, memory)
        return _of_matrix(K, tol, rng, lambda other: whole_matrix(other.fit(parsed), parsed, memory), kernel, extra)
    gram = gram_of(fitted, parsed, memory=memory).stored_if_it_fits()

    def again(other: Kernel, ids: npt.NDArray[np.intp]) -> Float64:
        return whole_matrix(other.fit(parsed), parsed.take(ids), memory)

    return _iterative(
        lambda v: gram.matvec(v), lambda ids: gram.view(ids).exact(), gram.diagonal(), tol, rng,
        single=gram.dtype is np.float32, extra=extra, refit=None if kernel.psd else (kernel, again),
    )  # fmt: skip


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
    """Every entry, computed both ways round so that asymmetry shows, with the exact diagonal."""
    if fitted.kernel.symmetric:
        return gram_of(fitted, objects, memory=memory, dtype=np.float64).exact()
    K = np.array(gram_of(fitted, objects, objects, memory=memory, dtype=np.float64).dense(), dtype=np.float64)
    np.fill_diagonal(K, fitted.diagonal(fitted.features(objects)))
    return K


def allowance(
    diagonal: Float64, n: int, largest: float, tol: float | None, *, single: bool = False
) -> tuple[float, str]:
    """How far below zero an eigenvalue may be, and why."""
    trace = float(np.abs(diagonal).sum())
    if tol is not None:
        return tol * trace, f"As asked: {tol:g} of the trace."
    share = 1e-6 if single else _RELATIVE
    rounding = n * float(np.finfo(np.float64).eps) * largest
    return max(share * trace, rounding, float(np.finfo(float).tiny)), (
        f"Entries that are right to {share:g} of sqrt(k(x,x) k(z,z)) move no eigenvalue by more than {share:g} of the "
        "trace (Weyl), so anything above that below zero is rounding."
    )


def _of_matrix(
    K: Float64,
    tol: float | None,
    rng: np.random.Generator,
    matrix: Callable[[Kernel], Float64] | None = None,
    kernel: Kernel | None = None,
    extra: dict[str, Any] | None = None,
) -> MercerCheck:
    wrong, asymmetry, where = misshapen(K, extra)
    if wrong is not None:
        return wrong
    n = len(K)
    extra = {**(extra or {}), "asymmetry": asymmetry, "where": where}
    K = (K + K.T) / 2 if asymmetry else K
    if n > DIRECT:
        return _iterative(lambda v: K @ v, lambda ids: K[np.ix_(ids, ids)], np.diagonal(K), tol, rng, extra=extra)
    values, vectors = scipy.linalg.eigh(K)
    largest = float(np.abs(values).max())
    tolerance, why = allowance(np.diagonal(K), n, largest, tol)
    found = {"smallest": float(values[0]), "largest": float(values[-1]), "tolerance": tolerance,
             "tolerance_reason": why, "method": "all of them", **extra}  # fmt: skip
    if values[0] >= -tolerance:
        return MercerCheck("psd", _in_order(extra.get("promise", "")), n, **found)
    refit = None if kernel is None or matrix is None or kernel.psd else (kernel, matrix)
    return MercerCheck(
        "indefinite", _refuted(float(values[0]), largest), n, witness=fewest(K, tolerance, vectors[:, 0]),
        vector=vectors[:, 0], remedies=tuple(remedies_for(K, values, tolerance, refit)), **found,
    )  # fmt: skip


def misshapen(
    K: Float64, extra: dict[str, Any] | None = None
) -> tuple[MercerCheck | None, float, tuple[int, int] | None]:
    """The answer for a matrix that is not square, finite or symmetric; its asymmetry, and where that is."""
    extra = extra or {}
    n = len(K)
    if K.shape[0] != K.shape[1]:
        reason = f"It has {K.shape[0]} rows and {K.shape[1]} columns."
        return MercerCheck("not square", reason, n, **extra), 0.0, None
    if not np.isfinite(K).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(K))[0])
        reason = f"Entry ({row}, {column}) is {K[row, column]}."
        return MercerCheck("not finite", reason, n, where=(row, column), **extra), 0.0, None
    gap = np.abs(K - K.T)
    row, column = sorted(int(i) for i in np.unravel_index(int(gap.argmax()), K.shape))
    asymmetry, size = float(gap[row, column]), float(np.abs(K).max())
    where = (row, column) if asymmetry > 0 else None
    if asymmetry <= _ASYMMETRY * size:
        return None, asymmetry, where
    reason = (
        f"Entries ({row}, {column}) and ({column}, {row}) are {K[row, column]:g} and {K[column, row]:g}. A "
        "kernel gives the same value both ways round; (k(x, z) + k(z, x)) / 2 does."
    )
    return MercerCheck("asymmetric", reason, n, asymmetry=asymmetry, where=where, **extra), asymmetry, where


def _iterative(
    product: Callable[[Float64], Float64],
    block: Callable[[npt.NDArray[np.intp]], Float64],
    diagonal: Float64,
    tol: float | None,
    rng: np.random.Generator,
    *,
    single: bool = False,
    extra: dict[str, Any],
    refit: tuple[Kernel, Callable[[Kernel, npt.NDArray[np.intp]], Float64]] | None = None,
) -> MercerCheck:
    """Lanczos on the whole, and random sub-matrices: eigenvalues of either are never below the smallest of all."""
    n = len(diagonal)
    smallest, vector, largest = lowest_pair(product, n, rng)
    tolerance, why = allowance(diagonal, n, max(largest, -smallest), tol, single=single)
    witness = None
    if smallest < -tolerance:
        heaviest = np.sort(np.argsort(-np.abs(vector), kind="stable")[:_PROBE_SIZE])
        witness = _named(fewest(block(heaviest), tolerance), heaviest)
    for _ in range(_PROBES):
        ids = np.sort(rng.choice(n, size=min(n, _PROBE_SIZE), replace=False))
        K = block(ids)
        values, vectors = scipy.linalg.eigh(K, subset_by_index=(0, 0))
        if values[0] < smallest:
            smallest, vector = float(values[0]), np.zeros(n)
            vector[ids] = vectors[:, 0]
        if witness is None and values[0] < -tolerance:
            witness = _named(fewest(K, tolerance), ids)
    found = {"smallest": smallest, "largest": largest, "tolerance": tolerance, "tolerance_reason": why, "exact": False,
             "method": f"Lanczos, and {_PROBES} random sub-matrices of {_PROBE_SIZE}", **extra}  # fmt: skip
    if smallest >= -tolerance:
        return MercerCheck("psd", _in_order(extra.get("promise", ""), looked=True), n, **found)
    remedies = remedies_by_products(product, block, diagonal, smallest, vector, tolerance, rng, refit)
    return MercerCheck(
        "indefinite", _refuted(smallest, largest), n, witness=witness, vector=vector, remedies=tuple(remedies), **found
    )


def _named(witness: Witness | None, ids: npt.NDArray[np.intp]) -> Witness | None:
    if witness is None:
        return None
    return Witness(tuple(int(ids[i]) for i in witness.objects), witness.vector, witness.value, witness.matrix)


def _in_order(promise: str, *, looked: bool = False) -> str:
    said = "No negative eigenvalue was found." if looked else "No eigenvalue is negative beyond rounding."
    if promise == "proven":
        return f"{said} The closure rules prove the same for any objects."
    if promise == "not proven":
        return f"{said} No closure rule covers this kernel, so other objects may still refute it: see certify_kernel."
    return f"{said} Any such matrix is one of inner products: see feature_vectors."


def _refuted(smallest: float, largest: float) -> str:
    share = -smallest / largest if largest > 0 else np.inf
    size = f"{smallest:.4g} ({share:.2%} of the largest)"
    return f"Its smallest eigenvalue is {size}: no feature space has such inner products."

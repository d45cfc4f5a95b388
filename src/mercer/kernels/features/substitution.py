"""Matrices of similarities between symbols: given, named, checked and repaired."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.errors import MissingExtraError, ParameterError
from mercer.kernels.features.alphabet import Alphabet, checked_alphabet

REPAIRS = ("none", "clip", "shift")
_TOLERANCE = 1e-9
"""Relative asymmetry and negative eigenvalues up to this are rounding errors; larger ones are refused."""


def checked_matrix(owner: str, alphabet: Any, matrix: Any, field: str = "matrix") -> tuple[Alphabet, Float64]:
    """An alphabet and the symmetric matrix over it; `matrix` may be the name of a substitution matrix."""
    if isinstance(matrix, str):
        letters, scores = _named(owner, matrix)
        if alphabet is None:
            return letters, scores
        chosen = checked_alphabet(owner, alphabet)
        missing = [symbol for symbol in chosen if str(symbol) not in letters]
        if missing:
            raise _check.fail(owner, "alphabet", f"letters of {matrix}, {letters!r}", alphabet)
        places = [letters.index(str(symbol)) for symbol in chosen]
        return chosen, np.ascontiguousarray(scores[np.ix_(places, places)])
    if alphabet is None:
        raise _check.fail(owner, "alphabet", "given with a matrix: its symbols, in the order of the rows", alphabet)
    chosen = checked_alphabet(owner, alphabet)
    rule = f"a symmetric matrix of finite numbers, {len(chosen)} x {len(chosen)}: one row per symbol of the alphabet"
    try:
        scores = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise _check.fail(owner, field, rule, matrix) from None
    if scores.shape != (len(chosen), len(chosen)) or not np.isfinite(scores).all():
        raise _check.fail(owner, field, rule, matrix)
    gap = np.abs(scores - scores.T)
    if gap.max(initial=0.0) > _TOLERANCE * max(1.0, float(np.abs(scores).max())):
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ParameterError(
            f"The {field!r} parameter of {owner} must be symmetric, but its entries for ({chosen[i]!r}, {chosen[j]!r}) "
            f"are {scores[i, j]:g} one way and {scores[j, i]:g} the other. Use the mean of the two."
        )
    return chosen, 0.5 * (scores + scores.T)


def repaired(owner: str, matrix: Float64, repair: str) -> Float64:
    """The matrix made positive semi-definite by clipping or shifting its eigenvalues; with ``"none"``, checked."""
    values, vectors = np.linalg.eigh(matrix)
    lowest = float(values[0])
    if lowest >= -_TOLERANCE * max(1.0, float(values[-1])):
        return matrix
    if repair == "clip":  # the nearest such matrix
        fixed = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return np.asarray(0.5 * (fixed + fixed.T))
    if repair == "shift":  # keeps all similarities between different symbols
        return matrix - lowest * np.eye(len(matrix))
    raise ParameterError(
        f"The 'matrix' parameter of {owner} must be positive semi-definite: its smallest eigenvalue is "
        f"{lowest:.6g}, and "
        "with it the kernel would not be one. Use repair='clip' (the nearest such matrix), repair='shift' (adds "
        f"{-lowest:.6g} to the similarity of each symbol with itself), or the exponential of the scores."
    )


def _named(owner: str, name: str) -> tuple[str, Float64]:
    try:
        import Bio.Align.substitution_matrices as bio
    except ImportError as error:
        raise MissingExtraError(
            f"{owner}(matrix={name!r}) needs Biopython for its substitution matrices. Install the extra: "
            "pip install 'mercer[bio]'."
        ) from error
    load: Any = bio.load
    known = load()
    if name not in known:
        raise _check.fail(
            owner, "matrix", "a matrix, or a name known to Biopython", name, _check.did_you_mean(name, known)
        )
    table = load(name)
    scores = np.array(table, dtype=np.float64)
    return str(table.alphabet), 0.5 * (scores + scores.T)

"""Whether a Gram matrix may be positive semi-definite, at no more than a fraction of the cost of training on it.

Problem   does a symmetric K have a negative eigenvalue?
Given     K, and the cost of the training that waits for the answer
Result    an upper bound on the smallest eigenvalue: a negative one is a proof

The surest method that the cost of training justifies is used:

1. the smallest eigenvalue or a factor of K in float64, which is certain (`spectrum`);
2. K = FF' + R of low rank: K >= -|R|, and ten random vectors bound |R|, with a chance of 1e-10 to fail (Halko,
   Martinsson and Tropp, Finding structure with randomness, 2011, lemma 4.1);
3. a factor of K in float32, with an allowance for rounding added to the diagonal. If there is none, the column at which
   the factorisation breaks down gives a vector z with z'Kz < 0;
4. the same for a random part of K, whose eigenvalues are never below the smallest of K, and Lanczos steps on all of K,
   which find what is large (Kuczynski and Wozniakowski, Estimating the largest eigenvalue, 1992, theorem 4.2).

What a user says of a function is tested on a few objects.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer import _deadline, _speed
from mercer._process import single_threaded_blas
from mercer._types import Float64, Indices
from mercer.errors import KernelError, TimeLimitError
from mercer.gram import cost, spectrum
from mercer.gram.contract import Gram
from mercer.gram.lowrank import low_rank
from mercer.kernels.base import Kernel
from mercer.kernels.features.pivoting import BLOCK

_PROBES = 10
"""Random vectors that bound what a factor leaves out; the bound fails with a chance of 10 to the power of -10."""
_LOW_RANK, _PART, _PRODUCTS = 1 / 8, 1 / 32, 1 / 6
"""Fractions of the cost of training for a factor of low rank, for a part of the matrix, and for Lanczos steps."""
_FEWEST_STEPS = 8
"""Fewer Lanczos steps find next to nothing."""
_SINGLE = 1e-6
"""The allowance for rounding in a float32 factor, as a fraction of the trace: some ten times what it loses."""
_KNOWN = 100
"""Objects on which the word of a user is tested if values are in memory: their eigenvalues take a millisecond ..."""
_ASKED = 12
"""... and if values are computed for this alone: as many as kernel classes are tested on."""


def refuse_wrong_word(kernel: Kernel, gram: Gram) -> None:
    """Refuse a kernel that is positive semi-definite by its user's word, and is not so on a few of the objects."""
    if gram.factor is not None:
        return
    few = np.linspace(0, gram.shape[0] - 1, _KNOWN if gram.in_memory else _ASKED)
    part = gram.view(np.unique(few.astype(np.intp)))
    try:
        lowest = spectrum.smallest_eigenvalue(part)
    except TimeLimitError:  # there may be time for a machine of a part of the objects
        return
    if lowest < -spectrum.negligible(part):
        raise KernelError(
            f"{kernel} is said to be positive semi-definite (by psd=True, or by phi), but its matrix on "
            f"{part.shape[0]} objects has the eigenvalue {lowest:.3g}. Correct the function, or leave psd=True out: "
            "fits then look at the whole matrix, and can repair it. The learner's psd='ignore' silences this."
        )


def lowest_value(gram: Gram, worth: float = math.inf) -> float:
    """An upper bound on the smallest eigenvalue, at a fraction of `worth`, the cost of training in the cost model.

    Some vector attains it, so a negative bound proves a negative eigenvalue. Zero means that none was found.

    >>> from mercer import kernels
    >>> from mercer.gram.make import gram_of
    >>> lowest_value(gram_of(kernels.Precomputed().fit([[1.0, 2.0], [2.0, 1.0]]), [[1.0, 2.0], [2.0, 1.0]]), 0.0)
    -1.0
    """
    n = gram.shape[0]
    if worth == math.inf or spectrum.directly(n) or cost.of_factor(n) <= worth:
        return spectrum.smallest_eigenvalue(gram)
    start = np.random.default_rng(0).normal(size=n)
    diagonal = gram.diagonal()
    if diagonal.min() < 0:
        return _by_steps(gram, 0.0, np.eye(1, n, int(diagonal.argmin()))[0])
    if _is_low_rank(gram, worth):
        return 0.0
    trace = float(diagonal.sum())
    whole = n <= spectrum.FACTORED and cost.of_single_factor(n) <= worth
    size = n if whole else min(n, int(cost.single_factor_of(_PART * worth)))
    part = np.arange(n) if whole else np.sort(np.random.default_rng(0).choice(n, size, replace=False))
    direction = _direction(gram, part, trace)
    if direction is not None:
        return _by_steps(gram, 0.0, direction)  # a few steps are enough from where it is negative
    return 0.0 if whole else _by_steps(gram, worth, start)


def _is_low_rank(gram: Gram, worth: float) -> bool:
    """Whether a factor of low rank proves that there is no negative eigenvalue beyond rounding."""
    n, bound = gram.shape[0], spectrum.negligible(gram)
    most = int(math.sqrt(_LOW_RANK * worth / (n * cost.FACTOR)))
    trace = float(gram.diagonal().sum())
    if trace <= 0 or most < BLOCK:
        return False
    tolerance = 0.01 * bound / trace
    with single_threaded_blas():
        found = low_rank(gram, BLOCK, tolerance=tolerance)
        if found.residual > tolerance and most * (1.0 - found.residual) > BLOCK:  # each pivot takes less than the last
            found = low_rank(gram, most, tolerance=tolerance)
        if found.residual > tolerance:
            return False
        vectors = np.random.default_rng(1).normal(size=(n, _PROBES))
        left = gram.matvec(vectors) - found.factor @ (found.factor.T @ vectors)
    return 10.0 * math.sqrt(2.0 / math.pi) * float(np.linalg.norm(left, axis=0).max()) <= bound


def _direction(gram: Gram, part: Indices, trace: float) -> Float64 | None:
    """A vector over some of the objects for which the matrix is negative; None if this part of it has a factor."""
    n, scale = gram.shape[0], trace / gram.shape[0]
    _deadline.refuse_decomposition(len(part), _speed.CHOLESKY)
    rows = gram.dense() if len(part) == n and gram.in_memory else gram.rows(part, part)
    if scale <= 0:
        return None
    square: npt.NDArray[np.float32] = np.multiply(rows, 1.0 / scale, dtype=np.float32, casting="same_kind")
    square.flat[:: len(part) + 1] += np.float32(_SINGLE * n)
    with single_threaded_blas():  # it always rounds in the same way, and does not wait for threads
        # LAPACK counts by columns, which are rows here; the entries below the diagonal stay as they were.
        triangle, failed = scipy.linalg.lapack.spotrf(square.T, lower=True, clean=False, overwrite_a=True)
    if not failed:
        return None
    k = failed - 1
    direction = np.zeros(n)
    direction[part[k]] = -1.0
    if k:
        solved = scipy.linalg.cho_solve((triangle[:k, :k], True), square[k, :k], check_finite=False)
        direction[part[:k]] = np.nan_to_num(solved, posinf=0.0, neginf=0.0)
    return direction


def _by_steps(gram: Gram, worth: float, start: Float64) -> float:
    n = gram.shape[0]
    steps = min(max(_FEWEST_STEPS, int(_PRODUCTS * worth / spectrum.of_product(n))), spectrum.STEPS)
    with single_threaded_blas():  # once: entering it for each product would cost more than the product
        return float(spectrum.lanczos(gram.matvec, start, steps)[0][0])

"""Whether a Gram matrix may be positive semi-definite, told at no more than a share of what training on it costs.

Problem   is there a negative eigenvalue among those of a symmetric K?
Given     K, and the cost of the training that waits for the answer
Result    an upper bound of the smallest eigenvalue, a proof where it is negative, and how far below zero it may lie

The surest way that the training is worth is taken:

1. the smallest eigenvalue or a factor of K in float64: certain (`spectrum`);
2. K = FF' + R of low rank: K >= -|R|, which ten random vectors bound (Halko, Martinsson and Tropp, Finding structure
   with randomness, 2011, lemma 4.1);
3. a factor in float32 of K with the allowance for its rounding on the diagonal. Where there is none, the column at
   which it breaks off gives a vector z with z'Kz < 0;
4. the same of a random part of K, whose eigenvalues are never below the smallest of K, and Lanczos steps on all of it
   (Kuczynski and Wozniakowski, Estimating the largest eigenvalue, 1992, theorem 4.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer import _deadline, _speed
from mercer._process import single_threaded_blas
from mercer._types import Float64, Indices
from mercer.gram import cost, spectrum
from mercer.gram.contract import Gram
from mercer.gram.lowrank import low_rank
from mercer.kernels.features.pivoting import BLOCK

_PROBES = 10
"""Random vectors that bound what a factor leaves: the bound fails once in ten to the power of them."""
_LOW_RANK, _PART, _PRODUCTS = 1 / 8, 1 / 32, 1 / 6
"""Shares of the cost of training for a factor of low rank, for a part of the matrix, and for Lanczos steps."""
_FEWEST_STEPS = 8
"""Fewer Lanczos steps see next to nothing."""
_SINGLE = 1e-6
"""Of the trace: the allowance for rounding of a factor in float32, some ten times what it loses."""
_CHANCE = 1e-3
"""Of an eigenvalue that random steps pass by although it lies lower than `doubt` says."""


@final
@dataclass(frozen=True)
class Finding:
    """What is known of the smallest eigenvalue."""

    lowest: float
    """An upper bound, attained by some vector: where it is negative, so is an eigenvalue."""
    doubt: float = 0.0
    """How far below zero an eigenvalue may lie if `lowest` is not negative ..."""
    chance: float = 0.0
    """... but for this chance; 0 where that is certain."""


def look(gram: Gram, worth: float = math.inf) -> Finding:
    """Look for a negative eigenvalue, at most as long as training takes that costs `worth` in the cost model.

    >>> from mercer import kernels
    >>> from mercer.gram.make import gram_of
    >>> look(gram_of(kernels.Precomputed().fit([[1.0, 2.0], [2.0, 1.0]]), [[1.0, 2.0], [2.0, 1.0]]), 0.0).lowest
    -1.0
    """
    n = gram.shape[0]
    if worth == math.inf or spectrum.directly(n) or cost.of_factor(n) <= worth:
        certain = n <= spectrum.FACTORED
        return Finding(spectrum.smallest_eigenvalue(gram), spectrum.negligible(gram) if certain else math.inf)
    start = np.random.default_rng(0).normal(size=n)
    diagonal = gram.diagonal()
    if diagonal.min() < 0:
        return _by_steps(gram, 0.0, np.eye(1, n, int(diagonal.argmin()))[0])
    low = _of_low_rank(gram, worth)
    if low is not None:
        return low
    trace = float(diagonal.sum())
    whole = n <= spectrum.FACTORED and cost.of_single_factor(n) <= worth
    size = n if whole else min(n, int(cost.single_factor_of(_PART * worth)))
    part = np.arange(n) if whole else np.sort(np.random.default_rng(0).choice(n, size, replace=False))
    direction = _direction(gram, part, trace)
    if direction is not None:
        return _by_steps(gram, 0.0, direction)  # few steps will do, from where it is negative
    return Finding(0.0, _SINGLE * trace) if whole else _by_steps(gram, worth, start)


def _of_low_rank(gram: Gram, worth: float) -> Finding | None:
    """A proof by a factor of low rank; None where the rank is higher than worth it, or something is left."""
    n, bound = gram.shape[0], spectrum.negligible(gram)
    most = int(math.sqrt(_LOW_RANK * worth / (n * cost.FACTOR)))
    trace = float(gram.diagonal().sum())
    if trace <= 0 or most < BLOCK:
        return None
    tolerance = 0.01 * bound / trace
    with single_threaded_blas():
        found = low_rank(gram, BLOCK, tolerance=tolerance)
        if found.residual > tolerance and most * (1.0 - found.residual) > BLOCK:  # each pivot takes less than the last
            found = low_rank(gram, most, tolerance=tolerance)
        if found.residual > tolerance:
            return None
        vectors = np.random.default_rng(1).normal(size=(n, _PROBES))
        left = gram.matvec(vectors) - found.factor @ (found.factor.T @ vectors)
    doubt = 10.0 * math.sqrt(2.0 / math.pi) * float(np.linalg.norm(left, axis=0).max())
    return Finding(0.0, doubt, 10.0**-_PROBES) if doubt <= bound else None


def _direction(gram: Gram, part: Indices, trace: float) -> Float64 | None:
    """A vector on a part of the objects in which the matrix is negative; None where its part has a factor."""
    n, scale = gram.shape[0], trace / gram.shape[0]
    _deadline.refuse_decomposition(len(part), _speed.CHOLESKY)
    rows = gram.dense() if len(part) == n and gram.in_memory else gram.rows(part, part)
    if scale <= 0:
        return None
    square: npt.NDArray[np.float32] = np.multiply(rows, 1.0 / scale, dtype=np.float32, casting="same_kind")
    square.flat[:: len(part) + 1] += np.float32(_SINGLE * n)
    with single_threaded_blas():  # which rounds in one way only, and does not wait for threads
        # By columns, as LAPACK counts, which is by rows here; the entries below the diagonal stay as they were.
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


def _by_steps(gram: Gram, worth: float, start: Float64) -> Finding:
    n = gram.shape[0]
    steps = min(max(_FEWEST_STEPS, int(_PRODUCTS * worth / spectrum.of_product(n))), spectrum.STEPS)
    with single_threaded_blas():  # once: taking it up for each product costs more than they do
        values = spectrum.lanczos(gram.matvec, start, steps)[0]
    share = (math.log(1.648 * math.sqrt(n) / _CHANCE) / (2 * steps - 1)) ** 2
    return Finding(float(values[0]), min(1.0, share) * float(values[-1] - min(values[0], 0.0)), _CHANCE)

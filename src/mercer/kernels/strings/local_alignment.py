"""The local alignment kernel, and its logarithm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._jit import Array, jit
from mercer._record import real
from mercer._types import DType, Float64, Floating
from mercer.kernels.base import State
from mercer.kernels.features.alphabet import Alphabet
from mercer.kernels.features.substitution import checked_matrix
from mercer.kernels.loops.extended import added, combined, logarithm, scaled
from mercer.kernels.loops.pairs import PairLoop, SequenceFeatures, with_numbers
from mercer.kernels.loops.string_lanes import LANES, empty_lanes, fill_lanes, save_lanes
from mercer.kernels.strings.base import OverAlphabet
from mercer.kernels.strings.long_range import LongRange

_LARGEST_EXPONENT = 300.0
"""The largest beta times score: exp of twice as much is still a float64, and pairs are rescaled as they grow."""
_GAPS_COST = "Gaps have costs: a positive number makes them expensive."


@dataclass(frozen=True)
class _Alignment(OverAlphabet, LongRange):
    """Scores of alignments, and the recursion over them."""

    beta: float = real(0.5, low=0, low_open=True, high_open=True)
    match: float = real(2.0, low=-1e6, high=1e6)
    mismatch: float = real(-1.0, low=-1e6, high=1e6)
    gap_open: float = real(3.0, low=0, high_open=True, remedy=_GAPS_COST)
    gap_extend: float = real(1.0, low=0, high_open=True, remedy=_GAPS_COST)
    matrix: Any = None
    alphabet: Alphabet | None = None

    cost = 3.0

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if self.matrix is not None:
            alphabet, matrix = checked_matrix(owner, self.alphabet, self.matrix)
            object.__setattr__(self, "alphabet", alphabet)
            object.__setattr__(self, "matrix", matrix)
        elif self.alphabet is not None:
            raise _check.fail(owner, "alphabet", "None unless a matrix is given", self.alphabet)
        super().__post_init__()
        highest = max(self.match, self.mismatch) if self.matrix is None else float(np.abs(self.matrix).max())
        if self.beta * highest > _LARGEST_EXPONENT:
            raise _check.fail(
                owner, "beta", f"at most {_LARGEST_EXPONENT / highest:g} for scores up to {highest:g}", self.beta
            )

    def _numbers(self) -> tuple[Float64, Float64]:
        """exp(beta S) for equal and different symbols, exp(-beta cost) to open and extend a gap; and the table."""
        scores = (self.match, self.mismatch, -self.gap_open, -self.gap_extend)
        table = np.empty((0, 0)) if self.matrix is None else np.exp(self.beta * self.matrix)
        return np.asarray([math.exp(self.beta * score) for score in scores]), table

    def pair_loop(self, dtype: DType) -> PairLoop:
        return with_numbers(_pairs, *self._numbers())

    def pair_logarithm(self, left: Any, right: Any) -> float:
        return logarithm(*_long_pair(left, right, *self._numbers()))


@final
@dataclass(frozen=True)
class LocalAlignment(_Alignment):
    """The local alignment kernel: k(s, t) = 1 + sum over all local alignments of exp(beta * score).

    The score of an alignment is the sum of S over its aligned pairs, less gap_open + gap_extend (g - 1) for each gap of
    g >= 1 symbols between consecutive aligned pairs, in each string; the unaligned ends are free. S is `match` for
    equal symbols and `mismatch` for others, or a `matrix` over an `alphabet`, or the name of one such as
    ``"BLOSUM62"`` (extra ``bio``). It is positive semi-definite if the matrix exp(beta S) is: see `psd`.

    Values grow exponentially with length: use `kernels.normalise`, which works with logarithms.

    >>> from mercer import kernels
    >>> kernels.LocalAlignment(beta=0.5).fit(["cat"])(["cat"], ["cart"]).round(6)
    array([[41.199312]])
    """

    variants = (
        {},
        {"beta": 0.2, "match": 1.0, "mismatch": 0.0, "gap_open": 1.0},
    )

    @property
    def psd(self) -> bool:
        if self.matrix is None:
            return self.match >= self.mismatch
        values = np.linalg.eigvalsh(np.exp(self.beta * self.matrix))
        return bool(values[0] >= -1e-9 * values[-1])


@final
@dataclass(frozen=True)
class LogLocalAlignment(_Alignment):
    """The logarithm of the local alignment kernel, log(k(s, t)) / beta: close to the best score, but not a kernel.

    It tames the dominant diagonal of `LocalAlignment`, at the price of being indefinite (`psd` is False): repair its
    Gram matrix, or expect machines to warn.

    `match`, `mismatch`, `gap_open` and `gap_extend` are as for `LocalAlignment`.

    >>> from mercer import kernels
    >>> kernels.LogLocalAlignment(beta=0.5).fit(["cat"])(["cat"], ["cart"]).round(6)
    array([[7.436843]])
    """

    psd = False

    def tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Floating) -> None:
        values = np.empty(out.shape)
        super().log_tile(left, right, state, values)
        out[...] = values * (math.log(2.0) / self.beta)

    def diagonal(self, features: SequenceFeatures, state: State) -> Float64:
        return features.logarithms * (math.log(2.0) / self.beta)

    def log_tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Float64) -> None:
        self.tile(left, right, state, out)
        np.log2(out, out=out)

    def log_diagonal(self, features: SequenceFeatures, state: State) -> Float64:
        return np.asarray(np.log2(self.diagonal(features, state)))


@jit
def _pairs(
    left: Array, left_offsets: Array, right: Array, right_offsets: Array, first: Array, second: Array, out: Array,
    numbers: Array, table: Array,
) -> None:  # fmt: skip
    """M: alignments that end with the pair (i, j); X: then a gap in s; Y: then a gap in t. X leads to Y, never back.

    M(i, j) = exp(beta S) (1 + M + X + Y)(i-1, j-1),  X(i, j) = O M(i-1, j) + E X(i-1, j),
    Y(i, j) = O (M + X)(i, j-1) + E Y(i, j-1),  k = 1 + sum of M.
    """
    rows, columns = empty_lanes(left_offsets, first), empty_lanes(right_offsets, second)
    width = columns.shape[0]
    equal, different, opened, longer = numbers
    with_table = table.shape[0] > 0
    gain = np.empty((width, LANES))
    M = np.empty((width + 1, LANES))
    X = np.empty((width + 1, LANES))
    Y = np.empty((width + 1, LANES))
    before = np.empty(LANES)
    total = np.empty(LANES)
    for start in range(0, first.shape[0], LANES):
        n = fill_lanes(left, left_offsets, first, start, -1, rows)
        m = fill_lanes(right, right_offsets, second, start, -2, columns)
        M[: m + 1] = 0
        X[: m + 1] = 0
        Y[: m + 1] = 0
        total[:] = 1
        for i in range(n):
            for j in range(m):
                for lane in range(LANES):
                    a = rows[i, lane]
                    b = columns[j, lane]
                    inside = a >= 0 and b >= 0
                    if with_table:
                        gain[j, lane] = table[a, b] if inside else 0.0
                    else:
                        gain[j, lane] = (equal if a == b else different) if inside else 0.0
            before[:] = 1  # 1 + M + X + Y at (i - 1, j - 1)
            for j in range(m):
                for lane in range(LANES):
                    old = M[j + 1, lane]
                    old_x = X[j + 1, lane]
                    reached = 1.0 + old + old_x + Y[j + 1, lane]
                    ended = gain[j, lane] * before[lane]
                    M[j + 1, lane] = ended
                    X[j + 1, lane] = opened * old + longer * old_x
                    Y[j + 1, lane] = opened * (M[j, lane] + X[j, lane]) + longer * Y[j, lane]
                    total[lane] += ended
                    before[lane] = reached
        save_lanes(total, start, out)


@jit(reassociate=False)
def _long_pair(left: Array, right: Array, numbers: Array, table: Array) -> Any:
    """The same for one pair, with a scale for every cell: F contains M, X and Y, E their scales."""
    m = right.shape[0]
    equal, different, opened, longer = numbers
    F = np.zeros((3, m + 1))
    E = np.zeros((3, m + 1), dtype=np.int64)
    total, total_scale = 1.0, np.int64(0)
    for i in range(left.shape[0]):
        before, before_scale = 1.0, np.int64(0)
        for j in range(1, m + 1):
            reached, reached_scale = combined(F, E, j, 1.0, 1.0, 1.0)
            reached, reached_scale = added(1.0, np.int64(0), reached, reached_scale)
            F[1, j], E[1, j] = combined(F, E, j, opened, longer, 0.0)
            gain = equal if left[i] == right[j - 1] else different
            if table.shape[0] > 0:
                gain = table[left[i], right[j - 1]]
            F[0, j], E[0, j] = scaled(gain * before, before_scale)
            F[2, j], E[2, j] = combined(F, E, j - 1, opened, opened, longer)
            total, total_scale = added(total, total_scale, F[0, j], E[0, j])
            before, before_scale = reached, reached_scale
    return total, total_scale

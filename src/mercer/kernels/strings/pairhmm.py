"""The kernel of a pair hidden Markov model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._jit import Array, jit
from mercer.errors import ParameterError
from mercer.inputs.strings import Strings
from mercer.kernels.alphabet import Alphabet, checked_alphabet, encode_known, known_symbols
from mercer.kernels.base import DType, Float64, Floating, State
from mercer.kernels.extended import LOG2_RADIX, added, scaled
from mercer.kernels.logarithmic import LogKernel
from mercer.kernels.strings.lanes import LANES, Coded, diagonal_by, entries_by, fill_lanes, longest_of, tile_by

_COST = 4.0
_LOWEST = 550.0
"""Cells are kept above exp of minus this, so that none is lost; what then overflows is done again with wider range."""
_SMALL = 1e-20


@final
@dataclass(frozen=True)
class PairHMM(LogKernel):
    """The pair hidden Markov model kernel: k(s, t) = the probability that a model emits the pair (s, t).

    A hidden word of classes is drawn: it ends with probability `stop` after each symbol, and class c has the
    probability `weights[c]`. Each class emits a symbol into either string, by its row of `classes`. Before, between and
    after them, either string has a gap with probability `gap_open`, of a length that goes on with probability
    `gap_extend`, filled with symbols of the `background`. Given the classes the two strings are
    independent and alike, which makes the kernel positive semi-definite.

    The `background` is given, or the frequencies of symbols in training. Without `classes`, there is one for each
    symbol, as frequent as the symbol, which it emits but for a `mutation` to the background. Values fade exponentially
    with length: use `kernels.normalise`, which works with logarithms.

    >>> from mercer import kernels
    >>> classes = dict(background=(0.5, 0.5), weights=(0.5, 0.5), classes=((0.9, 0.1), (0.2, 0.8)))
    >>> kernel = kernels.PairHMM(alphabet="ab", gap_open=0.2, gap_extend=0.3, stop=0.1, **classes)
    >>> kernel.fit(["ab"])(["ab"], ["ab", "a", "abb"]).round(8)
    array([[0.00322616, 0.00184758, 0.00064384]])
    """

    gap_open: float = 0.1
    gap_extend: float = 0.5
    stop: float = 0.05
    mutation: float = 0.2
    alphabet: Alphabet | None = None
    background: tuple[float, ...] | None = None
    weights: tuple[float, ...] | None = None
    classes: tuple[tuple[float, ...], ...] | None = None

    domain = Strings
    reason = "given the hidden classes, the two strings are independent and alike"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("gap_open", "gap_extend", "stop", "mutation"):
            _check.real("PairHMM", name, getattr(self, name), low=0, high=1, low_open=True, high_open=True)
        if self.alphabet is not None:
            object.__setattr__(self, "alphabet", checked_alphabet("PairHMM", self.alphabet))
        elif self.background is not None or self.classes is not None:
            raise _check.fail("PairHMM", "alphabet", "given beside background or classes: the symbols", None)
        if (self.weights is None) != (self.classes is None):
            raise _check.fail("PairHMM", "weights", "given beside classes, one for each, or neither", self.weights)
        size = len(self.alphabet or ())
        if self.background is not None:
            row = _distribution("background", self.background, "it", size)
            if min(row) == 0.0:
                raise ParameterError(
                    f"The 'background' parameter of PairHMM gives {(self.alphabet or '')[row.index(0.0)]!r} the "
                    "probability 0, so no gap could hold it. Smooth the estimates: add a little to every count."
                )
            object.__setattr__(self, "background", row)
        if self.classes is not None and self.weights is not None:
            rows = tuple(_distribution("classes", row, f"row {i}", size) for i, row in enumerate(self.classes))
            object.__setattr__(self, "classes", rows)
            object.__setattr__(self, "weights", _distribution("weights", self.weights, "it", len(rows)))

    @property
    def data_dependent(self) -> bool:
        return self.background is None

    def resolve(self, objects: Strings) -> State:
        symbols = known_symbols(objects, self.alphabet)
        codes = encode_known(objects, symbols, "PairHMM")
        if self.background is not None:
            background = np.asarray(self.background)
        else:
            background = np.bincount(codes, minlength=len(symbols)) + 1.0
            background = background / max(1.0, background.sum())
        if self.classes is not None:
            weights, rows = np.asarray(self.weights), np.asarray(self.classes)
        else:
            weights = background
            rows = (1.0 - self.mutation) * np.eye(len(symbols)) + self.mutation * background
        together = (rows.T * weights) @ rows
        return State(
            {"symbols": symbols, "background": background, "odds": together / np.outer(background, background)}
        )

    def _coded(self, objects: Strings, state: State) -> Strings:
        return Strings(encode_known(objects, state.values["symbols"], "PairHMM"), objects.offsets)

    def features(self, objects: Strings, state: State, dtype: DType) -> Coded:
        coded = self._coded(objects, state)
        logs = self._completed(diagonal_by(self._loop(state), coded, _COST), Coded.of(coded), Coded.of(coded), state)
        return Coded.of(coded, np.asarray(np.exp2(logs)), logs)

    def _numbers(self) -> Float64:
        """Ways between M, X and Y: MM, XM, YM, then the ends of each, then MX, XX, MY, XY, YY."""
        opened, longer, stop = self.gap_open, self.gap_extend, self.stop
        into = [(1 - opened) ** 2, (1 - longer) * (1 - opened), 1 - longer]
        gaps = [opened, longer, opened * (1 - opened), (1 - longer) * opened, longer]
        return np.asarray([way * (1 - stop) for way in into] + [way * stop for way in into] + gaps)

    def _loop(self, state: State) -> Any:
        odds, logs, numbers = state.values["odds"], np.log2(state.values["background"]), self._numbers()
        usual = min([*numbers, *odds[odds > 0]], default=1.0) > _SMALL

        def loop(left: Any, starts: Any, right: Any, ends: Any, first: Any, second: Any, out: Any) -> None:
            if usual:
                _pairs(left, starts, right, ends, first, second, out, odds, logs, numbers)
            else:
                out[...] = np.nan

        return loop

    def _completed(self, logs: Float64, left: Coded, right: Coded, state: State) -> Float64:
        """Logarithms in which pairs that left the range of float64 are done again, with a scale for every cell."""
        odds, base, numbers = state.values["odds"], np.log2(state.values["background"]), self._numbers()
        for place in np.argwhere(np.isnan(logs)):
            i, j = place[0], place[-1]
            s = left.symbols[left.offsets[i] : left.offsets[i + 1]]
            t = right.symbols[right.offsets[j] : right.offsets[j + 1]]
            mantissa, exponent = _long_pair(s, t, odds, numbers)
            found = -math.inf if mantissa == 0.0 else math.log2(mantissa) + LOG2_RADIX * exponent
            logs[tuple(place)] = found + base[s].sum() + base[t].sum()
        return logs

    def log_tile(self, left: Coded, right: Coded, state: State, out: Float64) -> None:
        tile_by(self._loop(state), left, right, _COST, out)
        self._completed(out, left, right, state)

    def tile(self, left: Coded, right: Coded, state: State, out: Floating) -> None:
        values = np.empty(out.shape)
        self.log_tile(left, right, state, values)
        with np.errstate(under="ignore"):
            np.exp2(values, out=out, casting="same_kind")

    def tile_entries(self, left: Coded, right: Coded, state: State) -> int:
        longest = max(left.lengths.max(initial=0), right.lengths.max(initial=0))
        return entries_by(left, right, _COST if longest < 300 else 20 * _COST)

    def diagonal(self, features: Coded, state: State) -> Float64:
        return features.diagonal

    def log_diagonal(self, features: Coded, state: State) -> Float64:
        return features.logarithms

    def single_precision(self, features: Coded, state: State) -> bool:
        return bool(features.logarithms.min(initial=0.0) > -60.0)  # float32 ends at 2^-126

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(alphabet="ACGT")
        yield cls(
            alphabet="ACGT",
            background=(0.25, 0.25, 0.25, 0.25),
            weights=(0.5, 0.5),
            classes=((0.7, 0.1, 0.1, 0.1), (0.1, 0.2, 0.3, 0.4)),
        )


def _distribution(field: str, value: Any, name: str, size: int) -> tuple[float, ...]:
    rule = f"probabilities, {size} in a row"
    try:
        row = tuple(_check.real("PairHMM", field, entry, low=0, high=1) for entry in value)
    except TypeError:
        raise _check.fail("PairHMM", field, rule, value) from None
    if len(row) != size:
        raise _check.fail("PairHMM", field, rule, value)
    if abs(sum(row) - 1.0) > 1e-6:
        raise ParameterError(
            f"The {field!r} parameter of PairHMM must hold probabilities that sum to 1, but {name} sums to "
            f"{sum(row):.9g}. Divide it by its sum."
        )
    return row


@jit(reassociate=False)
def _pairs(
    left: Array, left_offsets: Array, right: Array, right_offsets: Array, first: Array, second: Array, out: Array,
    odds: Array, logs: Array, numbers: Array,
) -> None:  # fmt: skip
    """M: the last symbols are of one class; X: a gap filled in s; Y: then one in t. X leads to Y, never back.

    Probabilities are divided by those of the background and multiplied by c for each symbol, to keep cells in range:
    M(i, j) = c^2 odds (MM M + XM X + YM Y)(i-1, j-1),  X(i, j) = c (MX M + XX X)(i-1, j),
    Y(i, j) = c (MY M + XY X + YY Y)(i, j-1). out[k] = log2 k, or NaN where that left the range after all.
    """
    most_rows, most_columns = 0, 0
    for k in range(first.shape[0]):
        most_rows = max(most_rows, left_offsets[first[k] + 1] - left_offsets[first[k]])
        most_columns = max(most_columns, right_offsets[second[k] + 1] - right_offsets[second[k]])
    rows = np.zeros((most_rows, LANES), dtype=np.int32)
    columns = np.zeros((most_columns, LANES), dtype=np.int32)
    M = np.empty((most_columns + 1, LANES))
    X = np.empty((most_columns + 1, LANES))
    Y = np.empty((most_columns + 1, LANES))
    before = np.empty(LANES)
    mm, xm, ym, m_end, x_end, y_end, mx, xx, my, xy, yy = numbers
    for start in range(0, first.shape[0], LANES):
        n = longest_of(left_offsets, first, start)
        m = longest_of(right_offsets, second, start)
        fill_lanes(left, left_offsets, first, start, n, 0, rows)
        fill_lanes(right, right_offsets, second, start, m, 0, columns)
        c = max(1.0, np.exp(-_LOWEST / max(1, n + m)) / xx)
        M[: m + 1] = 0.0
        X[: m + 1] = 0.0
        Y[: m + 1] = 0.0
        M[0] = 1.0
        for i in range(n + 1):
            if i > 0:
                for lane in range(LANES):
                    before[lane] = mm * M[0, lane] + xm * X[0, lane] + ym * Y[0, lane]
                    X[0, lane] = c * (mx * M[0, lane] + xx * X[0, lane])
                    M[0, lane] = 0.0
                    Y[0, lane] = 0.0
            for j in range(1, m + 1):
                if i > 0:
                    for lane in range(LANES):
                        reached = mm * M[j, lane] + xm * X[j, lane] + ym * Y[j, lane]
                        X[j, lane] = c * (mx * M[j, lane] + xx * X[j, lane])
                        M[j, lane] = c * c * odds[rows[i - 1, lane], columns[j - 1, lane]] * before[lane]
                        before[lane] = reached
                for lane in range(LANES):
                    Y[j, lane] = c * (my * M[j - 1, lane] + xy * X[j - 1, lane] + yy * Y[j - 1, lane])
            for lane in range(min(LANES, first.shape[0] - start)):
                begin, end = left_offsets[first[start + lane]], left_offsets[first[start + lane] + 1]
                if end - begin == i:
                    opposite, last = right_offsets[second[start + lane]], right_offsets[second[start + lane] + 1]
                    j = last - opposite
                    total = m_end * M[j, lane] + x_end * X[j, lane] + y_end * Y[j, lane]
                    if not total < 1e300 or not total > 0.0:
                        out[start + lane] = np.nan
                        continue
                    found = np.log2(total) - (i + j) * np.log2(c)
                    for place in range(begin, end):
                        found += logs[left[place]]
                    for place in range(opposite, last):
                        found += logs[right[place]]
                    out[start + lane] = found


@jit(reassociate=False)
def _long_pair(left: Array, right: Array, odds: Array, numbers: Array) -> Any:
    """The same of one pair, with a scale for every cell."""
    m = right.shape[0]
    mm, xm, ym, m_end, x_end, y_end, mx, xx, my, xy, yy = numbers
    F = np.zeros((3, m + 1))
    E = np.zeros((3, m + 1), dtype=np.int64)
    F[0, 0] = 1.0
    for i in range(left.shape[0] + 1):
        before, before_scale = 0.0, np.int64(0)
        for j in range(m + 1):
            if i > 0:
                reached, reached_scale = _mixed(F, E, j, mm, xm, ym)
                F[1, j], E[1, j] = _mixed(F, E, j, mx, xx, 0.0)
                F[0, j], E[0, j] = 0.0, np.int64(0)
                F[2, j], E[2, j] = 0.0, np.int64(0)
                if j > 0:
                    F[0, j], E[0, j] = scaled(odds[left[i - 1], right[j - 1]] * before, before_scale)
                before, before_scale = reached, reached_scale
            if j > 0:
                F[2, j], E[2, j] = _mixed(F, E, j - 1, my, xy, yy)
    return _mixed(F, E, m, m_end, x_end, y_end)


@jit(reassociate=False)
def _mixed(F: Array, E: Array, j: int, a: float, b: float, c: float) -> Any:
    """a M + b X + c Y at column j."""
    x, e = scaled(a * F[0, j], E[0, j])
    y, f = scaled(b * F[1, j], E[1, j])
    x, e = added(x, e, y, f)
    y, f = scaled(c * F[2, j], E[2, j])
    return added(x, e, y, f)

"""The kernel of a pair hidden Markov model."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64, Floating
from mercer.errors import ParameterError
from mercer.inputs.ragged import offsets_of
from mercer.inputs.strings import Strings
from mercer.kernels.algebra.logarithmic import LogKernel
from mercer.kernels.base import State
from mercer.kernels.features.alphabet import Alphabet, checked_alphabet, encode_known, known_symbols
from mercer.kernels.loops.extended import LOG2_RADIX
from mercer.kernels.strings.lanes import Coded, diagonal_by, entries_by, tile_by
from mercer.kernels.strings.pair_learning import PairModel, learn_pairs, ways
from mercer.kernels.strings.pair_loop import long_pair, pair_loop
from mercer.kernels.strings.substitution import checked_matrix

_COST = 4.0
_SMALL = 1e-20
_RATES = ("gap_open", "gap_extend", "stop")
_USUAL = {"gap_open": 0.1, "gap_extend": 0.5, "stop": 0.05, "mutation": 0.2}
"""Where estimates begin, and what they are without evidence."""
_STRINGS = 100
_LONGEST = 500
_CELLS = 5e5
"""Of the tables that a step of learning fills: it takes a tenth of a second."""


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
    symbol, as frequent as the symbol, which it emits but for a `mutation` to the background. Instead of classes,
    `match` may give the probability of every pair of matched symbols, a symmetric table that sums to 1: then the kernel
    is positive semi-definite if the table is, which `psd` tells.

    A rate that is None is estimated by `fit`, and with ``mutation=None`` the classes are, one for each symbol: by Baum
    and Welch's algorithm on the pairs of each training string and the one most like it under the rates at the start
    (0.1, 0.5, 0.05 and 0.2, which count as a little evidence). At most 100 different strings take part, evenly spaced
    through the training set, fewer where they are long, with their first 500 symbols. Nothing in it is random.

    Values fade exponentially with length: use `kernels.normalise`, which works with logarithms.

    >>> from mercer import kernels
    >>> classes = dict(background=(0.5, 0.5), weights=(0.5, 0.5), classes=((0.9, 0.1), (0.2, 0.8)))
    >>> kernel = kernels.PairHMM(alphabet="ab", gap_open=0.2, gap_extend=0.3, stop=0.1, **classes)
    >>> kernel.fit(["ab"])(["ab"], ["ab", "a", "abb"]).round(8)
    array([[0.00322616, 0.00184758, 0.00064384]])
    >>> kernels.PairHMM(stop=None).fit(["abba", "abb", "ba", "baba"]).state.values["rates"].round(2)
    array([0.1 , 0.5 , 0.24])
    """

    gap_open: float | None = 0.1
    gap_extend: float | None = 0.5
    stop: float | None = 0.05
    mutation: float | None = 0.2
    alphabet: Alphabet | None = None
    background: tuple[float, ...] | None = None
    weights: tuple[float, ...] | None = None
    classes: tuple[tuple[float, ...], ...] | None = None
    match: tuple[tuple[float, ...], ...] | None = None

    domain = Strings
    reason = "given the hidden classes, the two strings are independent and alike"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in (*_RATES, "mutation"):
            if getattr(self, name) is not None:
                _check.real("PairHMM", name, getattr(self, name), low=0, high=1, low_open=True, high_open=True)
        if self.alphabet is not None:
            object.__setattr__(self, "alphabet", checked_alphabet("PairHMM", self.alphabet))
        elif any(table is not None for table in (self.background, self.classes, self.match)):
            raise _check.fail("PairHMM", "alphabet", "given beside background, classes or match: the symbols", None)
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
        if self.match is not None:
            if self.classes is not None:
                raise _check.fail("PairHMM", "match", "given instead of classes, or not at all", self.match)
            object.__setattr__(self, "match", _joint(self.match, self.alphabet or ""))

    @property
    def psd(self) -> bool:
        if self.match is None:
            return True
        values = np.linalg.eigvalsh(np.asarray(self.match))
        return bool(values[0] >= -1e-9 * values[-1])

    @property
    def _free(self) -> tuple[list[bool], bool]:
        """Which rates are to be estimated; and whether the classes are."""
        rates = [getattr(self, name) is None for name in _RATES]
        return rates, all(part is None for part in (self.mutation, self.classes, self.match))

    @property
    def data_dependent(self) -> bool:
        rates, emissions = self._free
        return self.background is None or any(rates) or emissions

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
            mutation = _USUAL["mutation"] if self.mutation is None else self.mutation
            weights, rows = background, (1.0 - mutation) * np.eye(len(symbols)) + mutation * background
        given = [getattr(self, name) for name in _RATES]
        rates = np.asarray([_USUAL[name] if r is None else r for name, r in zip(_RATES, given, strict=True)])
        match = None if self.match is None else np.asarray(self.match)
        model = PairModel(rates, background, weights, rows, match)
        free, emissions = self._free
        if any(free) or emissions:
            pairs = self._neighbours(Strings(codes, objects.offsets), symbols, model)
            model = learn_pairs(pairs, model, free, emissions=emissions)
        return _state(symbols, model)

    def _neighbours(self, coded: Strings, symbols: Any, model: PairModel) -> list[tuple[Any, Any]]:
        """Pairs of the strings that train the model: each with the other one that has the largest cosine with it."""
        rows = [coded.symbols[a:b][:_LONGEST] for a, b in itertools.pairwise(coded.offsets)]
        rows = list({row.tobytes(): row for row in rows}.values())
        cells = float(np.mean([len(row) ** 2 for row in rows]))
        count = min(len(rows), max(2, min(_STRINGS, int(_CELLS / max(1.0, cells)))))
        if count < 2:
            return []
        rows = [rows[place] for place in np.linspace(0, len(rows) - 1, count).round().astype(np.int64)]
        state = _state(symbols, model)
        chosen = Strings(symbols[np.concatenate(rows)], offsets_of(len(row) for row in rows))
        features = self.features(chosen, state, np.float64)
        logs = np.empty((count, count))
        self.log_tile(features, features, state, logs)
        own = features.logarithms
        cosines = logs - 0.5 * (own[:, None] + own)
        np.fill_diagonal(cosines, -np.inf)
        nearest = cosines.argmax(axis=1)
        return [(rows[i], rows[j]) for i, j in sorted({(min(i, j), max(i, j)) for i, j in enumerate(nearest)})]

    def _coded(self, objects: Strings, state: State) -> Strings:
        return Strings(encode_known(objects, state.values["symbols"], "PairHMM"), objects.offsets)

    def features(self, objects: Strings, state: State, dtype: DType) -> Coded:
        coded = self._coded(objects, state)
        logs = self._completed(diagonal_by(self._loop(state), coded, _COST), Coded.of(coded), Coded.of(coded), state)
        return Coded.of(coded, np.asarray(np.exp2(logs)), logs)

    def _loop(self, state: State) -> Any:
        odds, logs, numbers = state.values["odds"], np.log2(state.values["background"]), ways(state.values["rates"])
        usual = min([*numbers, *odds[odds > 0]], default=1.0) > _SMALL

        def loop(left: Any, starts: Any, right: Any, ends: Any, first: Any, second: Any, out: Any) -> None:
            if usual:
                pair_loop(left, starts, right, ends, first, second, out, odds, logs, numbers)
            else:
                out[...] = np.nan

        return loop

    def _completed(self, logs: Float64, left: Coded, right: Coded, state: State) -> Float64:
        """Logarithms in which pairs that left the range of float64 are done again, with a scale for every cell."""
        odds, base, numbers = state.values["odds"], np.log2(state.values["background"]), ways(state.values["rates"])
        for place in np.argwhere(np.isnan(logs)):
            i, j = place[0], place[-1]
            s = left.symbols[left.offsets[i] : left.offsets[i + 1]]
            t = right.symbols[right.offsets[j] : right.offsets[j + 1]]
            mantissa, exponent = long_pair(s, t, odds, numbers)
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
        yield cls(alphabet="ACGT", gap_open=None, gap_extend=None, stop=None, mutation=None)


def _state(symbols: Any, model: PairModel) -> State:
    background = model.background
    odds = model.match / np.outer(background, background)
    return State({"symbols": symbols, "background": background, "odds": odds, "rates": model.rates})


def _joint(value: Any, alphabet: Alphabet) -> tuple[tuple[float, ...], ...]:
    """The probabilities of pairs of matched symbols, as rows."""
    _, table = checked_matrix("PairHMM", alphabet, value, "match")
    if table.min() < 0 or abs(table.sum() - 1.0) > 1e-6:
        raise ParameterError(
            "The 'match' parameter of PairHMM must hold probabilities that sum to 1 over all pairs, but the least is "
            f"{table.min():g}, the sum {table.sum():.9g}. Divide counts of pairs by their sum."
        )
    return tuple(tuple(float(entry) for entry in row) for row in table)


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

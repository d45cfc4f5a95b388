"""The kernel of a pair hidden Markov model."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64
from mercer.errors import ParameterError
from mercer.inputs.ragged import offsets_of
from mercer.inputs.strings import Strings
from mercer.kernels.algebra.logarithmic import ComputedAsLogarithm
from mercer.kernels.base import State
from mercer.kernels.features.alphabet import Alphabet, checked_alphabet, encode_known, known_symbols
from mercer.kernels.features.substitution import checked_matrix
from mercer.kernels.generative.pair_learning import PairModel, learn_pairs, ways
from mercer.kernels.generative.pair_loop import long_pair, pair_loop
from mercer.kernels.generative.probabilities import Row, Rows, checked_row, checked_rows
from mercer.kernels.loops.extended import logarithm
from mercer.kernels.loops.pairs import PairLoop, SequenceFeatures, recompute, with_numbers
from mercer.kernels.loops.string_lanes import RUNNER

_COST = 4.0
"""The cost of a pair of symbols, in computed numbers."""
_SMALL = 1e-20
"""A model with smaller probabilities leaves the range of float64 too easily: all pairs are computed one by one."""
_LONG, _RECOMPUTED = 300, 20
"""Pairs of strings longer than the first number are often recomputed, at about the second number times the cost."""
_RATES = ("gap_open", "gap_extend", "stop")
_USUAL = {"gap_open": 0.1, "gap_extend": 0.5, "stop": 0.05, "mutation": 0.2}
"""Initial estimates, which are kept in the absence of evidence."""
_MOST_STRINGS, _MOST_SYMBOLS = 100, 500
"""The most strings, and symbols of each, that a model is learnt from: its few rates need no more."""
_CELLS = 5e5
"""The most cells that a step of learning fills: about a tenth of a second."""


@final
@dataclass(frozen=True)
class PairHMM(ComputedAsLogarithm):
    """The pair hidden Markov model kernel: k(s, t) = the probability that a model emits the pair (s, t).

    A hidden word of classes is drawn: it ends with probability `stop` after each symbol, and class c has the
    probability `weights[c]`. Each class emits a symbol into either string, by its row of `classes`. Before, between and
    after them, either string has a gap with probability `gap_open`; it goes on with probability `gap_extend` after each
    symbol, and its symbols come from the `background`. Given the classes, the two strings are independent and
    identically distributed, so the kernel is positive semi-definite.

    The `background` is given, or consists of the frequencies of symbols in training. Without `classes`, there is one
    for each symbol, as frequent as the symbol; it emits that symbol or, with probability `mutation`, one from the
    background. Instead of classes, `match` may give the probability of every pair of matched symbols, a symmetric table
    that sums to 1; the kernel is then positive semi-definite if the table is (see `psd`).

    A rate that is None is estimated by `fit`, and with ``mutation=None`` so are the classes, one per symbol: by the
    Baum-Welch algorithm, on pairs of each training string and the one most similar to it under the initial rates (0.1,
    0.5, 0.05 and 0.2, which act as a weak prior). At most 100 different strings are used, evenly spaced in the training
    set, fewer if they are long, and only their first 500 symbols. Nothing in it is random.

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
    background: Row | None = None
    weights: Row | None = None
    classes: Rows | None = None
    match: Rows | None = None

    domain = Strings
    reason = "given the hidden classes, the two strings are independent and alike"
    variants = (
        {"alphabet": "ACGT"},
        {
            "alphabet": "ACGT",
            "background": (0.25, 0.25, 0.25, 0.25),
            "weights": (0.5, 0.5),
            "classes": ((0.7, 0.1, 0.1, 0.1), (0.1, 0.2, 0.3, 0.4)),
        },
        {"alphabet": "ACGT", "gap_open": None, "gap_extend": None, "stop": None, "mutation": None},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in (*_RATES, "mutation"):
            if getattr(self, name) is not None:
                _check.real("PairHMM", name, getattr(self, name), low=0, high=1, low_open=True, high_open=True)
        if self.alphabet is not None:
            object.__setattr__(self, "alphabet", checked_alphabet("PairHMM", self.alphabet))
        elif any(table is not None for table in (self.background, self.classes, self.match)):
            raise _check.fail("PairHMM", "alphabet", "given with background, classes or match: the symbols", None)
        if (self.weights is None) != (self.classes is None):
            raise _check.fail("PairHMM", "weights", "given with classes, one for each, or neither", self.weights)
        if self.match is not None and self.classes is not None:
            raise _check.fail("PairHMM", "match", "given instead of classes, or not at all", self.match)
        for name, value in _checked_tables(self).items():
            object.__setattr__(self, name, value)

    @property
    def psd(self) -> bool:
        if self.match is None:
            return True
        values = np.linalg.eigvalsh(np.asarray(self.match))
        return bool(values[0] >= -1e-9 * values[-1])

    @property
    def _free(self) -> tuple[list[bool], bool]:
        """Which rates are to be estimated, and whether the classes are."""
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
        """Pairs of strings that train the model: each with the other one of the largest cosine."""
        rows = [coded.symbols[a:b][:_MOST_SYMBOLS] for a, b in itertools.pairwise(coded.offsets)]
        rows = list({row.tobytes(): row for row in rows}.values())
        cells = float(np.mean([len(row) ** 2 for row in rows]))
        count = min(len(rows), max(2, min(_MOST_STRINGS, int(_CELLS / max(1.0, cells)))))
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

    def features(self, objects: Strings, state: State, dtype: DType) -> SequenceFeatures:
        codes = encode_known(objects, state.values["symbols"], "PairHMM")
        plain = SequenceFeatures.of(codes, objects.offsets)
        logs = self._completed(RUNNER.own(self._loop(state), plain, _COST), plain, plain, state)
        return replace(plain, logarithms=logs)

    def _loop(self, state: State) -> PairLoop:
        odds, logs, numbers = _tables(state)
        if min([*numbers, *odds[odds > 0]], default=1.0) > _SMALL:
            return with_numbers(pair_loop, odds, logs, numbers)
        return _mark_all

    def _completed(self, logs: Float64, left: SequenceFeatures, right: SequenceFeatures, state: State) -> Float64:
        """Logarithms, after recomputing pairs that left the range of float64 with a scale for every cell."""
        odds, base, numbers = _tables(state)

        def one_pair(s: Any, t: Any) -> float:
            return logarithm(*long_pair(s, t, odds, numbers)) + float(base[s].sum() + base[t].sum())

        return recompute(logs, left, right, one_pair)

    def log_tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Float64) -> None:
        RUNNER.fill(self._loop(state), left, right, _COST, out)
        self._completed(out, left, right, state)

    def tile_entries(self, left: SequenceFeatures, right: SequenceFeatures, state: State) -> int:
        factor = 1 if max(left.longest, right.longest) < _LONG else _RECOMPUTED
        return RUNNER.entries(left, right, factor * _COST)

    def single_precision(self, features: SequenceFeatures, state: State) -> bool:
        return bool(features.logarithms.min(initial=0.0) > -60.0)  # float32 ends at 2^-126


def _state(symbols: Any, model: PairModel) -> State:
    background = model.background
    odds = model.match / np.outer(background, background)
    return State({"symbols": symbols, "background": background, "odds": odds, "rates": model.rates})


def _joint(value: Any, alphabet: Alphabet) -> Rows:
    """The probabilities of pairs of matched symbols, as rows."""
    _, table = checked_matrix("PairHMM", alphabet, value, "match")
    if table.min() < 0 or abs(table.sum() - 1.0) > 1e-6:
        raise ParameterError(
            "The 'match' parameter of PairHMM must hold probabilities that sum to 1 over all pairs, but the smallest "
            f"is {table.min():g} and the sum {table.sum():.9g}. Divide counts of pairs by their sum."
        )
    return tuple(tuple(float(entry) for entry in row) for row in table)


def _checked_tables(kernel: PairHMM) -> dict[str, Any]:
    """The given tables of probabilities; each row is a distribution over the alphabet or the classes."""
    found: dict[str, Any] = {}
    letters = kernel.alphabet or ""
    if kernel.background is not None:
        found["background"] = row = checked_row("PairHMM", "background", kernel.background, len(letters))
        if min(row) == 0.0:
            raise ParameterError(
                f"The 'background' parameter of PairHMM gives {letters[row.index(0.0)]!r} the probability 0, so no gap "
                "could hold it. Smooth the estimates: add a little to every count."
            )
    if kernel.classes is not None:
        found["classes"] = rows = checked_rows("PairHMM", "classes", kernel.classes, len(letters))
        found["weights"] = checked_row("PairHMM", "weights", kernel.weights, len(rows))
    if kernel.match is not None:
        found["match"] = _joint(kernel.match, letters)
    return found


def _tables(state: State) -> tuple[Any, Float64, Float64]:
    """Odds of matched symbols, base-2 logarithms of the background, and transitions between states."""
    return state.values["odds"], np.log2(state.values["background"]), ways(state.values["rates"])


def _mark_all(*arrays: Any) -> None:
    """Mark all pairs as out of range: the model has probabilities too small for float64."""
    arrays[-1][...] = np.nan

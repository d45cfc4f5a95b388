"""The Fisher kernel of a Markov chain."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer import _check
from mercer._record import choice, integer, real
from mercer._types import DType, Float64
from mercer.errors import KernelWarning
from mercer.inputs.hashing import text_of_symbol
from mercer.inputs.strings import Strings
from mercer.kernels.base import State
from mercer.kernels.features.alphabet import Alphabet, checked_alphabet, encode_known, known_symbols
from mercer.kernels.features.counting import Counting
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.occurrences import Spelling
from mercer.kernels.generative.fisher import INFORMATION, whitening
from mercer.kernels.generative.probabilities import Rows, checked_rows

_MOST = 2**24
"""The largest number of probabilities of a chain, 128 MB of them: a higher order is likely to be a mistake."""


@final
@dataclass(frozen=True)
class MarkovFisher(Counting):
    """The Fisher kernel of a Markov chain of some order r: k(s, t) = phi(s)' I^-1 phi(t).

    The score of a string is phi_ua(s) = n_ua(s) / p(a | u) - n_u(s), for every context u of r symbols and symbol a that
    may follow: n_ua counts how often it does, n_u how often u is followed by anything. The first r symbols are taken
    as given. `probabilities` has a row for each context, in the order of the `alphabet`, the last symbol changing
    fastest; if it is None, `fit` estimates (n_ua + smoothing) / (n_u + smoothing |alphabet|). The `information` I is
    ``"identity"``, or ``"empirical"``: the mean of phi phi' over the training strings, whose pseudo-inverse is used.

    >>> from mercer import kernels
    >>> kernel = kernels.MarkovFisher(alphabet="ab", probabilities=((0.7, 0.3), (0.4, 0.6)))
    >>> kernel.fit(["abba"])(["abba"], ["aaba"]).round(6)
    array([[4.765873]])
    """

    order: int = integer(1, low=0)
    alphabet: Alphabet | None = None
    probabilities: Rows | None = None
    smoothing: float = real(1.0, low=0, low_open=True, high_open=True)
    information: str = choice(*INFORMATION)

    domain = Strings
    reason = "its features are the scores of the model"
    variants = (
        {"alphabet": "ACGT"},
        {"order": 2, "alphabet": "ACGT", "information": "empirical"},
        {"order": 0, "alphabet": "ACGT", "probabilities": ((0.4, 0.3, 0.2, 0.1),)},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = "MarkovFisher"
        if self.alphabet is not None:
            object.__setattr__(self, "alphabet", checked_alphabet(owner, self.alphabet))
        if self.probabilities is not None:
            if self.alphabet is None:
                raise _check.fail(owner, "alphabet", "given with probabilities: the symbols of the columns", None)
            size = len(self.alphabet)
            rows = checked_rows(owner, "probabilities", self.probabilities, size, size**self.order, positive=True)
            object.__setattr__(self, "probabilities", rows)

    @property
    def data_dependent(self) -> bool:
        return self.probabilities is None or self.information == "empirical"

    def resolve(self, objects: Strings) -> State:
        symbols = known_symbols(objects, self.alphabet)
        size = max(1, len(symbols))
        if (self.order + 1) * np.log2(max(2, size)) > np.log2(_MOST):
            rule = f"small enough for {_MOST:,} probabilities over {size} symbols"
            raise _check.fail("MarkovFisher", "order", rule, self.order)
        short = int((objects.lengths <= self.order).sum())
        if short:
            warnings.warn(
                f"{short} of {len(objects)} strings have no more than the {self.order} symbols that MarkovFisher takes "
                "as given: their kernel value with any string is 0.",
                KernelWarning,
                stacklevel=4,
            )
        words, _ = self._words(objects, symbols)
        if self.probabilities is not None:
            table = np.asarray(self.probabilities)
        else:
            counts = np.bincount(words, minlength=size ** (self.order + 1)).reshape(-1, size) + self.smoothing
            table = counts / counts.sum(axis=1, keepdims=True)
        state = State({"symbols": symbols, "probabilities": table})
        if self.information == "identity":
            return state
        scores = self._scores(objects, state, np.float64)
        names, columns = np.unique(scores.ids, return_inverse=True)
        matrix = sp.csr_array((scores.counts, columns, scores.offsets), shape=(len(scores), len(names)))
        return State({**state.values, "names": names.astype(np.int64), "whitening": whitening(matrix, "MarkovFisher")})

    def _words(self, objects: Strings, symbols: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The codes of every context and the symbol after it, and where those of each string begin."""
        codes = encode_known(objects, symbols, "MarkovFisher").astype(np.int64)
        size, width = max(1, len(symbols)), self.order + 1
        words = np.zeros(max(0, len(codes) - width + 1), dtype=np.int64)
        for place in range(width):
            words = words * size + codes[place : place + len(words)]
        counts = np.maximum(objects.lengths - self.order, 0)
        offsets = np.append(0, np.cumsum(counts))
        starts = np.repeat(objects.offsets[:-1] - offsets[:-1], counts)
        return words[np.arange(offsets[-1]) + starts], offsets

    def _scores(self, objects: Strings, state: State, dtype: DType) -> CountFeatures:
        table = state.values["probabilities"]
        size = table.shape[1]
        words, offsets = self._words(objects, state.values["symbols"])
        found = CountFeatures.of(words.astype(np.uint64), offsets, np.float64)
        ids = found.ids.astype(np.int64)
        rows = np.repeat(np.arange(len(objects)), np.diff(found.offsets))
        contexts = ids // size
        # Words are sorted within each string, so those of one context follow each other.
        fresh = np.ones(len(ids), dtype=bool)
        fresh[1:] = (contexts[1:] != contexts[:-1]) | (rows[1:] != rows[:-1])
        place = np.cumsum(fresh) - 1
        values = np.zeros((int(fresh.sum()), size))
        np.add.at(values, (place, ids % size), found.counts / table.ravel()[ids])
        values -= np.bincount(place, weights=found.counts, minlength=len(values))[:, None]
        names = contexts[fresh][:, None] * size + np.arange(size)
        bounds = np.append(0, np.cumsum(size * np.bincount(rows[fresh], minlength=len(objects))))
        return CountFeatures.of(names.ravel().astype(np.uint64), bounds, dtype, values.ravel())

    def counts(self, objects: Strings, state: State, dtype: DType) -> CountFeatures:
        scores = self._scores(objects, state, dtype)
        if self.information == "identity":
            return scores
        values = _projected(scores, state.values["names"], state.values["whitening"])
        width = values.shape[1]
        numbers = np.tile(np.arange(width, dtype=np.uint64), len(values))
        return CountFeatures.of(numbers, width * np.arange(len(values) + 1), dtype, values.ravel())

    def spelling(self, objects: Strings, state: State) -> Iterator[Spelling]:
        """The score of a symbol after its context: "AC -> G"."""
        if self.information != "identity":
            return
        symbols = state.values["symbols"].tolist()
        names = np.arange(state.values["probabilities"].size, dtype=np.uint64)

        def spell(k: int) -> str:
            word = []
            for _ in range(self.order + 1):
                k, place = divmod(k, len(symbols))
                word.append(text_of_symbol(symbols[place]))
            return f"{''.join(reversed(word[1:]))} -> {word[0]}"

        yield names, spell


def _projected(scores: CountFeatures, names: Any, matrix: Float64) -> Float64:
    """Scores times a matrix with a row for each of the names; other scores have no row."""
    rows = np.repeat(np.arange(len(scores)), np.diff(scores.offsets))
    place = np.minimum(np.searchsorted(names, scores.ids.astype(np.int64)), max(0, len(names) - 1))
    known = names[place] == scores.ids.astype(np.int64) if len(names) else np.zeros(len(place), dtype=bool)
    shape = (len(scores), len(names))
    return np.asarray(sp.csr_array((scores.counts[known], (rows[known], place[known])), shape=shape) @ matrix)

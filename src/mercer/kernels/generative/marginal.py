"""Kernels that sum over hidden states: k(s, t) = sum over h of P(h) P(s | h) P(t | h)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from mercer import _check
from mercer._types import DType, Float64, Index, Int32, Int64
from mercer.errors import InputError
from mercer.inputs.strings import Strings
from mercer.kernels.algebra.logarithmic import ComputedAsLogarithm
from mercer.kernels.base import State
from mercer.kernels.features.alphabet import Alphabet, encode_known, known_symbols
from mercer.kernels.generative.learning import learn
from mercer.kernels.generative.probabilities import Row, Rows, check_hidden_model
from mercer.kernels.generative.tree_loop import LANES, log_pair, tree_block

_CELLS_PER_TILE = 1e8
"""Products of probabilities in a tile, a tenth of a second or so: tiles cannot be interrupted."""
_SMALL = 1e-50
"""A model with smaller probabilities than this leaves the range of float64 too easily: all pairs go in logarithms."""


@final
@dataclass(frozen=True, eq=False)
class Observed:
    """Strings of one length as small codes, and the base-2 logarithm of k(s, s)."""

    codes: Int32
    logarithms: Float64

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, index: Index) -> Observed:
        return Observed(self.codes[index], self.logarithms[index])


@dataclass(frozen=True)
class Marginal(ComputedAsLogarithm):
    """Strings of one length, emitted by nodes of a tree whose hidden states depend on the state of the parent.

    The model is given as `start`, `transitions` and `emissions`, over the symbols of an `alphabet`; or, where these are
    None, learnt by `fit`, with that number of `states`.
    """

    start: Row | None = None
    transitions: Rows | None = None
    emissions: Rows | None = None
    alphabet: Alphabet | None = None
    states: int = 2
    random_state: int = 0

    domain: ClassVar[type[Strings]] = Strings

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        _check.integer(owner, "states", self.states, low=1)
        _check.integer(owner, "random_state", self.random_state, low=0)
        check_hidden_model(self)

    @abstractmethod
    def tree(self, length: int) -> tuple[Int64, Int64]:
        """The parent of each node, the root first, and the position that each node emits, or -1."""

    @abstractmethod
    def length(self, lengths: Int64) -> int:
        """The one length that strings have, given those of the training strings."""

    @property
    def data_dependent(self) -> bool:
        return self.start is None

    def resolve(self, objects: Strings) -> State:
        length = self.length(objects.lengths)
        symbols = known_symbols(objects, self.alphabet)
        parents, places = self.tree(length)
        shape = {"symbols": symbols, "parents": parents, "places": places, "length": np.asarray(length)}
        codes = self._codes(objects, State(shape))
        if self.start is not None:
            model = (np.asarray(self.start), np.asarray(self.transitions), np.asarray(self.emissions))
        else:
            model = learn(codes, parents, places, self.states, len(symbols), self.random_state)
        return State({**shape, "start": model[0], "transitions": model[1], "emissions": model[2]})

    def _codes(self, objects: Strings, state: State) -> Int32:
        owner, length = type(self).__name__, int(state.values["length"])
        wrong = np.flatnonzero(objects.lengths != length)
        if len(wrong):
            raise InputError(
                f"{owner} compares strings of one length, {length} here, but string {wrong[0]} has "
                f"{objects.lengths[wrong[0]]} symbols ({len(wrong)} such in all). Cut or group them by length."
            )
        return encode_known(objects, state.values["symbols"], owner).reshape(len(objects), length)

    def features(self, objects: Strings, state: State, dtype: DType) -> Observed:
        codes = self._codes(objects, state)
        # k(s, s) is one sum with squared emissions, against a string that is certain.
        nothing = np.zeros((1, codes.shape[1]), dtype=np.int32)
        emissions = state.values["emissions"]
        own = self._block(nothing, np.ones_like(emissions), codes, emissions**2, state)[0]
        return Observed(codes, own)

    def _block(self, left: Any, left_table: Any, right: Any, right_table: Any, state: State) -> Float64:
        start, transitions = state.values["start"], state.values["transitions"]
        parents, places = state.values["parents"], state.values["places"]
        logs = np.full((len(left), len(right)), np.nan)
        positive = [table[table > 0].min() for table in (start, transitions, left_table, right_table)]
        if min(positive) > _SMALL:
            tree_block(left, left_table, right, right_table, start, transitions, parents, places, logs)
        missing = np.argwhere(np.isnan(logs))
        if len(missing):
            with np.errstate(divide="ignore"):
                tables = [np.log(table) for table in (left_table, right_table, start, transitions)]
            for i, j in missing:
                logs[i, j] = log_pair(left[i], tables[0], right[j], tables[1], tables[2], tables[3], parents, places)
        return logs

    def log_tile(self, left: Observed, right: Observed, state: State, out: Float64) -> None:
        emissions = state.values["emissions"]
        out[...] = self._block(left.codes, emissions, right.codes, emissions, state)

    def tile_entries(self, left: Observed, right: Observed, state: State) -> int:
        cells = len(state.values["parents"]) * len(state.values["start"]) ** 2
        return max(LANES, int(_CELLS_PER_TILE / max(1, cells)))

    def single_precision(self, features: Observed, state: State) -> bool:
        return bool(features.logarithms.min(initial=0.0) > -60.0)  # float32 ends at 2^-126

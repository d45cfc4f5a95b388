"""Kernels that sum over hidden states, of a chain (the hidden Markov model) or of a tree."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from mercer import _check
from mercer._record import integer
from mercer._types import DType, Float64, Index, Int32, Int64
from mercer.errors import InputError
from mercer.inputs.strings import Strings
from mercer.kernels.algebra.logarithmic import ComputedAsLogarithm
from mercer.kernels.base import State
from mercer.kernels.features.alphabet import Alphabet, encode_known, known_symbols
from mercer.kernels.generative.learning import learn
from mercer.kernels.generative.probabilities import EXAMPLE, MODEL, Row, Rows, check_hidden_model, given_model
from mercer.kernels.generative.tree_loop import LANES, log_pair, tree_block

_CELLS_PER_TILE = 1e8
"""Products of probabilities per tile: about a tenth of a second, since tiles cannot be interrupted."""
_SMALL = 1e-50
"""A model with smaller probabilities leaves the range of float64 too easily: all pairs are computed in logarithms."""
_SHAPE: dict[str, Any] = {
    "parents": (-1, 0, 0, 1, 1, 2, 2, *range(3, 7), 3, 4, 5, 6),
    "observed": tuple(range(3, 15)),
}
"""A tree for examples."""


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

    The model is given as `start`, `transitions` and `emissions`, over the symbols of an `alphabet`; or, if these are
    None, learnt by `fit` with `states` states.
    """

    start: Row | None = None
    transitions: Rows | None = None
    emissions: Rows | None = None
    alphabet: Alphabet | None = None
    states: int = integer(2, low=1, high=1000)
    random_state: int = integer(0, low=0)

    domain: ClassVar[type[Strings]] = Strings

    def __post_init__(self) -> None:
        super().__post_init__()
        check_hidden_model(self)

    @abstractmethod
    def tree(self, length: int) -> tuple[Int64, Int64]:
        """The parent of each node, the root first, and the position that each node emits, or -1."""

    @abstractmethod
    def length(self, lengths: Int64) -> int:
        """The common length of all strings, given the lengths of the training strings."""

    @property
    def data_dependent(self) -> bool:
        return self.start is None

    def resolve(self, objects: Strings) -> State:
        length = self.length(objects.lengths)
        symbols = known_symbols(objects, self.alphabet)
        parents, places = self.tree(length)
        shape = {"symbols": symbols, "parents": parents, "places": places, "length": np.asarray(length)}
        codes = self._codes(objects, State(shape))
        model = given_model(self)
        if model is None:
            model = learn(codes, parents, places, self.states, len(symbols), self.random_state)
        return State({**shape, **dict(zip(MODEL, model, strict=True))})

    def _codes(self, objects: Strings, state: State) -> Int32:
        owner, length = type(self).__name__, int(state.values["length"])
        wrong = np.flatnonzero(objects.lengths != length)
        if len(wrong):
            raise InputError(
                f"{owner} compares strings of one length, {length} here, but string {wrong[0]} has "
                f"{objects.lengths[wrong[0]]} symbols ({len(wrong)} such strings in all). Cut or group them by length."
            )
        return encode_known(objects, state.values["symbols"], owner).reshape(len(objects), length)

    def features(self, objects: Strings, state: State, dtype: DType) -> Observed:
        codes = self._codes(objects, state)
        # k(s, s) is one sum with squared emissions, against a string of probability 1.
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


@final
@dataclass(frozen=True)
class FixedLengthHMM(Marginal):
    """Strings of one length under a hidden Markov model: k(s, t) = sum over paths h of P(h) P(s | h) P(t | h).

    `start` has the probability of each state; row i of `transitions` has the probabilities of the states after state i,
    and row i of `emissions` those of the symbols of the `alphabet`. If they are None, `fit` learns a model with
    `states` states by the Baum-Welch algorithm from a random start. The value is the probability that two strings,
    emitted independently along one hidden path, are s and t: use `kernels.normalise`, which works with logarithms.

    `random_state` is the seed of the starts from which probabilities are learnt.

    >>> from mercer import kernels
    >>> model = dict(start=(0.6, 0.4), transitions=((0.7, 0.3), (0.2, 0.8)), emissions=((0.9, 0.1), (0.2, 0.8)))
    >>> kernels.FixedLengthHMM(alphabet="ab", **model).fit(["ab"])(["ab"], ["ab", "aa"]).round(6)
    array([[0.104938, 0.056282]])
    """

    reason = "its features are the hidden paths"
    variants = ({"alphabet": "ACGT", "states": 2}, EXAMPLE)

    def tree(self, length: int) -> tuple[Int64, Int64]:
        return np.arange(length) - 1, np.arange(length)

    def length(self, lengths: Int64) -> int:
        if not lengths[0]:
            raise InputError("FixedLengthHMM compares strings of one length, at least 1, but string 0 is empty.")
        return int(lengths[0])


@final
@dataclass(frozen=True)
class HiddenTree(Marginal):
    """Labellings of one rooted tree: k(s, t) = sum over hidden states h of P(h) P(s | h) P(t | h).

    `parents` has the number of the parent of each node; the root is node 0, with parent -1, and a parent comes before
    its children. `observed` are the nodes that emit the symbols of a string, in order: by default the leaves, as in
    phylogenetic profiles. `transitions` has a row for each state of the parent; the model is given or learnt as for
    `FixedLengthHMM`, whose tree is a chain.

    `random_state` is the seed of the starts from which probabilities are learnt.

    >>> from mercer import kernels
    >>> model = dict(start=(0.6, 0.4), transitions=((0.7, 0.3), (0.2, 0.8)), emissions=((0.9, 0.1), (0.2, 0.8)))
    >>> kernel = kernels.HiddenTree(parents=(-1, 0, 0, 1, 1), alphabet="ab", **model)
    >>> kernel.fit(["aab"])(["aab"], ["aab", "abb"]).round(6)
    array([[0.04639 , 0.018194]])
    """

    parents: tuple[int, ...] = (-1, 0, 0)
    observed: tuple[int, ...] | None = None

    reason = "its features are the hidden states"
    variants = ({"alphabet": "ACGT", "states": 2, **_SHAPE}, {**EXAMPLE, **_SHAPE})

    def __post_init__(self) -> None:
        super().__post_init__()
        parents = _numbers("parents", self.parents)
        if not parents or parents[0] != -1 or any(not 0 <= p < v for v, p in enumerate(parents[1:], 1)):
            rule = "the parent of each node: -1 for node 0, the root, and an earlier node for every other"
            raise _check.fail("HiddenTree", "parents", rule, self.parents, "Number the nodes from the root downwards.")
        object.__setattr__(self, "parents", parents)
        if self.observed is not None:
            observed = _numbers("observed", self.observed)
            bad = (
                not observed or len(set(observed)) != len(observed) or not all(0 <= v < len(parents) for v in observed)
            )
            if bad:
                raise _check.fail("HiddenTree", "observed", "a list of different nodes of the tree", self.observed)
            object.__setattr__(self, "observed", observed)

    @property
    def _emitting(self) -> tuple[int, ...]:
        if self.observed is not None:
            return self.observed
        return tuple(v for v in range(len(self.parents)) if v not in self.parents)

    def tree(self, length: int) -> tuple[Int64, Int64]:
        places = np.full(len(self.parents), -1)
        places[list(self._emitting)] = np.arange(length)
        return np.asarray(self.parents), places

    def length(self, lengths: Int64) -> int:
        return len(self._emitting)


def _numbers(field: str, value: Any) -> tuple[int, ...]:
    try:
        return tuple(_check.integer("HiddenTree", field, node) for node in value)
    except TypeError:
        raise _check.fail("HiddenTree", field, "a list of node numbers", value) from None

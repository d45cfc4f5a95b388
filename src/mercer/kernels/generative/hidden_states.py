"""Kernels of models with hidden states: of a chain, the hidden Markov model, and of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._types import Int64
from mercer.errors import InputError
from mercer.kernels.generative.marginal import Marginal


@final
@dataclass(frozen=True)
class FixedLengthHMM(Marginal):
    """Strings of one length under a hidden Markov model: k(s, t) = sum over paths h of P(h) P(s | h) P(t | h).

    `start` has the probability of each state, `transitions` a row for each state of where it leads, `emissions` a row
    for each state of the symbols of the `alphabet`. Where they are None, `fit` learns a model with `states` states by
    Baum and Welch's algorithm from a random start. The value is the probability that two strings, emitted
    independently along one hidden path, are s and t: use `kernels.normalise`, which works with logarithms.

    >>> from mercer import kernels
    >>> model = dict(start=(0.6, 0.4), transitions=((0.7, 0.3), (0.2, 0.8)), emissions=((0.9, 0.1), (0.2, 0.8)))
    >>> kernels.FixedLengthHMM(alphabet="ab", **model).fit(["ab"])(["ab"], ["ab", "aa"]).round(6)
    array([[0.104938, 0.056282]])
    """

    reason = "its features are the hidden paths"

    def tree(self, length: int) -> tuple[Int64, Int64]:
        return np.arange(length) - 1, np.arange(length)

    def length(self, lengths: Int64) -> int:
        if not lengths[0]:
            raise InputError("FixedLengthHMM compares strings of one length, at least 1, but string 0 is empty.")
        return int(lengths[0])

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(alphabet="ACGT", states=2)
        yield cls(
            start=(0.6, 0.4),
            transitions=((0.7, 0.3), (0.2, 0.8)),
            emissions=((0.5, 0.3, 0.1, 0.1), (0.1, 0.2, 0.3, 0.4)),
            alphabet="ACGT",
        )


@final
@dataclass(frozen=True)
class HiddenTree(Marginal):
    """Labellings of one rooted tree: k(s, t) = sum over hidden states h of P(h) P(s | h) P(t | h).

    `parents` has the number of the parent of each node; the root is node 0, with parent -1, and a parent comes before
    its children. `observed` are the nodes that emit the symbols of a string, in order: by default the leaves, as in
    phylogenetic profiles. `transitions` has a row for each state of the parent; the model is given or learnt as for
    `FixedLengthHMM`, which is the tree that is a chain.

    >>> from mercer import kernels
    >>> model = dict(start=(0.6, 0.4), transitions=((0.7, 0.3), (0.2, 0.8)), emissions=((0.9, 0.1), (0.2, 0.8)))
    >>> kernel = kernels.HiddenTree(parents=(-1, 0, 0, 1, 1), alphabet="ab", **model)
    >>> kernel.fit(["aab"])(["aab"], ["aab", "abb"]).round(6)
    array([[0.04639 , 0.018194]])
    """

    parents: tuple[int, ...] = (-1, 0, 0)
    observed: tuple[int, ...] | None = None

    reason = "its features are the hidden states"

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

    @classmethod
    def examples(cls) -> Iterator[Self]:
        shape = (-1, 0, 0, 1, 1, 2, 2, *range(3, 7), 3, 4, 5, 6)
        emitting = (*range(3, 15),)
        yield cls(alphabet="ACGT", states=2, parents=shape, observed=emitting)
        yield cls(
            start=(0.6, 0.4),
            transitions=((0.7, 0.3), (0.2, 0.8)),
            emissions=((0.5, 0.3, 0.1, 0.1), (0.1, 0.2, 0.3, 0.4)),
            alphabet="ACGT",
            parents=shape,
            observed=emitting,
        )


def _numbers(field: str, value: Any) -> tuple[int, ...]:
    try:
        return tuple(_check.integer("HiddenTree", field, node) for node in value)
    except TypeError:
        raise _check.fail("HiddenTree", field, "a list of node numbers", value) from None

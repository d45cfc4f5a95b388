"""The kernel of a hidden Markov model on strings of one length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InputError
from mercer.kernels.generative.marginal import Marginal, Nodes


@final
@dataclass(frozen=True)
class FixedLengthHMM(Marginal):
    """Strings of one length under a hidden Markov model: k(s, t) = sum over paths h of P(h) P(s | h) P(t | h).

    `start` has the probability of each state, `transitions` a row for each state of where it leads, `emissions` a row
    for each state of the symbols of the `alphabet`. Where they are None, `fit` learns a model of so many `states` by
    Baum and Welch's algorithm from a random start. The value is the probability that two strings, emitted
    independently along one hidden path, are s and t: use `kernels.normalise`, which works with logarithms.

    >>> from mercer import kernels
    >>> model = dict(start=(0.6, 0.4), transitions=((0.7, 0.3), (0.2, 0.8)), emissions=((0.9, 0.1), (0.2, 0.8)))
    >>> kernels.FixedLengthHMM(alphabet="ab", **model).fit(["ab"])(["ab"], ["ab", "aa"]).round(6)
    array([[0.104938, 0.056282]])
    """

    reason = "its features are the hidden paths"

    def tree(self, length: int) -> tuple[Nodes, Nodes]:
        return np.arange(length) - 1, np.arange(length)

    def length(self, lengths: npt.NDArray[np.int64]) -> int:
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

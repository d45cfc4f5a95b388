"""Subsequences that match by the similarity of their symbols."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from mercer import _check
from mercer._types import DType
from mercer.inputs.strings import Strings
from mercer.kernels.base import State
from mercer.kernels.features.alphabet import Alphabet, encode
from mercer.kernels.features.substitution import REPAIRS, checked_matrix, repaired
from mercer.kernels.loops.pairs import PairLoop
from mercer.kernels.strings.gaps import gap_loop
from mercer.kernels.strings.subsequences import Subsequences


@final
@dataclass(frozen=True)
class SoftMatching(Subsequences):
    """Gap-weighted subsequences whose symbols need not be equal:

    k(s, t) = sum over index tuples i, j of length p of decay^(len(i) + len(j)) prod over r of A(s_{i_r}, t_{j_r}).

    `matrix` is the symmetric table A over the symbols of `alphabet`, or the name of a substitution matrix such as
    ``"BLOSUM62"`` (extra ``bio``). A must be positive semi-definite; scores usually are not, and `repair` says what to
    do: ``"none"`` refuses, ``"clip"`` sets negative eigenvalues to 0, ``"shift"`` adds what is missing to the diagonal.

    >>> from mercer import kernels
    >>> similar = [[1.0, 0.5, 0.0, 0.0], [0.5, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    >>> kernels.SoftMatching(similar, "bcat", p=2, decay=0.5).fit(["cat"])(["cat"], ["bat"])
    array([[0.1015625]])
    """

    matrix: Any
    alphabet: Alphabet | None = None
    p: int = 3
    decay: float = 0.5
    repair: str = "none"

    def __post_init__(self) -> None:
        owner = "SoftMatching"
        _check.real(owner, "decay", self.decay, low=0, low_open=True, high=1)
        _check.choice(owner, "repair", self.repair, REPAIRS)
        alphabet, matrix = checked_matrix(owner, self.alphabet, self.matrix)
        object.__setattr__(self, "alphabet", alphabet)
        object.__setattr__(self, "matrix", repaired(owner, matrix, self.repair))
        super().__post_init__()

    def resolve(self, objects: Strings) -> State:
        self.coded(self.sequences(objects))  # refuses symbols outside the alphabet
        return super().resolve(objects)

    def coded(self, sequences: Strings) -> Strings:
        assert self.alphabet is not None
        codes = encode(sequences, self.letters(self.alphabet), "SoftMatching", skip=False)
        return Strings(codes, sequences.offsets)

    def pair_loop(self, dtype: DType) -> PairLoop:
        decay = np.full(1, float(self.decay))
        return gap_loop(self.p, decay, decay, self.matrix, dtype)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls([[1.0, 0.4, 0.0, 0.1], [0.4, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.3], [0.1, 0.0, 0.3, 1.0]], "ACGT", p=2)

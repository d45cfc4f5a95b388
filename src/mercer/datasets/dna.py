"""Sequences that look like DNA, in two classes that differ by mutated motifs; and how motifs are planted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer import _check

BASES = np.frombuffer(b"ACGT", dtype=np.uint8)
SHORTEST, LONGEST = 40, 80  # bases: room for three motifs of 8 that do not overlap, and kernels on strings stay fast
# The second pair holds the same bases as the first, in another order: counting bases tells nothing.
MOTIFS = {"promoter": ("TATAATGC", "TTGACAGC"), "decoy": ("ATGTCAAT", "GACTTCAG")}


def make_dna(n: int = 400, *, mutation: float = 0.15, random_state: int = 0) -> tuple[list[str], npt.NDArray[np.str_]]:
    """`n` sequences of 40 to 80 bases, half of them "promoter" and half "decoy", in random order.

    Bases are drawn evenly. Each sequence then gets one copy of each of the two motifs of its class, at random places,
    each base of a copy being redrawn with probability `mutation`. The motifs of both classes hold the same bases in
    another order, so that only substrings of some length tell the classes apart.

    >>> from mercer.datasets import make_dna
    >>> sequences, labels = make_dna(4, random_state=1)
    >>> len(sequences), sorted(str(label) for label in labels)
    (4, ['decoy', 'decoy', 'promoter', 'promoter'])
    """
    _check.integer("make_dna", "n", n, low=2)
    _check.real("make_dna", "mutation", mutation, low=0, high=1)
    _check.integer("make_dna", "random_state", random_state, low=0)
    generator = np.random.default_rng(random_state)
    classes = sorted(MOTIFS)
    labels = generator.permutation(np.array([classes[i % len(classes)] for i in range(n)]))
    planter = Planter(generator, float(mutation))
    return [planter.sequence(MOTIFS[str(label)]) for label in labels], labels


@final
@dataclass(frozen=True)
class Planter:
    """Writes mutated copies of motifs into random sequences; `mutation` is the chance of a new base at a position."""

    generator: np.random.Generator
    mutation: float

    def background(self) -> npt.NDArray[np.uint8]:
        """Bases drawn evenly, of a random length."""
        return self.generator.choice(BASES, size=int(self.generator.integers(SHORTEST, LONGEST + 1)))

    def mutated(self, motif: str) -> npt.NDArray[np.uint8]:
        """The motif, each of its bases redrawn with probability `mutation`."""
        bases = np.frombuffer(motif.encode(), dtype=np.uint8)
        redrawn = self.generator.choice(BASES, size=len(bases))
        return np.where(self.generator.random(len(bases)) < self.mutation, redrawn, bases)

    def sequence(self, motifs: tuple[str, ...]) -> str:
        """A background with one copy of each motif, at places that do not overlap."""
        bases = self.background()
        stretch = len(bases) // max(len(motifs), 1)
        for number, motif in enumerate(motifs):
            start = number * stretch + int(self.generator.integers(stretch - len(motif) + 1))
            bases[start : start + len(motif)] = self.mutated(motif)
        return bases.tobytes().decode()

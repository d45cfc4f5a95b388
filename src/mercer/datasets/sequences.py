"""Random sequences with planted motifs: what the generated sets of strings are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

Symbols = npt.NDArray[np.uint8]

BASES = np.frombuffer(b"ACGT", dtype=np.uint8)
SHORTEST = 40
LONGEST = 80


@final
@dataclass(frozen=True)
class Planter:
    """Writes mutated copies of motifs into random sequences; `mutation` is the chance of a new base at a position."""

    generator: np.random.Generator
    mutation: float

    def background(self) -> Symbols:
        """Bases drawn evenly, of a random length."""
        return self.generator.choice(BASES, size=int(self.generator.integers(SHORTEST, LONGEST + 1)))

    def mutated(self, motif: str) -> Symbols:
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

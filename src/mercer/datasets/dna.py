"""Sequences that look like DNA, in two classes told apart by mutated motifs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer.datasets.sequences import Planter

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

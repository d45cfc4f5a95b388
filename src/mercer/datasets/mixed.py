"""A table whose classes can be separated only by a sequence and numbers together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer.datasets.dna import Planter

NUMBERS = ("warmth", "acidity")
SITES = ("TATAATGC", "ATGTCAAT")
"""The motif that helps binding, and the one (of the same bases) that hinders it."""
# So that a kernel on either part alone is right about three times in four, and on both nearly always.
_COPIES, _MUTATION, _NOISE = 3, 0.05, 0.1


def make_mixed(n: int = 400, *, random_state: int = 0) -> tuple[dict[str, Any], npt.NDArray[np.str_]]:
    """A table of `n` rows with the columns sequence, warmth and acidity, labelled "binds" or "free".

    Whether a molecule binds depends on a sum of two parts. The site in its sequence, planted three times with
    mutations, counts +1 or -1. Warmth and acidity count 1.5 cos(r), r being their distance from the best conditions,
    (0, 0): a bump that no straight line describes. A kernel on the sequence sees the first part only, one on the
    numbers the second, and either alone is right about three times in four; a sum of both kernels sees the sum.

    >>> from mercer.datasets import make_mixed
    >>> table, labels = make_mixed(5, random_state=1)
    >>> sorted(table), len(labels)
    (['acidity', 'sequence', 'warmth'], 5)
    """
    _check.integer("make_mixed", "n", n, low=2)
    _check.integer("make_mixed", "random_state", random_state, low=0)
    generator = np.random.default_rng(random_state)
    planter = Planter(generator, _MUTATION)
    helps = generator.permutation(np.arange(n) % 2 == 0)
    sequences = [planter.sequence((SITES[0 if good else 1],) * _COPIES) for good in helps]
    # Evenly by radius, so that cos(r) takes all of its values.
    radius = np.pi * generator.random(n)
    angle = 2.0 * np.pi * generator.random(n)
    score = np.where(helps, 1.0, -1.0) + 1.5 * np.cos(radius) + _NOISE * generator.standard_normal(n)
    table = {
        "sequence": sequences,
        "warmth": radius * np.cos(angle),
        "acidity": radius * np.sin(angle),
    }
    return table, np.where(score > 0, "binds", "free")

"""Data and helpers that tests of `diagnose` share."""

import numpy as np

GOOD = np.array([[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]], dtype=float)
LABELS = [1, 1, 2, 2, 2]
RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 60)
BLOBS = RNG.normal(size=(120, 2)) + 3 * Y[:, None]


def names(found):
    return [finding.name for finding in found.findings]

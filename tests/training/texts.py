"""Short random sequences with targets, and a kernel on them that has few features."""

import numpy as np

from mercer import kernels


def words(n, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("ACGT"), size=rng.integers(6, 20))) for _ in range(n)]


TEXTS = words(120)
NEW = words(30, seed=1)
COUNTS = np.array([text.count("A") + 2 * text.count("GA") for text in TEXTS], dtype=float)
TWO = np.median(COUNTS) < COUNTS
THREE = np.digitize(COUNTS, np.quantile(COUNTS, [0.33, 0.66]))
WEIGHTS = np.random.default_rng(2).uniform(0, 2, len(TEXTS)).round(1)
KERNEL = kernels.normalise(kernels.Spectrum(p=2)) + 0.5 * kernels.Spectrum(p=1)

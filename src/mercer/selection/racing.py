"""Which settings of a search can no longer win."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import stats

from mercer._types import Float64

SIGNIFICANCE = 0.05
"""The chance of dropping a setting that is as good as the best: larger drops more settings sooner, and loses the best
one more often. 5 % is the usual level."""


def hopeful(scores: Float64) -> npt.NDArray[np.bool_]:
    """Which settings may still turn out best; `scores` has one row per setting and one column per fold tried.

    Every setting is compared with the best so far on the same folds, and dropped if a one-sided paired t-test finds it
    worse. Since a few folds may agree by chance, a spread below the median counts as the median. Settings whose fits
    failed are dropped at once.
    """
    means = scores.mean(axis=1)
    usable = np.isfinite(means)
    folds = scores.shape[1]
    if folds < 2 or not usable.any():
        return usable if usable.any() else np.ones(len(scores), dtype=bool)
    best = int(np.where(usable, means, -np.inf).argmax())
    behind = scores[best] - scores
    gap, spread = behind.mean(axis=1), behind.std(axis=1, ddof=1)
    others = np.flatnonzero(usable & (np.arange(len(scores)) != best))
    if len(others):
        spread = np.maximum(spread, np.median(spread[others]))
    critical = float(stats.t.ppf(1.0 - SIGNIFICANCE, folds - 1))
    dropped = gap > critical * spread / np.sqrt(folds)
    keep: npt.NDArray[np.bool_] = usable & ~dropped
    keep[best] = True
    return keep

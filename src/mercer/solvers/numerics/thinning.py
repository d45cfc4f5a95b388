"""A rough start from a few of many objects.

Newton's method spends most of its steps far from the optimum, where every eighth or sixteenth object shows the way as
well as all of them. So large problems are first solved roughly on a subset of the objects, which in turn may start from
a smaller one.
"""

from __future__ import annotations

import numpy as np

from mercer._types import Float64, Index


def thinned(C: Float64, stride: int, classes: Float64 | None = None) -> tuple[Index, Float64] | None:
    """Every stride-th object (of each class, if classes are given), with penalties scaled to stand for the others.

    Returns None if a class would lose all its objects: its intercept would be unbounded.

    >>> thinned(np.ones(6), 3)
    (slice(None, None, 3), array([3., 3.]))
    """
    few: Index = slice(None, None, stride)
    if classes is not None:
        few = np.sort(np.argsort(classes, kind="stable")[stride // 2 :: stride])
        if len(np.unique(classes[few])) < len(np.unique(classes)):
            return None
    return few, C[few] * (C.sum() / C[few].sum())

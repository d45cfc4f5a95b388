"""The final machine on very many objects: exact or on landmarks, depending on the costs and the loss by landmarks.

Kernels and penalties are chosen on a sample. To train on all objects, the time of an exact machine grows with the
square of their number, that of a machine on landmarks linearly. If the exact one would take too long, a probe measures
how much of the kernel landmarks miss: if little, they are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.inputs.base import Objects
from mercer.jobs.sizing import exact_seconds
from mercer.kernels.algebra.nystrom import Nystrom
from mercer.kernels.base import Kernel
from mercer.readers.data import Data
from mercer.selection.learner import Learner, evenly_spread

PATIENCE = 120.0
"""Seconds up to which the exact machine is trained in any case, unless there is a time limit."""
NEVER = 7200.0
"""Seconds beyond which it is never trained, however much landmarks lose."""
LANDMARKS = 1000
"""The number of landmarks: with more, training takes longer than it is worth on most data."""
_PROBED = 10_000
"""Objects in the probe: ten for each landmark."""
SMOOTH = 0.15
"""The fraction of the trace that landmarks may leave: 0.3 on forest cover, where they lose much; less than 0.1 on
smooth functions."""


def scaled(
    kernel: Kernel, learner: Learner, data: Data, objects: Any, time_limit: float | None = None
) -> tuple[Kernel, str]:
    """The kernel for training on all objects, and a sentence that says why; empty if nothing is special."""
    patience = PATIENCE if time_limit is None else min(PATIENCE, time_limit)
    if not isinstance(objects, Objects) or kernel.is_precomputed or len(objects) <= 2 * LANDMARKS:
        return kernel, ""
    seconds = exact_seconds(len(objects), data, objects, learner)
    if seconds <= patience:
        return kernel, ""
    sample = objects.take(evenly_spread(len(objects), _PROBED))
    fitted = kernel.fit(sample)
    if fitted.feature_map() is not None:
        return kernel, ""  # trained on its features, however many objects there are
    seen = Nystrom(kernel, m=LANDMARKS)
    left = float(seen.fit(sample).state.values["left"])
    takes = f"An exact machine on {len(objects):,} objects would take about {_shown(seconds)}"
    leaves = f"{LANDMARKS:,} landmarks leave {left:.2g} of the kernel's trace"
    if left <= SMOOTH:
        return seen, f"{takes}; {leaves}, so the function is smooth, and the model was trained on landmarks."
    if seconds <= NEVER and (time_limit is None or seconds <= time_limit):
        return kernel, f"{takes}; {leaves}, which would lose much, so it was trained all the same."
    return seen, (
        f"{takes}, so the model was trained on landmarks; but {leaves}. In Python, mercer.Cells, which trains exact "
        "machines in many cells, may do better."
    )


def _shown(seconds: float) -> str:
    if seconds < 120:
        return f"{np.ceil(seconds):.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"

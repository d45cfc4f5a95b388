"""The final machine on very many objects: exact, or on landmarks, by what either costs and what landmarks would lose.

Kernels and penalties are chosen on a sample. To train on all objects, exact machines take time with the square of their
number, machines on landmarks in proportion to it. Where the exact one would take longer than people wait, a probe tells
what landmarks leave of the kernel: little, and the function is smooth enough for them.
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
"""Seconds beyond which it is not trained, however much landmarks lose."""
LANDMARKS = 1000
"""Beyond these, training costs more than it gains on most data."""
_PROBED = 10_000
"""Objects that the probe looks at: ten for each landmark."""
SMOOTH = 0.15
"""What landmarks may leave of the trace: on forest cover, where they lose much, they leave 0.3; on smooth functions
less than 0.1."""


def scaled(
    kernel: Kernel, learner: Learner, data: Data, objects: Any, time_limit: float | None = None
) -> tuple[Kernel, str]:
    """The kernel to train on all objects with, and a sentence on why; an empty one where nothing is special."""
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

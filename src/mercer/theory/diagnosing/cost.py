"""What training on all the objects will cost, extrapolated from the sample."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer.gram import budget
from mercer.gram.matrix import DOUBLE_ENTRIES, Gram
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel

_WARM = 16
_PASSES = 12
"""How often, in all, the solver of a support vector machine reads the matrix: a rough figure over many problems."""
_BYTES_PER_SECOND = 4e9


@final
@dataclass(frozen=True)
class Cost:
    """Rough figures: seconds on this machine, bytes for the whole Gram matrix."""

    entries_per_second: float
    gram_seconds: float
    gram_bytes: int
    training_seconds: float
    """The matrix once, and a dozen readings of it by a solver."""
    available_bytes: int
    advice: str

    @property
    def fits(self) -> bool:
        return self.gram_bytes <= self.available_bytes


def cost_of(fitted: FittedKernel, sample: Objects, n: int) -> Cost:
    """Times a block of the sample; compiled code is warmed up first."""
    block = sample.take(np.arange(min(len(sample), 200)))
    Gram.of(fitted, block.take(np.arange(min(len(block), _WARM)))).dense()
    began = time.perf_counter()
    Gram.of(fitted, block).dense()
    seconds = max(time.perf_counter() - began, 1e-7)
    rate = len(block) ** 2 / seconds
    gram_bytes = n * n * (8 if n * n <= DOUBLE_ENTRIES else 4)
    gram_seconds = n * n / rate
    training = gram_seconds + _PASSES * gram_bytes / _BYTES_PER_SECOND
    available = budget.stored_bytes("auto")
    return Cost(rate, gram_seconds, gram_bytes, training, available, _advice(gram_bytes, available, training, n))


def _advice(size: int, available: int, seconds: float, n: int) -> str:
    if size > available:
        return (
            f"The Gram matrix of {n:,} objects ({shown_bytes(size)}) does not fit into the {shown_bytes(available)} "
            "that "
            "may be used: rows are computed as they are needed, which is slower. Fewer objects, or an approximation of "
            "the kernel, are the way out; for a linear kernel use LinearSVC."
        )
    if seconds > 600:
        return "Training will take a while: try the kernel on a tenth of the objects first."
    return "Training on all objects is no problem."


def shown_bytes(size: int) -> str:
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size} bytes"


def shown_seconds(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"

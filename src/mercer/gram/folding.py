"""Machines folded into one weight per feature, where the features of their kernel can be written down.

f(x) = sum_i b_i <phi(x_i), phi(x)> = <w, phi(x)> with w = sum_i b_i phi(x_i): scoring an object costs what writing down
its features costs, however many support objects there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.errors import KernelError, MemoryBudgetError
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel
from mercer.kernels.features.space import FeatureSpace

MANY = 256
"""With fewer support objects than this, comparing with each of them is as quick."""


@final
@dataclass(frozen=True, eq=False)
class FeatureWeights:
    """Weights over the columns of a feature space, one column per output."""

    space: FeatureSpace
    weights: Float64

    def __call__(self, objects: Objects) -> Float64:
        return np.vstack([np.asarray(rows @ self.weights) for rows in self.space.blocks(objects)])


def folded(fitted: FittedKernel, support: Objects, coefficients: Float64) -> Callable[[Objects], Float64] | None:
    """The machine as weights of features; None where they cannot be written down, or where it does not pay."""
    if len(support) < MANY or fitted.feature_map() is None:
        return None
    try:
        return FeatureWeights(*FeatureSpace.folded(fitted, support, coefficients))
    except (KernelError, MemoryBudgetError):  # too many features to write down
        return None

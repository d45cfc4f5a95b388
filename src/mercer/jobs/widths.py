"""The same kernel, narrower or wider."""

from __future__ import annotations

from typing import Any

from mercer.kernels.base import Kernel
from mercer.selection.learner import rounded

_WIDTH = "gamma"


def narrower(kernel: Kernel, factor: float) -> Kernel | None:
    """The kernel with every gamma multiplied; None if it has none and the factor is not 1.

    >>> from mercer import kernels
    >>> print(narrower(kernels.RBF(gamma=0.5) + kernels.Linear(), 4.0))
    rbf(gamma=2.0) + linear()
    """
    if factor == 1.0:
        return kernel
    changes: dict[str, Any] = {}
    for name, value in kernel.get_params().items():
        if name.split("__")[-1] == _WIDTH:
            if isinstance(value, tuple):
                changes[name] = tuple(rounded(factor * one) for one in value)
            elif isinstance(value, int | float):
                changes[name] = rounded(factor * value)
    return kernel.with_params(**changes) if changes else None

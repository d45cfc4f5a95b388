"""Every kernel, by one flat list of names, loaded on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mercer._registry import KERNELS

if TYPE_CHECKING:
    from mercer.kernels.algebra import Product as Product
    from mercer.kernels.algebra import Scaled as Scaled
    from mercer.kernels.algebra import Sum as Sum
    from mercer.kernels.base import FittedKernel as FittedKernel
    from mercer.kernels.base import Kernel as Kernel
    from mercer.kernels.normalised import Normalised as Normalised
    from mercer.kernels.normalised import normalise as normalise
    from mercer.kernels.precomputed import Precomputed as Precomputed
    from mercer.kernels.strings.spectrum import Spectrum as Spectrum
    from mercer.kernels.tables import OnColumns as OnColumns
    from mercer.kernels.tables import on as on
    from mercer.kernels.user import FromBlocks as FromBlocks
    from mercer.kernels.user import FromFunction as FromFunction
    from mercer.kernels.vectors.linear import Linear as Linear
    from mercer.kernels.vectors.polynomial import Polynomial as Polynomial
    from mercer.kernels.vectors.rbf import RBF as RBF

_FUNCTIONS = {
    "Kernel": "mercer.kernels.base",
    "FittedKernel": "mercer.kernels.base",
    "normalise": "mercer.kernels.normalised",
    "on": "mercer.kernels.tables",
}

__all__ = sorted([*KERNELS, *_FUNCTIONS])  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in KERNELS:
        return KERNELS[name].load()
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(_FUNCTIONS[name]), name)
    raise AttributeError(f"module 'mercer.kernels' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

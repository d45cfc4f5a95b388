"""The text form of a kernel: ``rbf(gamma=0.1) + 0.5*spectrum(p=4)``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from mercer._registry import KERNELS

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel


def text_of(kernel: Kernel) -> str:
    """Name and the parameters that differ from their defaults."""
    entry = KERNELS.get(type(kernel).__name__)
    name = entry.text if entry is not None else type(kernel).__name__
    shown = []
    for item in dataclasses.fields(kernel):
        value = getattr(kernel, item.name)
        if item.default is dataclasses.MISSING or (value is not item.default and value != item.default):
            shown.append(f"{item.name}={value}" if not isinstance(value, str) else f"{item.name}={value!r}")
    return f"{name}({', '.join(shown)})"

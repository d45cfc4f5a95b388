"""The text form of a kernel: ``rbf(gamma=0.1) + 0.5*spectrum(p=4)``, which `mercer.kernels.parse` reads back.

What has no text form is named in angle brackets, ``rank_one(<function f>)``, which `parse` refuses.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._record import Record
from mercer._registry import KERNELS

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

SUM, TERM, FACTOR, ATOM = range(4)
"""Operator precedence: ``a + b``, then ``a*b``, then ``a**2``, then a call."""


def operand(kernel: Kernel, level: int) -> str:
    """The text of a kernel as an operand of this precedence, in brackets if needed."""
    return str(kernel) if kernel.binding >= level else f"({kernel})"


def call_text(kernel: Kernel) -> str:
    """Name, required parameters, and the others that differ from their defaults."""
    shown = []
    leading = True
    for item in dataclasses.fields(kernel):
        value = getattr(kernel, item.name)
        required = item.default is dataclasses.MISSING
        leading = leading and required
        if required or not _is_default(value, item.default):
            shown.append(text_of_value(value) if leading else f"{item.name}={text_of_value(value)}")
    return f"{name_of(kernel)}({', '.join(shown)})"


def name_of(kernel: Kernel) -> str:
    """The name in expressions; the class itself for kernels that are not registered."""
    entry = KERNELS.get(type(kernel).__name__)
    return entry.text if entry is not None else type(kernel).__name__


def text_of_value(value: Any) -> str:
    """A parameter as text: numbers, strings, None, kernels, and sequences of them; the rest in angle brackets."""
    if isinstance(value, Record):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, tuple | list):
        inner = ", ".join(text_of_value(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, np.ndarray):
        return f"<array of shape {value.shape}>"
    if callable(value) and not isinstance(value, type):
        return f"<function {getattr(value, '__name__', type(value).__name__)}>"
    return f"<{type(value).__name__}>"


def _is_default(value: Any, default: Any) -> bool:
    return value is default or (not isinstance(value, np.ndarray) and bool(value == default))


def derivation(kernel: Kernel) -> str:
    """Why a kernel is positive semi-definite, by the closure rules, as an indented tree.

    One line for each kernel of the tree; a kernel is above those that its proof rests on.
    """
    lines = [f"{type(kernel).__name__}: {_claim(kernel)}"]
    for part in kernel.children:
        lines += [f"  {line}" for line in derivation(part).splitlines()]
    return "\n".join(lines)


def _claim(kernel: Kernel) -> str:
    parts = kernel.children
    these = "this is" if len(parts) == 1 else "these are"
    if kernel.psd:
        return f"PSD because {kernel.reason}" + (f", and {these} PSD:" if parts else "")
    if any(not part.psd for part in parts):
        return f"not proven PSD, because it would need that {these} PSD:"
    return "not proven PSD: no rule covers it, so every Gram matrix has to be checked"

"""Why a kernel is positive semi-definite, by the closure rules, as an indented tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel


def tree(kernel: Kernel) -> str:
    """One line for each kernel of the tree; a kernel stands above those that its proof rests on."""
    lines = [f"{type(kernel).__name__}: {_claim(kernel)}"]
    for part in kernel.children:
        lines += [f"  {line}" for line in tree(part).splitlines()]
    return "\n".join(lines)


def _claim(kernel: Kernel) -> str:
    parts = kernel.children
    these = "this is" if len(parts) == 1 else "these are"
    if kernel.psd:
        return f"PSD because {kernel.reason}" + (f", and {these} PSD:" if parts else "")
    if any(not part.psd for part in parts):
        return f"not proven PSD, because it would need that {these} PSD:"
    return "not proven PSD: no rule covers it, so the Gram matrix has to be looked at"

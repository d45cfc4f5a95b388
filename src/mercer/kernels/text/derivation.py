"""Why a kernel is positive semi-definite, by the closure rules, as an indented tree."""

from __future__ import annotations

from mercer.kernels.base import Kernel, children

# One clause for each kernel on vectors that the rules end in; classes of their own say it in `Kernel.reason`.
_REASONS = {
    "RBF": "it is a Gaussian of a Hilbertian distance",
    "Polynomial": "it is a power of a dot product plus a constant, so its features are monomials",
}


def derivation_of(kernel: Kernel) -> str:
    """One line for each kernel of the tree; a kernel stands above those that its proof rests on.

    >>> from mercer import kernels
    >>> print((kernels.Linear() + 2.0 * kernels.RBF()).derivation())
    Sum: PSD because it puts the features of its terms side by side, and these are PSD:
      Linear: PSD because it is an inner product of features
      Scaled: PSD because it is a positive multiple of a kernel, and this is PSD:
        RBF: PSD because it is a Gaussian of a Hilbertian distance
    """
    parts = list(children(kernel))
    lines = [f"{type(kernel).__name__}: {_claim(kernel, parts)}"]
    for part in parts:
        lines += [f"  {line}" for line in derivation_of(part).splitlines()]
    return "\n".join(lines)


def _claim(kernel: Kernel, parts: list[Kernel]) -> str:
    these = "this is" if len(parts) == 1 else "these are"
    if kernel.psd:
        reason = _REASONS.get(type(kernel).__name__, kernel.reason)
        return f"PSD because {reason}, and {these} PSD:" if parts else f"PSD because {reason}"
    if any(not part.psd for part in parts):
        return f"not proven PSD, because it would need that {these} PSD:"
    return "not proven PSD: no rule covers it, so the Gram matrix has to be looked at"

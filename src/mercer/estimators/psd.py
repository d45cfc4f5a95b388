"""The guard against kernels that are none."""

from __future__ import annotations

import warnings

from mercer import _check
from mercer.errors import KernelError, KernelWarning
from mercer.gram.matrix import Gram
from mercer.gram.spectrum import negligible, smallest_eigenvalue
from mercer.kernels.base import Kernel

MODES = ("warn", "error", "ignore")


def guard(owner: str, kernel: Kernel, gram: Gram, psd: object) -> None:
    """Look for a negative eigenvalue, unless the rules of kernel algebra exclude one."""
    mode = _check.choice(owner, "psd", psd, MODES)
    if kernel.psd or mode == "ignore":
        return
    if gram.fits():
        gram.store()  # the solver needs it anyway
    lowest = smallest_eigenvalue(gram)
    if lowest >= -negligible(gram):
        return
    message = (
        f"The Gram matrix of {kernel} is not positive semi-definite: its smallest eigenvalue is about {lowest:.3g}. "
        "No feature space has such inner products, so margins and optimality certificates mean little. "
        "Use a kernel that is one, or normalise or shift this one; psd='ignore' silences this."
    )
    if mode == "error":
        raise KernelError(message)
    warnings.warn(message, KernelWarning, stacklevel=3)

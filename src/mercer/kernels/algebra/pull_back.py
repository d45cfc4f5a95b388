"""A kernel on what a function makes of the objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from mercer import _check
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.kernels.algebra.of_kernel import Through
from mercer.kernels.base import Kernel
from mercer.kernels.features.feature_map import Columns
from mercer.kernels.user import KINDS, OnNamedObjects, images_of, names_of_images


@final
@dataclass(frozen=True)
class PullBack(OnNamedObjects, Through):
    """k(x, z) = k0(phi(x), phi(z)): written ``kernels.pull_back(kernel, phi)``.

    `phi` is a function of a whole batch, or any fitted transformer (something with a ``transform``). It takes what
    `objects` says, an array of rows (``"vectors"``), a list of str (``"strings"``) or a list of anything
    (``"items"``), and returns a batch of the objects that `kernel` compares. It is not fitted here.

    >>> import numpy as np
    >>> from mercer import kernels
    >>> phi = lambda V: np.column_stack([V[:, 0] ** 2, V[:, 0] * V[:, 1]])
    >>> kernel = kernels.pull_back(kernels.Polynomial(degree=2), phi)
    >>> kernel.fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]])
    array([[16.]])
    """

    kernel: Kernel
    phi: Any
    objects: str = "vectors"

    reason = "it is a kernel on the images of the objects"

    def __post_init__(self) -> None:
        _check.instance("pull_back", "kernel", self.kernel, Kernel, "a kernel")
        if self.kernel.domain is GramRows:
            raise _check.fail("pull_back", "kernel", "a kernel on objects, not on a precomputed matrix", self.kernel)
        if not callable(getattr(self.phi, "transform", self.phi)):
            raise _check.fail("pull_back", "phi", "a function of a batch, or a fitted transformer", self.phi)
        _check.choice("pull_back", "objects", self.objects, KINDS)

    def latex(self, x: str = "x", z: str = "z") -> str:
        return self.kernel.latex(rf"\varphi({x})", rf"\varphi({z})")

    def images(self, objects: Objects) -> Objects:
        return images_of(self.phi, objects, self.kernel.domain, "pull_back")

    def column_names(self, one: Any) -> Columns:
        return names_of_images(self.phi)


def pull_back(kernel: Kernel, phi: Any, objects: str = "vectors") -> PullBack:
    """The kernel k0(phi(x), phi(z)): `PullBack`."""
    return PullBack(kernel, phi, objects)

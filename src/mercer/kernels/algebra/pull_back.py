"""A kernel on what a function makes of the objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self, final

from mercer import _check
from mercer._registry import INPUTS, find
from mercer.errors import InputError, KernelError
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.kernels.algebra.through import Through
from mercer.kernels.base import Kernel
from mercer.kernels.text.form import text_of_value
from mercer.kernels.user import KINDS, RawFeatures


@final
@dataclass(frozen=True)
class PullBack(Through):
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
        if not callable(self._function):
            raise _check.fail("pull_back", "phi", "a function of a batch, or a fitted transformer", self.phi)
        _check.choice("pull_back", "objects", self.objects, KINDS)

    @property
    def _function(self) -> Any:
        return getattr(self.phi, "transform", self.phi)

    @property
    def domain(self) -> type[Objects]:
        kind: type[Objects] = find(INPUTS, self.objects, "kind of objects").load()
        return kind

    def images(self, objects: Objects) -> Objects:
        name = text_of_value(self.phi)
        try:
            images = self._function(RawFeatures.of(objects).raw)
        except Exception as error:
            raise KernelError(
                f"The function {name} of pull_back raised {error!r} on {len(objects)} objects."
            ) from error
        try:
            found = self.kernel.domain.coerce(images)
        except InputError as error:
            raise type(error)(f"What the function {name} of pull_back returned cannot be compared: {error}") from error
        if len(found) != len(objects):
            raise KernelError(
                f"The function {name} of pull_back must return one image per object: it returned {len(found)} for "
                f"{len(objects)} objects."
            )
        return found

    @classmethod
    def examples(cls) -> Iterator[Self]:
        from mercer.kernels.vectors.rbf import RBF

        yield cls(RBF(gamma="scale"), _squares)


def pull_back(kernel: Kernel, phi: Any, objects: str = "vectors") -> PullBack:
    """The kernel k0(phi(x), phi(z)): `PullBack`."""
    return PullBack(kernel, phi, objects)


def _squares(rows: Any) -> Any:
    return rows * rows

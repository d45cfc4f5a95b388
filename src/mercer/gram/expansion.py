"""The fitted machine: f(x) = sum over support objects of coefficient * k(support, x), plus an intercept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from mercer._types import Float64
from mercer.gram.folding import folded
from mercer.gram.make import gram_of
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel


@final
@dataclass(frozen=True, eq=False)
class Expansion:
    """Support objects, their coefficients (one column per output), and the intercepts.

    Prediction touches support objects only: one product of K(new, support) with all columns. Where the features of the
    kernel can be written down and support objects are many, they are folded into weights of features first, once.
    """

    kernel: FittedKernel
    support: Objects
    coefficients: Float64
    intercept: Float64

    def __call__(self, objects: Any) -> Float64:
        """Decision values, of shape (objects, outputs)."""
        new = objects if isinstance(objects, Objects) else self.kernel.coerce(objects)
        values = np.zeros((len(new), self.coefficients.shape[1]))
        if self._folded is not None:
            values = self._folded(new)
        elif len(self.support):
            values = gram_of(self.kernel, new, self.support).matvec(self.coefficients)
        return values + self.intercept

    @cached_property
    def _folded(self) -> Callable[[Objects], Float64] | None:
        return folded(self.kernel, self.support, self.coefficients)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_folded"}  # it is quickly made again

"""The kernel of one feature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._types import Float64
from mercer.errors import KernelError
from mercer.inputs.base import Objects
from mercer.kernels.base import State
from mercer.kernels.features.embedding import Embedding
from mercer.kernels.text.form import text_of_value
from mercer.kernels.user import KINDS, OnNamedObjects, RawFeatures


def _squared_lengths(rows: Any) -> Any:
    return (rows * rows).sum(axis=1)


@final
@dataclass(frozen=True)
class RankOne(OnNamedObjects, Embedding):
    """k(x, z) = f(x) f(z) for any real function f: written ``kernels.rank_one(f)``.

    `function` takes a whole batch and returns one number per object, so that NumPy does the work: an array of rows for
    ``objects="vectors"``, a list of str for ``"strings"``, a list of anything for ``"items"``. A function g of one
    object is ``lambda batch: [g(x) for x in batch]``.

    >>> import numpy as np
    >>> from mercer import kernels
    >>> kernel = kernels.rank_one(lambda X: (X**2).sum(axis=1))
    >>> kernel.fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]])
    array([[50.]])
    """

    function: Callable[[Any], Any]
    objects: str = "vectors"

    reason = "f is its one feature"
    formula = "f(<x>)\\,f(<z>)"
    variants = ({"function": _squared_lengths},)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise _check.fail("rank_one", "function", "a function of a batch of objects", self.function)
        _check.choice("rank_one", "objects", self.objects, KINDS)

    def coordinates(self, objects: Objects, state: State) -> Float64:
        name = text_of_value(self.function)
        try:
            values = np.asarray(self.function(RawFeatures.of(objects).raw), dtype=np.float64)
        except Exception as error:
            raise KernelError(f"The function {name} of rank_one raised {error!r} on {len(objects)} objects.") from error
        if values.shape != (len(objects),):
            raise KernelError(
                f"The function {name} of rank_one must return one number per object, shape ({len(objects)},); it "
                f"returned shape {values.shape}. A function g of one object is lambda batch: [g(x) for x in batch]."
            )
        if not np.isfinite(values).all():
            where = int(np.flatnonzero(~np.isfinite(values))[0])
            raise KernelError(f"The function {name} of rank_one returned {values[where]} for object {where}.")
        return values[:, None]


def rank_one(function: Callable[[Any], Any], objects: str = "vectors") -> RankOne:
    """The kernel f(x) f(z) of a function of a batch: `RankOne`."""
    return RankOne(function, objects)

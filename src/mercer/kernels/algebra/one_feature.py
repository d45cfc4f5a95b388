"""Kernels of one feature: a constant, or a function of the objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._registry import INPUTS
from mercer._types import DType, Float64, Floating
from mercer.errors import KernelError
from mercer.inputs.base import Objects
from mercer.kernels.base import Batch, Kernel, State
from mercer.kernels.features.embedding import Embedding
from mercer.kernels.features.feature_map import FeatureMap, FixedColumns
from mercer.kernels.text.form import text_of_value
from mercer.kernels.user import KINDS, OnNamedObjects, RawFeatures


@final
@dataclass(frozen=True, eq=False)
class Values(Batch):
    """All that a constant keeps of each object: its value."""

    values: Float64


@final
@dataclass(frozen=True)
class Constant(OnNamedObjects):
    """k(x, z) = value for all objects of one kind, with value >= 0: what ``kernel + 1.0`` adds.

    Its one feature is the same for every object. `objects` names the kind: ``"vectors"``, ``"strings"``, ``"table"``
    and so on; ``kernel + 1.0`` takes it from the kernel.

    >>> from mercer import kernels
    >>> (kernels.Linear() + 1.0).fit([[1.0, 2.0]])([[1.0, 2.0]], [[3.0, -1.0]])
    array([[2.]])
    """

    value: float
    objects: str = "vectors"

    reason = "its one feature is the same for every object"
    formula = "<value>"
    variants = ({"value": 2.5}, {"value": 1.0, "objects": "strings"})

    def __post_init__(self) -> None:
        remedy = "A negative constant is not positive semi-definite."
        _check.real("Constant", "value", self.value, low=0, high_open=True, remedy=remedy)
        _check.choice("Constant", "objects", self.objects, [entry.text for entry in INPUTS.values()])

    def feature_map(self, state: State) -> FeatureMap:
        return FixedColumns(lambda objects: np.full((len(objects), 1), np.sqrt(self.value)), ("1",))

    def features(self, objects: Objects, state: State, dtype: DType) -> Values:
        return Values(np.full(len(objects), float(self.value)))

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        out.fill(self.value)

    def diagonal(self, features: Values, state: State) -> Float64:
        return features.values


def constant_beside(kernel: Kernel, value: Any) -> Constant:
    """The constant kernel on the same kind of objects as `kernel`."""
    for entry in INPUTS.values():
        if entry.name == kernel.domain.__name__:
            return Constant(float(value), entry.text)
    raise _check.fail("Constant", "objects", "a registered kind of objects", kernel.domain.__name__)


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

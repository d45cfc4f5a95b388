"""The constant kernel, on any kind of objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._registry import INPUTS, find
from mercer._types import DType, Float64, Floating
from mercer.inputs.base import Objects
from mercer.kernels.base import Batch, Kernel, State
from mercer.kernels.features.columns import ColumnProducts, constant
from mercer.kernels.features.feature_map import FeatureMap, FixedColumns


class OnNamedObjects(Kernel):
    """A kernel with a parameter `objects`, which names the kind of objects that it compares."""

    objects: str

    @property
    def domain(self) -> type[Objects]:
        kind: type[Objects] = find(INPUTS, self.objects, "kind of objects").load()
        return kind


@final
@dataclass(frozen=True, eq=False)
class Values(Batch):
    """The features of a constant kernel: one value per object."""

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

    def column_products(self, state: State) -> ColumnProducts | None:
        return constant(float(self.value))

    def features(self, objects: Objects, state: State, dtype: DType) -> Values:
        return Values(np.full(len(objects), float(self.value)))

    def tile(self, left: Any, right: Any, state: State, out: Floating) -> None:
        out.fill(self.value)

    def diagonal(self, features: Values, state: State) -> Float64:
        return features.values


def constant_like(kernel: Kernel, value: Any) -> Constant:
    """The constant kernel on the same kind of objects as `kernel`."""
    for entry in INPUTS.values():
        if entry.name == kernel.domain.__name__:
            return Constant(float(value), entry.text)
    raise _check.fail("Constant", "objects", "a registered kind of objects", kernel.domain.__name__)

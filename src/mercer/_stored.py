"""The exchange format between fitted estimators and model files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, final, runtime_checkable

import numpy.typing as npt

from mercer._registry import ESTIMATORS
from mercer.errors import ModelFileError

if TYPE_CHECKING:
    from mercer.gram.expansion import Expansion
    from mercer.inputs.base import Objects

Value = TypeVar("Value")
Kind = TypeVar("Kind", bound="Storable")


@final
@dataclass(frozen=True, eq=False)
class Stored:
    """The parts of a fitted estimator: hyperparameters, plain values, arrays, and the machine itself.

    `params` are the arguments of the constructor: numbers, strings, None, tuples, lists, dicts, arrays and records
    (kernels, losses). A kernel with Python functions must be under ``"kernel"``, where `mercer.load` asks for it again.
    """

    params: Mapping[str, Any]
    values: Mapping[str, Any] = field(default_factory=dict)
    """Fitted numbers, strings and lists of them, by attribute name."""
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """Fitted arrays, by attribute name: numbers, bools or strings."""
    expansion: Expansion | None = None
    objects: Mapping[str, Objects] = field(default_factory=dict)
    """Training objects other than those of the expansion, by attribute name."""


@runtime_checkable
class Storable(Protocol):
    """An estimator that can be written to a model file."""

    def _to_stored(self) -> Stored:
        """The parts of the fitted estimator; raises scikit-learn's NotFittedError before `fit`."""
        ...

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        """The estimator, restored from its parts.

        Shapes that must agree are checked here, since the file may be damaged or hostile; the expansion and the
        objects are already checked.
        """
        ...


def to_stored(model: Storable) -> Stored:
    """The parts of a fitted model."""
    return model._to_stored()


def from_stored(kind: type[Kind], stored: Stored) -> Kind:
    """A model of this class, restored from its parts."""
    return kind._from_stored(stored)


def wrapped(machine: Storable, mark: str, values: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Stored:
    """The parts of a fitted machine, and those of its owner under names that start with `mark`."""
    inner = to_stored(machine)
    own = {"estimator": type(machine).__name__, **values}
    return replace(
        inner,
        values={**inner.values, **{mark + name: value for name, value in own.items()}},
        arrays={**inner.arrays, **{mark + name: array for name, array in arrays.items()}},
    )


def unwrapped(stored: Stored, mark: str) -> tuple[Any, dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """The machine from the parts of `wrapped`, and the values and arrays of its owner."""
    name, inner, values, arrays = opened(stored, mark)
    if name not in ESTIMATORS:
        raise ModelFileError(f"it asks for the estimator {name!r:.60}, which this version of mercer does not have.")
    kind: type[Storable] = ESTIMATORS[name].load()
    return from_stored(kind, inner), values, arrays


def opened(stored: Stored, mark: str) -> tuple[str, Stored, dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """The class and the parts of the machine in `wrapped`, and the values and arrays of its owner."""
    (inner_values, values), (inner_arrays, arrays) = (_divided(part, mark) for part in (stored.values, stored.arrays))
    name = checked_value(values, "estimator", str)
    return name, replace(stored, values=inner_values, arrays=inner_arrays), values, arrays


def _divided(items: Mapping[str, Any], mark: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The items whose names do not start with `mark`, and those whose names do, without it."""
    others = {name: item for name, item in items.items() if not name.startswith(mark)}
    return others, {name.removeprefix(mark): item for name, item in items.items() if name.startswith(mark)}


def checked_array(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, kinds: str, shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    """A stored array, of one of these kinds ('f', 'i', 'U' ...) and of the shape that the rest of the model needs."""
    array = arrays.get(name)
    if array is None or array.dtype.kind not in kinds or array.shape != shape:
        found = "missing" if array is None else f"of type {array.dtype} and shape {array.shape}"
        raise ModelFileError(f"the array {name!r} must be of kind {kinds!r} and shape {shape}, but is {found}.")
    return array


def checked_value(values: Mapping[str, Any], name: str, kind: type[Value]) -> Value:
    """A stored value of exactly this type."""
    value = values.get(name)
    if type(value) is not kind:
        raise ModelFileError(f"the value {name!r} must be of type {kind.__name__}, but is {value!r:.60}.")
    return value

"""Model files of estimators: each declares its fitted attributes as fields, and one codec writes and audits them all.

    _fields = {**MACHINE, "support_": ArrayField("i", "rows"), "n_iter_": ValueField(int)}

Sizes have names. The first array with a named size sets it, and the others must agree: an expansion has "rows" (support
objects) and "outputs", vectors have "features". `_restored` checks what cannot be expressed this way.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._stored import Stored, checked_array, checked_value
from mercer.errors import ModelFileError
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel
from mercer.training.certificate import Certificate
from mercer.training.matrix import Repair
from mercer.training.shares import ShareCertificate


@final
@dataclass(eq=False)
class Parts:
    """A model file being written or read."""

    values: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    expansion: Expansion | None = None
    objects: dict[str, Objects] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    """Named sizes that are known so far."""
    estimator: Any = None
    """While reading: the estimator with its parameters, and with the fields before this one."""

    def array(self, name: str, kinds: str, *shape: str | int) -> npt.NDArray[Any]:
        """A stored array, checked for kind and shape; new named sizes are recorded."""
        found = self.arrays.get(name)
        fits = found is not None and found.ndim == len(shape)
        wanted = []
        for axis, size in enumerate(shape):
            if isinstance(size, str):
                size = self.sizes.setdefault(size, found.shape[axis] if found is not None and fits else -1)
            wanted.append(size)
        return checked_array(self.arrays, name, kinds, tuple(wanted))

    @property
    def machine(self) -> Expansion:
        """The expansion; raises ModelFileError if it is missing."""
        if self.expansion is None:
            raise ModelFileError("its support objects and coefficients are missing.")
        return self.expansion


class Field(ABC):
    """One fitted attribute of an estimator, in a model file."""

    when: str = ""
    """The parameter that must be true for the attribute to exist; "" if it always does."""

    @abstractmethod
    def write(self, name: str, value: Any, parts: Parts) -> None:
        """Add the attribute of this name to the file."""

    @abstractmethod
    def read(self, name: str, parts: Parts) -> Any:
        """Read the attribute of this name from a file that may be damaged or hostile."""


@final
class ArrayField(Field):
    """An array: the kinds of numbers that it may hold ('f', 'i', 'U' ...) and its shape."""

    def __init__(self, kinds: str, *shape: str | int, stored_as: str = "", missing: float | None = None) -> None:
        self._kinds, self._shape, self._stored_as = kinds, shape, stored_as
        self._missing = missing  # the fill value if an older file lacks the array

    def write(self, name: str, value: Any, parts: Parts) -> None:
        parts.arrays[self._stored_as or name] = np.asarray(value)

    def read(self, name: str, parts: Parts) -> Any:
        stored = self._stored_as or name
        if self._missing is not None and stored not in parts.arrays:
            return np.full([parts.sizes[str(size)] for size in self._shape], self._missing)
        return parts.array(stored, self._kinds, *self._shape)


@final
class LabelsField(Field):
    """The classes, sorted. `outputs` maps the number of classes to that of machines, and `rule` describes this in
    messages.
    """

    def __init__(self, outputs: Callable[[int], int] | None = None, rule: str = "") -> None:
        self._outputs, self._rule = outputs, rule

    def write(self, name: str, value: Any, parts: Parts) -> None:
        parts.arrays[name] = value

    def read(self, name: str, parts: Parts) -> Any:
        labels = parts.arrays.get(name)
        if labels is None or labels.ndim != 1 or len(labels) < 2:
            raise ModelFileError(f"its classes must be two or more labels, not {labels!r:.60}.")
        n = parts.sizes["classes"] = len(labels)
        if self._outputs is not None and parts.sizes.setdefault("outputs", self._outputs(n)) != self._outputs(n):
            raise ModelFileError(f"it has {n} classes, but not {self._rule}.")
        return labels


@final
class ValueField(Field):
    """A number, a text or a tuple; `accepts` says which numbers make sense."""

    def __init__(self, kind: type, accepts: Callable[[Any], bool] | None = None, *, when: str = "") -> None:
        self._kind, self._accepts, self.when = kind, accepts, when

    def write(self, name: str, value: Any, parts: Parts) -> None:
        parts.values[name] = self._kind(value)

    def read(self, name: str, parts: Parts) -> Any:
        value: Any = checked_value(parts.values, name, self._kind)
        if self._accepts is not None and not self._accepts(value):
            raise ModelFileError(f"the value {name!r} cannot be {value!r:.60}.")
        return value


@final
class ExpansionField(Field):
    """The machine itself: support objects, coefficients and intercepts, with `outputs` columns if that is known."""

    def __init__(self, outputs: int | None = None) -> None:
        self._outputs = outputs

    def write(self, name: str, value: Expansion, parts: Parts) -> None:
        parts.expansion = value

    def read(self, name: str, parts: Parts) -> Expansion:
        parts.sizes["rows"], outputs = parts.machine.coefficients.shape
        parts.sizes["outputs"] = outputs
        if self._outputs not in (None, outputs):
            raise ModelFileError(f"it has {outputs} columns of coefficients, where {self._outputs} are needed.")
        return parts.machine


@final
class KernelField(Field):
    """The fitted kernel, which is part of the expansion."""

    def write(self, name: str, value: FittedKernel, parts: Parts) -> None:
        """Nothing to add."""

    def read(self, name: str, parts: Parts) -> FittedKernel:
        return parts.machine.kernel


@final
class CertificateField(Field):
    """A table of numbers; with `each_output`, one row per output, below a row for all if there are several."""

    def __init__(self, *, each_output: bool = False, late: bool = False) -> None:
        self._each_output = each_output
        self._late = late  # whether older files may lack it

    def write(self, name: str, value: Certificate | None, parts: Parts) -> None:
        if value is not None:
            parts.arrays[name] = value.to_array()
            parts.values["dtype"] = value.dtype

    def read(self, name: str, parts: Parts) -> Certificate | None:
        if self._late and name not in parts.arrays:
            return None
        rows: str | int = "certificates"
        if self._each_output:
            outputs = parts.sizes["outputs"]
            rows = outputs if outputs == 1 else outputs + 1
        table = parts.array(name, "f", rows, 7)
        if not len(table):
            raise ModelFileError("its certificate is empty.")
        return Certificate.from_array(table, checked_value(parts.values, "dtype", str))


@final
class ShareField(Field):
    """The certificate of components or clusters, a row of numbers; None in older files without one."""

    def __init__(self, subject: str) -> None:
        self._subject = subject

    def write(self, name: str, value: ShareCertificate | None, parts: Parts) -> None:
        if value is not None:
            parts.arrays[name] = value.to_array()
            parts.values["dtype"] = value.dtype

    def read(self, name: str, parts: Parts) -> ShareCertificate | None:
        if name not in parts.arrays:
            return None
        numbers = parts.array(name, "f", 5)
        if not (np.isfinite(numbers).all() and numbers[0] >= 0):
            raise ModelFileError("the numbers of its certificate are not finite.")
        return ShareCertificate.from_array(self._subject, numbers, checked_value(parts.values, "dtype", str))


@final
class RepairField(Field):
    """Coefficients on a repaired Gram matrix; None if nothing was repaired."""

    def write(self, name: str, value: Repair | None, parts: Parts) -> None:
        if value is not None:
            parts.arrays["repair_dual"] = value.dual
            parts.values["repair_shift"] = value.shift

    def read(self, name: str, parts: Parts) -> Repair | None:
        if "repair_dual" not in parts.arrays:
            return None
        shift = checked_value(parts.values, "repair_shift", float)
        if not math.isfinite(shift):
            raise ModelFileError("the shift of a repaired matrix is not a number.")
        return Repair(parts.array("repair_dual", "f", "rows", "outputs"), shift)


EXPANSION: Mapping[str, Field] = {"kernel_": KernelField(), "expansion_": ExpansionField()}
"""What every estimator with an expansion stores ..."""
MACHINE: Mapping[str, Field] = {**EXPANSION, "certificate_": CertificateField(), "_repair": RepairField()}
"""... and what every machine with a certificate stores."""


def positive(number: float) -> bool:
    """Whether a number is finite and greater than zero."""
    return 0.0 < number < math.inf


def not_negative(number: float) -> bool:
    """Whether a number is finite and at least zero."""
    return 0.0 <= number < math.inf


def one_against_rest(n_classes: int) -> int:
    """The number of machines: one for two classes, otherwise one per class."""
    return 1 if n_classes == 2 else n_classes


def write_fields(model: Any, fields: Mapping[str, Field]) -> Stored:
    """The parts of a fitted estimator, for a model file."""
    parts = Parts()
    if hasattr(model, "n_features_in_"):
        parts.values["n_features_in_"] = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        parts.arrays["feature_names_in_"] = model.feature_names_in_
    for name, one in fields.items():
        if not one.when or getattr(model, one.when):
            one.write(name, getattr(model, name), parts)
    return Stored(model.get_params(deep=False), parts.values, parts.arrays, parts.expansion, parts.objects)


def read_fields(model: Any, fields: Mapping[str, Field], stored: Stored) -> None:
    """Set the fitted attributes of an estimator, checked one by one."""
    parts = Parts(dict(stored.values), dict(stored.arrays), stored.expansion, dict(stored.objects), estimator=model)
    if "n_features_in_" in parts.values:
        model.n_features_in_ = parts.sizes["features"] = checked_value(parts.values, "n_features_in_", int)
    if "feature_names_in_" in parts.arrays:
        model.feature_names_in_ = parts.array("feature_names_in_", "O", "features")
    for name, one in fields.items():
        if not one.when or getattr(model, one.when):
            setattr(model, name, one.read(name, parts))

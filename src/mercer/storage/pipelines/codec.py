"""How classes of scikit-learn are written to model files: parameters, and fitted attributes as declared fields.

A file can only name classes that have a codec. Parameters are checked by scikit-learn's own constraints, fields by
their declarations, and consistency between fields by the codec's `check`. Nothing is pickled, and Python functions are
refused in both directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._stored import Stored, checked_value
from mercer.errors import ModelFileError
from mercer.inputs.plain import pack, unpack
from mercer.training.storing import Field, Parts, read_fields, write_fields

_OUTPUT = "transform_output"
_OUTPUTS = ("default", "pandas", "polars")
_MOST_COLUMNS = 2**31 - 1  # the largest index of scikit-learn's sparse rows
_MOST_JOBS = 1024
"""The most processes that a file may request: a hostile one would request millions."""


class Codec:
    """The codec of one class: its fields, and the checks of their consistency."""

    def __init__(
        self,
        kind: type,
        fields: Mapping[str, Field] | None = None,
        check: Callable[[Any], None] | None = None,
        *,
        stateless: bool = False,
        maybe: str = "",
    ) -> None:
        """`maybe` is the one field that some models do not have."""
        self.kind: Any = kind
        self._fields = dict(fields or {})
        self._check = check
        self._stateless = stateless
        self._maybe = maybe

    def params(self, model: Any) -> dict[str, Any]:
        """The parameters as stored in a file; random generators, used only by `fit`, are left out."""
        found = dict(model.get_params(deep=False))
        if "random_state" in found and not isinstance(found["random_state"], int | str | None):  # "deprecated"
            found["random_state"] = None
        for name, value in found.items():
            if callable(value) and not isinstance(value, type) and not hasattr(value, "get_params"):
                raise ModelFileError(
                    f"The parameter {name!r} of {type(model).__name__} is a Python function, and model files never "
                    "hold code. Leave that step out of the pipeline, or do its work before the pipeline."
                )
        return found

    def take_apart(self, model: Any) -> Stored:
        """The parts of a fitted model; raises scikit-learn's NotFittedError before `fit`."""
        from sklearn.utils.validation import check_is_fitted

        if not self._stateless:
            check_is_fitted(model)
        lacks = self._maybe and not hasattr(model, self._maybe)
        fields = {name: field for name, field in self._fields.items() if not lacks or name != self._maybe}
        stored = write_fields(model, fields)
        values = {name: value for name, value in stored.values.items() if not self._is_derived(name)}
        arrays = {name: value for name, value in stored.arrays.items() if not self._is_derived(name)}
        if self._maybe:
            values["lacks"] = bool(lacks)
        config = getattr(model, "_sklearn_output_config", {}).get("transform")
        if config is not None:
            values[_OUTPUT] = config
        return Stored(self.params(model), values, arrays)

    def _is_derived(self, name: str) -> bool:
        return isinstance(getattr(self.kind, name, None), property)

    def bare(self, params: Mapping[str, Any]) -> Any:
        """A model that is not fitted, with these parameters."""
        jobs = params.get("n_jobs")
        if jobs is not None and not (type(jobs) is int and -_MOST_JOBS <= jobs <= _MOST_JOBS):
            raise ModelFileError(f"the n_jobs of {self.kind.__name__} cannot be {jobs!r:.40}.")
        model = self.kind(**params)
        if hasattr(self.kind, "_parameter_constraints"):
            inner(model, "_validate_params")()
        return model

    def put_together(self, stored: Stored) -> Any:
        """A fitted model, from a file that may be damaged or hostile."""
        values = dict(stored.values)
        config = values.pop(_OUTPUT, None)
        model = self.bare(stored.params)
        columns = values.get("n_features_in_", 1)
        if type(columns) is not int or not 1 <= columns <= _MOST_COLUMNS:
            raise ModelFileError(f"the number of columns of {self.kind.__name__} cannot be {columns!r:.40}.")
        for name in ("n_features_in_", "feature_names_in_"):
            require(not (self._is_derived(name) and (name in values or name in stored.arrays)), model, name)
        lacks = bool(self._maybe) and checked_value(values, "lacks", bool)
        fields = {name: field for name, field in self._fields.items() if not lacks or name != self._maybe}
        read_fields(model, fields, Stored(stored.params, values, stored.arrays))
        self.restore(model)
        if config is not None:
            if config not in _OUTPUTS:
                raise ModelFileError(f"the output of {self.kind.__name__} cannot be {config!r:.40}.")
            model.set_output(transform=config)
        return model

    def restore(self, model: Any) -> None:
        """Check the consistency of fields, and set attributes that follow from them."""
        if self._check is not None:
            self._check(model)


def inner(model: Any, name: str) -> Any:
    """A private attribute of scikit-learn that is part of a fitted model, as declared by a codec."""
    return getattr(model, name)


def set_inner(model: Any, **attributes: Any) -> None:
    """Set a private attribute of scikit-learn."""
    vars(model).update(attributes)


def require(holds: bool, model: Any, what: str) -> None:
    """Refuse a model that violates a condition."""
    if not holds:
        raise ModelFileError(f"its {type(model).__name__} does not fit together: {what}.")


def outputs_of(model: Any) -> int | None:
    """The number of output columns of a fitted transformer; None if unknown."""
    try:
        if hasattr(model, "n_output_features_"):  # polynomials: the names would be much longer than a number
            return int(model.n_output_features_)
        return len(model.get_feature_names_out())
    except (AttributeError, ValueError, TypeError):
        return None


# ------------------------------------------------------------------------------------------------------------- fields


@final
class Numbers(Field):
    """An array of finite numbers, at least `low`, or above it; None if the model has none and may lack it."""

    def __init__(
        self, *shape: str | int, low: float = -math.inf, above: float = -math.inf, kinds: str = "f", none: bool = False,
        nan: bool = False,
    ) -> None:  # fmt: skip
        self._shape, self._kinds, self._low, self._above = shape, kinds, low, above
        self._none, self._nan = none, nan

    def write(self, name: str, value: Any, parts: Parts) -> None:
        if value is not None or not self._none:
            parts.arrays[name] = np.asarray(value)
            if len(self._shape) > 1:  # rounding in products depends on the memory order of a matrix
                parts.values[f"{name}_by_columns"] = bool(value.strides[0] < value.strides[-1])

    def read(self, name: str, parts: Parts) -> Any:
        if self._none and name not in parts.arrays:
            return None
        array = parts.array(name, self._kinds, *self._shape)
        known = array[~np.isnan(array)] if self._nan and array.dtype.kind == "f" else array
        if not (np.isfinite(known) & (known >= self._low) & (known > self._above)).all():
            raise ModelFileError(f"the array {name!r} holds numbers that are not finite, or out of range.")
        if len(self._shape) > 1 and checked_value(parts.values, f"{name}_by_columns", bool):
            return np.asfortranarray(array)
        return array if array.ndim else array[()]


@final
class Counts(Field):
    """The number of objects seen: one number, or one for each column."""

    def write(self, name: str, value: Any, parts: Parts) -> None:
        parts.arrays[name] = np.asarray(value)

    def read(self, name: str, parts: Parts) -> Any:
        found = parts.arrays.get(name)
        shape = () if found is None or found.ndim == 0 else ("features",)
        array = parts.array(name, "fiu", *shape)
        if not (np.isfinite(array) & (array >= 0)).all():
            raise ModelFileError(f"the array {name!r} holds numbers that are not counts.")
        return array if array.ndim else array[()]


@final
class Texts(Field):
    """A list of strings, or a table from strings to their positions, stored as one text."""

    def __init__(self, *, places: bool = False) -> None:
        self._places = places

    def write(self, name: str, value: Any, parts: Parts) -> None:
        texts = sorted(value, key=value.__getitem__) if self._places else list(value)
        if self._places and sorted(value.values()) != list(range(len(texts))):
            raise ModelFileError(f"the places in {name!r} are not 0 to {len(texts) - 1}, and cannot be stored.")
        Plain().write(name, [str(text) for text in texts], parts)

    def read(self, name: str, parts: Parts) -> Any:
        texts = Plain().read(name, parts)
        if (
            not isinstance(texts, list)
            or not all(isinstance(text, str) for text in texts)
            or len(set(texts)) < len(texts)
        ):
            raise ModelFileError(f"{name!r} is not a list of different strings.")
        return {text: place for place, text in enumerate(texts)} if self._places else texts


@final
class Plain(Field):
    """Plain data of any form, which the codec checks; None or False if the model has none."""

    def write(self, name: str, value: Any, parts: Parts) -> None:
        parts.arrays |= {f"{name}__{key}": array for key, array in pack([value]).items()}

    def read(self, name: str, parts: Parts) -> Any:
        mark = f"{name}__"
        found: dict[str, npt.NDArray[Any]] = {
            key.removeprefix(mark): array for key, array in parts.arrays.items() if key.startswith(mark)
        }
        values = unpack(found)
        if len(values) != 1:
            raise ModelFileError(f"{name!r} has {len(values)} values, and needs one.")
        return values[0]


@final
class Nested(Field):
    """A fitted model of one class within the model; None if there is none."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def write(self, name: str, value: Any, parts: Parts) -> None:
        parts.values[name] = value

    def read(self, name: str, parts: Parts) -> Any:
        found = parts.values.get(name)
        if found is not None and type(found) is not self._kind:
            raise ModelFileError(f"{name!r} must be a {self._kind.__name__}, but is {type(found).__name__}.")
        return found


@final
class Whole(Field):
    """A whole number from `low`."""

    def __init__(self, low: int = 0) -> None:
        self._low = low

    def write(self, name: str, value: Any, parts: Parts) -> None:
        parts.values[name] = int(value)

    def read(self, name: str, parts: Parts) -> int:
        number = checked_value(parts.values, name, int)
        if number < self._low:
            raise ModelFileError(f"the value {name!r} cannot be {number}.")
        return number

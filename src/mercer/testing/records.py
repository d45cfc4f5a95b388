"""What must hold of every record: a kernel or a loss as a value, whatever it computes."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np

from mercer._record import Record
from mercer.errors import ParameterError
from mercer.testing.checks import named, require, require_raises
from mercer.testing.examples import examples_of


def representation(record: Record) -> None:
    """`repr` names the class and every field with its value; `str` says something."""
    text = repr(record)
    require(text.startswith(f"{type(record).__name__}("), f"repr does not begin with the class: {text}")
    for name, value in _fields(record).items():
        require(f"{name}={value!r}" in text, f"repr does not show {name}={value!r}: {text}")
    require(str(record).strip(), "str is empty")


def rebuilding(record: Record) -> None:
    """The fields are all there is: a record rebuilt from them is equal, with an equal hash."""
    rebuilt = type(record)(**copy.deepcopy(_fields(record)))
    require(rebuilt == record, "a record rebuilt from its fields is not equal to the first")
    require(hash(rebuilt) == hash(record), "two equal records have different hashes")
    require(repr(rebuilt) == repr(record), "two equal records have different representations")


def equality(record: Any) -> None:
    """Records with other fields, and other things, are different."""
    require(record != object(), "equal to something that is no record")
    require(record != repr(record), "equal to its own representation")
    for other in examples_of(type(record)):
        if repr(other) != repr(record):
            require(other != record, f"equal to {other!r}, whose fields differ")


def immutability(record: Record) -> None:
    """No field can be set, no attribute added, no array written to."""
    refusals = (AttributeError, TypeError)
    for name, value in _fields(record).items():
        require_raises(refusals, lambda name=name, value=value: setattr(record, name, value), f"setting {name!r}")
        if isinstance(value, np.ndarray):
            require(not value.flags.writeable, f"the array {name!r} can be written to")
    require_raises(refusals, lambda: setattr(record, "of_no_record", 1), "setting an attribute that is no field")


def parameters(record: Record) -> None:
    """`get_params` and `with_params` agree, by every path; nothing unknown is accepted."""
    for path, value in record.get_params().items():
        require(record.with_params(**{path: value}) == record, f"with_params({path}=...) of the same value differs")
    shallow = set(record.get_params(deep=False))
    require(shallow <= set(record.get_params()), "get_params(deep=False) has paths that get_params() lacks")
    unknown = "no_such_parameter"
    message = require_raises(ParameterError, lambda: record.with_params(**{unknown: 1}), "an unknown parameter")
    require(unknown in message, f"the refusal of an unknown parameter does not name it: {message}")


def cloning(record: Record) -> None:
    """scikit-learn's `clone` of a record is the record: nothing can change it."""
    require(record.__sklearn_clone__() is record, "__sklearn_clone__ does not return the record itself")


record_checks = named("record", representation, rebuilding, equality, immutability, parameters, cloning)


def _fields(record: Any) -> dict[str, Any]:
    return {item.name: getattr(record, item.name) for item in dataclasses.fields(record)}

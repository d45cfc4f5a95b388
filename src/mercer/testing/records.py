"""What must hold of every record: a kernel or a loss as a value, whatever it computes."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from mercer.errors import ParameterError
from mercer.testing.checks import Suite, require, require_raises
from mercer.testing.examples import examples_of


@final
@dataclass(frozen=True, eq=False)
class RecordSuite(Suite):
    """What must hold of every record: a kernel or a loss as a value, whatever it computes."""

    prefix = "record"
    record: Any

    @property
    def fields(self) -> dict[str, Any]:
        return {item.name: getattr(self.record, item.name) for item in dataclasses.fields(self.record)}

    def representation(self) -> None:
        """`repr` names the class and every field with its value; `str` is not empty."""
        text = repr(self.record)
        require(text.startswith(f"{type(self.record).__name__}("), f"repr does not begin with the class: {text}")
        for name, value in self.fields.items():
            require(f"{name}={value!r}" in text, f"repr does not show {name}={value!r}: {text}")
        require(str(self.record).strip(), "str is empty")

    def rebuilding(self) -> None:
        """The fields are all there is: a record rebuilt from them is equal, with an equal hash."""
        rebuilt = type(self.record)(**copy.deepcopy(self.fields))
        require(rebuilt == self.record, "a record rebuilt from its fields is not equal to the first")
        require(hash(rebuilt) == hash(self.record), "two equal records have different hashes")
        require(repr(rebuilt) == repr(self.record), "two equal records have different representations")

    def equality(self) -> None:
        """A record differs from records with other fields, and from anything else."""
        require(self.record != object(), "equal to something that is not a record")
        require(self.record != repr(self.record), "equal to its own representation")
        for other in examples_of(type(self.record)):
            if repr(other) != repr(self.record):
                require(other != self.record, f"equal to {other!r}, whose fields differ")

    def immutability(self) -> None:
        """No field can be set, no attribute added, no array written to."""
        refusals = (AttributeError, TypeError)
        for name, value in self.fields.items():
            require_raises(refusals, partial(setattr, self.record, name, value), f"setting {name!r}")
            if isinstance(value, np.ndarray):
                require(not value.flags.writeable, f"the array {name!r} can be written to")
        require_raises(
            refusals, partial(setattr, self.record, "of_no_record", 1), "setting an attribute that is not a field"
        )

    def parameters(self) -> None:
        """`get_params` and `with_params` agree, by every path; unknown names are refused."""
        for path, value in self.record.get_params().items():
            same = self.record.with_params(**{path: value}) == self.record
            require(same, f"with_params({path}=...) of the same value differs")
        shallow = set(self.record.get_params(deep=False))
        require(shallow <= set(self.record.get_params()), "get_params(deep=False) has paths that get_params() lacks")
        unknown = "no_such_parameter"
        change = partial(self.record.with_params, **{unknown: 1})
        message = require_raises(ParameterError, change, "an unknown parameter")
        require(unknown in message, f"the refusal of an unknown parameter does not name it: {message}")

    def cloning(self) -> None:
        """scikit-learn's `clone` of a record is the record: nothing can change it."""
        require(self.record.__sklearn_clone__() is self.record, "__sklearn_clone__ does not return the record itself")

"""Values to header and back: kernels, states, objects and expansions, whatever their classes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._record import Record
from mercer._registry import INPUTS
from mercer.errors import ModelFileError
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel, Kernel, State
from mercer.storage.audit import RECORDS, check_name
from mercer.storage.format import shown

Arrays = dict[str, npt.NDArray[Any]]
ABSENT: Any = object()


class Encoder:
    """Turns values into what the header says of them; arrays are set aside under the path where they were found."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}

    def value(self, value: Any, path: str) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, str | bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(float(value))}
        if isinstance(value, np.ndarray):
            return self.array(value, path)
        if isinstance(value, Record):
            return self.record(value, path)
        if isinstance(value, Objects):
            return self.objects(value, path)
        if isinstance(value, tuple | list):
            items = [self.value(item, f"{path}/{number}") for number, item in enumerate(value)]
            return {"tuple": items} if isinstance(value, tuple) else items
        if isinstance(value, dict):
            pairs = enumerate(value.items())
            return {"dict": [[self.value(key, path), self.value(item, f"{path}/{n}")] for n, (key, item) in pairs]}
        if callable(value):
            return {"function": str(getattr(value, "__name__", type(value).__name__))}
        raise ModelFileError(
            f"{path} is of type {type(value).__name__}, which a model file cannot hold: only numbers, strings, arrays, "
            "kernels, and lists and dicts of them. Change it, or pickle the model yourself."
        )

    def array(self, array: npt.NDArray[Any], path: str) -> dict[str, Any]:
        name = check_name(path)
        node = {"array": name}
        if array.dtype.kind == "O":
            text = array.astype(np.str_)
            if not all(isinstance(item, str) for item in array.flat) or not (text.astype(object) == array).all():
                raise ModelFileError(f"{path} is an array of Python objects, and model files hold none but strings.")
            array, node["as"] = text, "object"
        self.arrays[name] = array
        return node

    def record(self, record: Record, path: str) -> dict[str, Any]:
        name = type(record).__name__
        for tag, table in RECORDS.items():
            if name in table and table[name].load() is type(record):
                fields = ((field.name, getattr(record, field.name)) for field in dataclasses.fields(record))
                return {tag: name, "fields": {key: self.value(item, f"{path}/{key}") for key, item in fields}}
        if isinstance(record, Kernel):
            return {"user": name}
        raise ModelFileError(f"{path} is a {name}, which is not in Mercer's list of kernels and losses.")

    def objects(self, objects: Objects, path: str) -> dict[str, Any]:
        name = type(objects).__name__
        if name not in INPUTS or INPUTS[name].load() is not type(objects):
            raise ModelFileError(f"{path} holds objects of type {name}, which is not in Mercer's list of inputs.")
        parts = {key: self.array(np.asarray(array), f"{path}/{key}") for key, array in objects.to_arrays().items()}
        return {"objects": name, "arrays": parts}

    def state(self, state: State, path: str) -> dict[str, Any]:
        return {
            "values": {key: self.array(np.asarray(item), f"{path}/values/{key}") for key, item in state.values.items()},
            "parts": [self.state(part, f"{path}/parts/{number}") for number, part in enumerate(state.parts)],
            "objects": None if state.objects is None else self.objects(state.objects, f"{path}/objects"),
        }

    def expansion(self, expansion: Expansion, path: str) -> dict[str, Any]:
        return {
            "kernel": self.record(expansion.kernel.kernel, f"{path}/kernel"),
            "state": self.state(expansion.kernel.state, f"{path}/state"),
            "support": self.objects(expansion.support, f"{path}/support"),
            "coefficients": self.array(expansion.coefficients, f"{path}/coefficients"),
            "intercept": self.array(expansion.intercept, f"{path}/intercept"),
        }


@final
class Decoder:
    """Builds values from an audited header, looking classes up in the registry.

    Python functions come from `given`, the kernel that the user passes, which is walked in step with the stored one.
    """

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._arrays = arrays

    def value(self, node: Any, given: Any = ABSENT) -> Any:
        if isinstance(node, list):
            return [self.value(item) for item in node]
        if not isinstance(node, dict):
            return node
        match node:
            case {"array": _}:
                return self.array(node)
            case {"objects": _}:
                return self.objects(node)
            case {"float": text}:
                return float(text)
            case {"dict": pairs}:
                return {key: self.value(item) for key, item in pairs}
            case {"tuple": items}:
                others = given if isinstance(given, tuple) and len(given) == len(items) else [ABSENT] * len(items)
                return tuple(map(self.value, items, others))
            case {"function": name} | {"user": name}:
                return _code(name, given, user="user" in node)
        tag = next(iter(node))
        fields = {key: self.value(item, getattr(given, key, ABSENT)) for key, item in node["fields"].items()}
        return RECORDS[tag][node[tag]].load()(**fields)

    def kernel(self, node: Any, given: Any) -> Any:
        """A kernel, completed by the one that the user gives, which must otherwise be the same."""
        if given is None:
            return self.value(node)
        if not isinstance(given, Kernel):  # a bare function, as in SVC(kernel=function)
            if "function" in node:
                return given
            given = _Holder(given)
        kernel = given if "function" in node else self.value(node, given)
        if isinstance(given, Kernel) and kernel != given:
            raise ModelFileError(
                f"the kernel given, {given}, is not the one that the model was trained with, {kernel}."
            )
        return kernel

    def array(self, node: Mapping[str, Any]) -> npt.NDArray[Any]:
        array = self._arrays[node["array"]]
        return array.astype(object) if "as" in node else array

    def objects(self, node: Mapping[str, Any]) -> Objects:
        kind: type[Objects] = INPUTS[node["objects"]].load()
        return kind.from_arrays({name: self.array(item) for name, item in node["arrays"].items()})

    def state(self, node: Mapping[str, Any]) -> State:
        return State(
            {name: self.array(item) for name, item in node["values"].items()},
            tuple(self.state(part) for part in node["parts"]),
            None if node["objects"] is None else self.objects(node["objects"]),
        )

    def expansion(self, node: Mapping[str, Any], given: Any) -> Expansion:
        kernel = self.kernel(node["kernel"], given)
        if not isinstance(kernel, Kernel):
            raise ModelFileError(f"its expansion has {shown(kernel)} where a kernel belongs.")
        return Expansion(
            FittedKernel(kernel, self.state(node["state"])),
            self.objects(node["support"]),
            self.array(node["coefficients"]),
            self.array(node["intercept"]),
        )


def _code(name: str, given: Any, *, user: bool) -> Any:
    """What the user gave in the place of a function, or of a kernel of their own."""
    if given is ABSENT or (user and type(given).__name__ != name):
        raise ModelFileError(
            f"the model was trained with Python code of yours, {shown(name)}, and model files never hold code. Load it "
            "with mercer.load(path, kernel=...), giving the same kernel as in training."
        )
    return given


class _Holder:
    """Stands in for a user's kernel when only its function is given."""

    def __init__(self, function: Any) -> None:
        self.function = function

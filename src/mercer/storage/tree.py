"""Conversion of values to the header and back: kernels, states, objects and expansions of any class."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._record import Record
from mercer._registry import INPUTS, MODELS
from mercer._stored import Stored
from mercer.errors import ModelFileError, UnfittedError
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.inputs.plain import pack, unpack
from mercer.kernels.base import FittedKernel, Kernel, State
from mercer.storage import known
from mercer.storage.audit import RECORDS, check_name
from mercer.storage.expansions import check_expansion
from mercer.storage.format import shown

Arrays = dict[str, npt.NDArray[Any]]
ABSENT: Any = object()
_TYPES = (np.float64, np.float32, np.int64, np.int32, np.int16, np.int8, np.uint8, np.bool_, float, int, bool)
"""Types of numbers that parameters may name."""


class Encoder:
    """Encodes values for the header; arrays are collected under the path where they were found."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}
        self.uses_sklearn = False

    def fitted(self, model: Any, path: str = "") -> dict[str, Any]:
        """The parts of a fitted model: its parameters, and what it has learnt."""
        stored = known.stored_of(model)
        return {
            **self._params(model, stored.params, path),
            "values": {name: self.value(value, f"{path}values/{name}") for name, value in stored.values.items()},
            "arrays": {name: self.array(array, f"{path}arrays/{name}") for name, array in stored.arrays.items()},
            "expansion": None if stored.expansion is None else self.expansion(stored.expansion, f"{path}expansion"),
            "objects": {name: self.objects(item, f"{path}objects/{name}") for name, item in stored.objects.items()},
        }

    def _params(self, model: Any, params: Mapping[str, Any], path: str) -> dict[str, Any]:
        for name, value in params.items():
            is_code = callable(value) and not isinstance(value, Record | type) and not known.is_model(value)
            if name != "kernel" and is_code:
                raise ModelFileError(
                    f"The {name!r} parameter of {type(model).__name__} is a Python function, and model files never "
                    "hold code. Set it to a plain value before saving."
                )
        self.uses_sklearn |= type(model).__name__ not in MODELS
        return {"params": {name: self.value(value, f"{path}params/{name}") for name, value in params.items()}}

    def _model(self, model: Any, path: str) -> dict[str, Any]:
        """A model within a model, fitted or not."""
        name = {"model": type(model).__name__}
        try:
            return {**name, **self.fitted(model, f"{path}/")}
        except UnfittedError:
            return {**name, **self._params(model, known.params_of(model), f"{path}/")}

    def value(self, value: Any, path: str) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, str | bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(float(value))}
        for is_one, write in (
            (isinstance(value, np.ndarray), self.array),
            (isinstance(value, Record), self.record),
            (isinstance(value, Objects), self.objects),
            (known.is_model(value), self._model),
        ):
            if is_one:
                return write(value, path)
        if isinstance(value, np.dtype) or (isinstance(value, type) and value in _TYPES):
            return {"dtype": np.dtype(value).str}
        if isinstance(value, tuple | list | dict):
            return self._container(value, path)
        if callable(value):
            return {"function": str(getattr(value, "__name__", type(value).__name__))}
        raise ModelFileError(
            f"{path} is of type {type(value).__name__}, which a model file cannot hold: only numbers, strings, arrays, "
            "kernels, and lists and dicts of them. Change it, or pickle the model yourself."
        )

    def _container(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            pairs = enumerate(value.items())
            return {"dict": [[self.value(key, path), self.value(item, f"{path}/{n}")] for n, (key, item) in pairs]}
        items = [self.value(item, f"{path}/{number}") for number, item in enumerate(value)]
        return {"tuple": items} if isinstance(value, tuple) else items

    def array(self, array: npt.NDArray[Any], path: str) -> dict[str, Any]:
        name = check_name(path)
        node = {"array": name}
        if array.dtype.kind == "O" and not all(isinstance(item, str) for item in array.flat):
            return {"plain": {key: self.array(part, f"{path}/{key}") for key, part in pack([array]).items()}}
        if array.dtype.kind == "O":
            text = array.astype(np.str_)
            if not (text.astype(object) == array).all():
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
    """Builds values from an audited header; classes come from the registry.

    Python functions come from `given`, the kernel that the user passes, which is traversed along with the stored one.
    """

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]], given: Any = None) -> None:
        self._arrays = arrays
        self._given = given
        self._by_tag: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "array": self.array,
            "objects": self.objects,
            "model": self._model,
            "plain": self.plain,
            "float": lambda node: float(node["float"]),
            "dtype": lambda node: np.dtype(node["dtype"]).type,
        }

    def fitted(self, name: str, node: Mapping[str, Any], *, whole: bool = False) -> Any:
        """A model of a known class; if it is the `whole` file, a kernel given by the user must be its own."""
        expansion = None
        if node["expansion"] is not None:
            expansion = self.expansion(node["expansion"], self._given if whole or _has_code(node) else None)
            check_expansion(expansion)
        stored = Stored(
            self._params(node["params"], whole=whole),
            {key: self.value(item) for key, item in node["values"].items()},
            {key: self.array(item) for key, item in node["arrays"].items()},
            expansion,
            {key: self.objects(item) for key, item in node["objects"].items()},
        )
        return known.put_together(name, stored)

    def _params(self, node: Mapping[str, Any], *, whole: bool) -> dict[str, Any]:
        return {
            name: self.kernel(item, self._given if whole or _has_code(item) else None)
            if name == "kernel" and isinstance(item, dict)
            else self.value(item)
            for name, item in node.items()
        }

    def _model(self, node: Mapping[str, Any]) -> Any:
        if "values" in node:
            return self.fitted(node["model"], node)
        return known.bare(node["model"], self._params(node["params"], whole=False))

    def value(self, node: Any, given: Any = ABSENT) -> Any:
        if isinstance(node, list):
            return [self.value(item) for item in node]
        if not isinstance(node, dict):
            return node
        tag = next(iter(node))
        if tag in self._by_tag:
            return self._by_tag[tag](node)
        match node:
            case {"dict": pairs}:
                return {key: self.value(item) for key, item in pairs}
            case {"tuple": items}:
                others = given if isinstance(given, tuple) and len(given) == len(items) else [ABSENT] * len(items)
                return tuple(map(self.value, items, others))
            case {"function": name} | {"user": name}:
                return _code(name, given, user="user" in node)
        fields = {key: self.value(item, getattr(given, key, ABSENT)) for key, item in node["fields"].items()}
        return RECORDS[tag][node[tag]].load()(**fields)

    def kernel(self, node: Any, given: Any) -> Any:
        """A kernel, completed by the one from the user, which must otherwise be equal."""
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

    def plain(self, node: Mapping[str, Any]) -> npt.NDArray[Any]:
        """An array of Python objects that are plain data."""
        found = unpack({name: self.array(item) for name, item in node["plain"].items()})
        if len(found) != 1 or not isinstance(found[0], np.ndarray):
            raise ModelFileError("its plain data are not an array.")
        return found[0]

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
    """The user's replacement for a function or for a user-defined kernel."""
    if given is ABSENT or (user and type(given).__name__ != name):
        raise ModelFileError(
            f"the model was trained with Python code of yours, {shown(name)}, and model files never hold code. Load it "
            "with mercer.load(path, kernel=...), giving the same kernel as in training."
        )
    return given


def _has_code(node: Any) -> bool:
    """Whether a part of a header stands for user code."""
    if isinstance(node, dict):
        return "function" in node or "user" in node or any(map(_has_code, node.values()))
    return isinstance(node, list) and any(map(_has_code, node))


class _Holder:
    """Stands in for a user's kernel when only its function is given."""

    def __init__(self, function: Any) -> None:
        self.function = function

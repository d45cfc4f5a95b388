"""Digests of objects and kernels by their content: the same in every process, on every machine.

A kernel is identified by its class and parameters, a Python function by its own code, its defaults and its closure.
Functions that it calls are not examined.
"""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from mercer._record import Record
from mercer.errors import InputError, ModelFileError
from mercer.inputs.base import Objects
from mercer.inputs.plain import pack
from mercer.kernels.base import Kernel, State
from mercer.kernels.memory.store import NAME_BYTES


def names_of(objects: Objects, key: Callable[[Any], Any] | None) -> list[bytes]:
    """A digest of each object, from its content or from the result of `key`."""
    if key is not None:
        items: Any = getattr(objects, "items", None)
        listed = items if items is not None else objects.tolist()  # type: ignore[attr-defined]
        return [_digest(pack([key(item)])) for item in listed]
    try:
        return [_digest(objects.take(np.array([place])).to_arrays()) for place in range(len(objects))]
    except ModelFileError as error:
        raise InputError(
            f"These objects cannot be identified from run to run, as kernels.Remembered needs: {error} Or pass a "
            "function from an object to plain data: key=lambda item: item.name."
        ) from error


def identity_of(kernel: Kernel, state: State) -> str:
    """A text that identifies the kernel: equal texts mean equal values."""
    hashed = hashlib.sha256()
    _feed(hashed, kernel)
    _feed(hashed, state)
    return f"{type(kernel).__name__}-{hashed.hexdigest()[:32]}"


def _digest(arrays: Mapping[str, Any]) -> bytes:
    hashed = hashlib.sha256()
    _feed(hashed, dict(sorted(arrays.items())))
    return hashed.digest()[:NAME_BYTES]


def _feed(hashed: Any, value: Any) -> None:
    """Add a value to a digest, whatever it is made of."""
    hashed.update(f"({type(value).__qualname__}:".encode())
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        hashed.update(f"{value.dtype.str}{value.shape}".encode())
        hashed.update(np.ascontiguousarray(value).tobytes())
    else:
        parts = _parts(value)
        if parts is None:
            hashed.update(_text(value).encode())
        else:
            for part in parts:
                _feed(hashed, part)
    hashed.update(b")")


def _parts(value: Any) -> list[Any] | None:
    """The parts of a value; None if it has none."""
    for kinds, parts in _MADE_OF:
        if isinstance(value, kinds):
            return parts(value)
    if hasattr(value, "py_func"):  # compiled by Numba
        return [value.py_func]
    return None


def _text(value: Any) -> str:
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    return repr(value)


def _of_record(record: Any) -> list[Any]:
    parts = [type(record).__module__, *(getattr(record, field.name) for field in fields(record))]
    if isinstance(record, Kernel) and not type(record).__module__.startswith("mercer."):
        parts.append({name: part for name, part in vars(type(record)).items() if callable(part)})
    return parts


def _of_function(function: Any) -> list[Any]:
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [function.__code__, function.__defaults__, function.__kwdefaults__, cells]


_MADE_OF: tuple[tuple[Any, Callable[[Any], list[Any]]], ...] = (
    (Objects, lambda objects: [dict(objects.to_arrays())]),
    ((Record, State), _of_record),
    (types.FunctionType, _of_function),
    (types.CodeType, lambda code: [code.co_code, code.co_consts, code.co_names]),
    (functools.partial, lambda partial: [partial.func, partial.args, partial.keywords]),
    (Mapping, lambda mapping: [[name, mapping[name]] for name in sorted(mapping, key=repr)]),
    ((list, tuple, np.ndarray), list),
    ((set, frozenset), lambda items: sorted(map(repr, items))),
)
"""The parts of values of these classes, in a fixed order."""

"""What objects and kernels are, as digests of their content: the same in every process, on every machine.

A kernel is known by its class and parameters, a Python function by its own code, its defaults and what it closes over.
Functions that it calls are not looked into.
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
    """A name for each object, by its content, or by what `key` makes of it."""
    if key is not None:
        items: Any = getattr(objects, "items", None)
        listed = items if items is not None else objects.tolist()  # type: ignore[attr-defined]
        return [_digest(pack([key(item)])) for item in listed]
    try:
        return [_digest(objects.take(np.array([place])).to_arrays()) for place in range(len(objects))]
    except ModelFileError as error:
        raise InputError(
            f"These objects cannot be told apart from run to run, which kernels.Remembered needs: {error} Or give it a "
            "function that makes plain data of an object: key=lambda item: item.name."
        ) from error


def identity_of(kernel: Kernel, state: State) -> str:
    """What computes the values: equal texts give equal values."""
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
    """What a value is made of; None for one that is whole."""
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
"""What values of these classes are made of, in an order that is always the same."""

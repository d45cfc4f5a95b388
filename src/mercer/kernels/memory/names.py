"""What objects and kernels are, as digests of their content: the same in every process, on every machine.

A kernel is known by its class and parameters, a Python function by its own code, its defaults and what it closes over.
Functions that it calls are not looked into.
"""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
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
    elif isinstance(value, Objects):
        _feed(hashed, dict(value.to_arrays()))
    elif isinstance(value, Record) or is_dataclass(value):
        hashed.update(type(value).__module__.encode())
        for field in fields(value):
            _feed(hashed, getattr(value, field.name))
        if isinstance(value, Kernel) and not type(value).__module__.startswith("mercer."):
            _feed(hashed, {name: part for name, part in vars(type(value)).items() if callable(part)})
    elif isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        _feed(hashed, [value.__code__, value.__defaults__, value.__kwdefaults__, cells])
    elif isinstance(value, types.CodeType):
        _feed(hashed, [value.co_code, value.co_consts, value.co_names])
    elif hasattr(value, "py_func"):  # compiled by Numba
        _feed(hashed, value.py_func)
    elif isinstance(value, functools.partial):
        _feed(hashed, [value.func, value.args, value.keywords])
    elif isinstance(value, Mapping):
        for name in sorted(value, key=repr):
            _feed(hashed, [name, value[name]])
    elif isinstance(value, list | tuple | np.ndarray):
        for item in value:
            _feed(hashed, item)
    elif isinstance(value, set | frozenset):
        _feed(hashed, sorted(map(repr, value)))
    elif callable(value):
        hashed.update(f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}".encode())
    else:
        hashed.update(repr(value).encode())
    hashed.update(b")")

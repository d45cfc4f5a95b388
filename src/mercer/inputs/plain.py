"""Plain data as arrays and back: numbers, strings, bytes, tuples, lists, dicts, sets, arrays, and dataclasses of these.

Data that can be written without naming code can be stored in model files and identified by content. A value is JSON;
what JSON lacks is a list of two with a letter first::

    null, true, 3, 0.5, "text" ["l", [...]], ["t", [...]], ["s", [...]], ["z", [...]]      list, tuple, set, frozenset
    ["d", [[key, value], ...]]                                  dict ["f", "nan"], ["b", "00ff"], ["i",
    "20000000000000"]        numbers that are not finite, bytes, long integers ["a", [type, shape, start]]
    an array: a part of a member that holds all of its type ["o", [shape, [...]]]
    an array of Python objects ["n", [type, [], start]]                                    a NumPy scalar, likewise
    ["c", [class, [[field, value], ...]]]                       a dataclass or named tuple, by its name

A file never causes a class to be looked up: the caller gives those that may occur (`known_classes`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._process import within
from mercer.errors import InputTypeError, ModelFileError
from mercer.inputs.base import Arrays, misfit, stored

_TYPE = re.compile(r"<f[48]|<[iu][248]|\|[iu]1|\|b1|<U[1-9][0-9]{0,6}")
_MOST_AXES = 32  # of an array; NumPy allows 64
_DEEPEST = 50  # levels of values within values: far fewer than exhaust Python's stack
_LONGEST = 4000  # hexadecimal digits of an integer: beyond any use
_CLASSES: ContextVar[Mapping[str, type]] = ContextVar("classes of items", default={})  # noqa: B039  (never written to)


@contextlib.contextmanager
def known_classes(classes: Iterable[type]) -> Iterator[None]:
    """Within the block, dataclasses and named tuples of these classes can be read."""
    table: dict[str, type] = {}
    for kind in classes:
        if not isinstance(kind, type) or _fields_of(kind) is None:
            raise InputTypeError(f"`classes` must list dataclasses and named tuples; got {kind!r:.60}.")
        table[kind.__qualname__] = kind
    with within(_CLASSES, table):
        yield


def pack(values: Sequence[Any]) -> Arrays:
    """Values as one text, and one array per type of number; raises ModelFileError for anything but plain data."""
    packer = _Packer()
    nodes = [packer.node(value, f"item {place}") for place, value in enumerate(values)]
    text = json.dumps(nodes, separators=(",", ":"), allow_nan=False).encode("ascii")
    return {"text": np.frombuffer(text, dtype=np.uint8), **packer.pools()}


def unpack(arrays: Arrays) -> list[Any]:
    """The inverse of `pack`; raises ModelFileError for anything that `pack` would not have written."""
    (text,) = stored(arrays, "objects", "text")
    if text.dtype != np.uint8 or text.ndim != 1:
        raise misfit("objects", "their text is not text")
    try:
        nodes = json.loads(text.tobytes(), parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise misfit("objects", f"their text cannot be read ({error})") from error
    pools = {name.removeprefix("of_"): array for name, array in arrays.items() if name != "text"}
    if not isinstance(nodes, list) or not all(array.ndim == 1 for array in pools.values()):
        raise misfit("objects", "they are not a list")
    reader = _Reader(pools)
    return [reader.value(node, 0) for node in nodes]


class _Packer:
    def __init__(self) -> None:
        self._pools: dict[str, list[npt.NDArray[Any]]] = {}
        self._sizes: dict[str, int] = {}

    def pools(self) -> dict[str, npt.NDArray[Any]]:
        return {f"of_{_pool_name(kind)}": np.concatenate(parts) for kind, parts in self._pools.items()}

    def node(self, value: Any, where: str, depth: int = 0) -> Any:
        if depth > _DEEPEST:
            raise ModelFileError(f"{where} is nested more than {_DEEPEST} levels deep, or contains itself.")
        kind = type(value)
        if value is None or kind in _SCALARS:
            return value if value is None else _SCALARS[kind](value)
        if kind in _CONTAINERS:
            nodes = [self.node(item, where, depth + 1) for item in value]
            if kind in (set, frozenset):
                nodes.sort(key=json.dumps)  # equal sets give equal files
            return [_CONTAINERS[kind], nodes]
        if kind is dict:
            pairs = ((self.node(key, where, depth + 1), item) for key, item in value.items())
            return ["d", [[key, self.node(item, where, depth + 1)] for key, item in pairs]]
        if kind is np.ndarray or isinstance(value, np.generic):
            return self._array(value, where)
        names = _fields_of(kind)
        if names is None:
            raise ModelFileError(
                f"{where} is or holds a {kind.__name__}, and model files contain only plain data: numbers, strings, "
                "bytes, tuples, lists, dicts, sets, arrays and dataclasses of these. Convert it to plain data, or "
                "pickle the model yourself."
            )
        fields = [[name, self.node(getattr(value, name), where, depth + 1)] for name in names]
        return ["c", [kind.__qualname__, fields]]

    def _array(self, value: Any, where: str) -> Any:
        array = np.asarray(value)
        if array.dtype.kind == "O" and isinstance(value, np.ndarray):
            items = [self.node(item, where, 1) for item in array.ravel().tolist()]
            return ["o", [list(array.shape), items]]
        plain = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
        if plain.dtype.kind == "U" and plain.dtype.itemsize == 0:
            plain = plain.astype("<U1")
        name = plain.dtype.str
        if not _TYPE.fullmatch(name):
            raise ModelFileError(f"{where} holds an array of type {array.dtype}, which model files do not hold.")
        start = self._sizes.get(name, 0)
        self._sizes[name] = start + plain.size
        self._pools.setdefault(name, []).append(plain.ravel())
        return ["n" if isinstance(value, np.generic) else "a", [name, list(plain.shape), start]]


@final
class _Reader:
    def __init__(self, pools: Arrays) -> None:
        self._pools = pools

    def value(self, node: Any, depth: int) -> Any:
        if node is None or isinstance(node, str | bool | float):
            return node
        if isinstance(node, int) and abs(node) < 2**53:
            return node
        if depth > _DEEPEST:
            raise misfit("objects", "they are nested too deeply")
        if not (isinstance(node, list) and len(node) == 2 and isinstance(node[0], str) and node[0] in _READERS):
            raise _unknown(node)
        found: Any = _READERS[node[0]](self, node[1], depth + 1)
        return found

    def _sequence(self, node: Any, depth: int) -> list[Any]:
        if not isinstance(node, list):
            raise _unknown(node)
        return [self.value(item, depth) for item in node]

    def _hashable(self, node: Any, depth: int) -> list[Any]:
        found = self._sequence(node, depth)
        try:
            if len(set(found)) < len(found):
                raise misfit("objects", "a set or a dict has an item twice")
        except TypeError as error:
            raise _unknown(node) from error
        return found

    def _dict(self, node: Any, depth: int) -> dict[Any, Any]:
        if not (isinstance(node, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in node)):
            raise _unknown(node)
        keys = self._hashable([key for key, _ in node], depth)
        return dict(zip(keys, self._sequence([item for _, item in node], depth), strict=True))

    def _array(self, node: Any, depth: int) -> npt.NDArray[Any]:
        if not (isinstance(node, list) and len(node) == 3 and isinstance(node[0], str) and _TYPE.fullmatch(node[0])):
            raise _unknown(node)
        name, start = node[0], node[2]
        shape = _shape(node[1])
        pool = self._pools.get(_pool_name(name))
        if pool is None or not _is_whole(start) or start + math.prod(shape) > len(pool):
            raise misfit("objects", f"the numbers of an array are missing: {name}, {shape}")
        if pool.dtype.newbyteorder("<").str != name:
            raise misfit("objects", f"an array should be of type {name}, but is of type {pool.dtype}")
        return np.array(pool[start : start + math.prod(shape)]).reshape(shape)

    def _scalar(self, node: Any, depth: int) -> Any:
        found = self._array(node, depth)
        if found.shape != ():
            raise _unknown(node)
        return found[()]

    def _objects(self, node: Any, depth: int) -> npt.NDArray[Any]:
        if not (isinstance(node, list) and len(node) == 2):
            raise _unknown(node)
        shape, items = _shape(node[0]), self._sequence(node[1], depth)
        if len(items) != math.prod(shape):
            raise misfit("objects", "an array has items missing")
        found = np.empty(len(items), dtype=object)
        for place, item in enumerate(items):  # one by one: NumPy would split lists and arrays
            found[place] = item
        return found.reshape(shape)

    def _float(self, node: Any, depth: int) -> float:
        if node not in ("nan", "inf", "-inf"):
            raise _unknown(node)
        return float(node)

    def _bytes(self, node: Any, depth: int) -> bytes:
        if not isinstance(node, str) or not re.fullmatch("([0-9a-f]{2})*", node):
            raise _unknown(node)
        return bytes.fromhex(node)

    def _long(self, node: Any, depth: int) -> int:
        if not isinstance(node, str) or len(node) > _LONGEST or not re.fullmatch("-?[0-9a-f]+", node):
            raise _unknown(node)
        return int(node, 16)

    def _instance(self, node: Any, depth: int) -> Any:
        if not (isinstance(node, list) and len(node) == 2 and isinstance(node[0], str)):
            raise _unknown(node)
        kind = _CLASSES.get().get(node[0])
        if kind is None:
            raise ModelFileError(
                f"it holds objects of the class {node[0]!r:.80}, and a file never names code. Load it with "
                "mercer.load(path, classes=[...]), listing that class."
            )
        values = self._dict(node[1], depth)
        if tuple(values) != _fields_of(kind):
            raise misfit("objects", f"the fields of {kind.__name__} are {_fields_of(kind)}, not {tuple(values)}"[:300])
        return kind(**values)


_SCALARS: Mapping[type, Callable[[Any], Any]] = {
    bool: bool,
    str: str,
    int: lambda number: number if abs(number) < 2**53 else ["i", f"{number:x}"],
    float: lambda number: number if math.isfinite(number) else ["f", str(number)],
    bytes: lambda octets: ["b", octets.hex()],
}
_CONTAINERS: Mapping[type, str] = {list: "l", tuple: "t", set: "s", frozenset: "z"}
_READERS: Mapping[str, Callable[[_Reader, Any, int], Any]] = {
    "l": _Reader._sequence,
    "t": lambda reader, node, depth: tuple(reader._sequence(node, depth)),
    "s": lambda reader, node, depth: set(reader._hashable(node, depth)),
    "z": lambda reader, node, depth: frozenset(reader._hashable(node, depth)),
    "d": _Reader._dict,
    "f": _Reader._float,
    "b": _Reader._bytes,
    "i": _Reader._long,
    "a": _Reader._array,
    "n": _Reader._scalar,
    "o": _Reader._objects,
    "c": _Reader._instance,
}


def _fields_of(kind: type) -> tuple[str, ...] | None:
    """The names of the fields of a dataclass or named tuple that its constructor takes; None for other classes."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind) if field.init)
    names = getattr(kind, "_fields", None)
    is_named = issubclass(kind, tuple) and isinstance(names, tuple) and all(isinstance(name, str) for name in names)
    return names if is_named else None


def _pool_name(kind: str) -> str:
    """'<f8' as a name of an array: plain letters and digits."""
    return kind.lstrip("<|")


def _shape(node: Any) -> tuple[int, ...]:
    if not isinstance(node, list) or len(node) > _MOST_AXES or not all(_is_whole(length) for length in node):
        raise _unknown(node)
    return tuple(node)


def _is_whole(node: Any) -> bool:
    return type(node) is int and 0 <= node < 2**40


def _unknown(node: Any) -> ModelFileError:
    return misfit("objects", f"no plain data look like {node!a:.60}")


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)

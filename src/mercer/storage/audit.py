"""The audit of a header before anything is built from it.

Values are JSON scalars, lists, and objects whose first key tells their type::

    {"float": "inf"}                                       a number that JSON cannot hold {"tuple": [...]}, {"dict":
    [[key, value], ...]}        containers {"array": name}, {"array": name, "as": "object"}       one of the members;
    strings that were Python objects {"kernel": class, "fields": {...}}, {"loss": ...}      a record, by its name in the
    registry {"function": name}, {"user": class}                    code, which is never stored: requested when loading
    {"objects": class, "arrays": {name: {"array": ...}}}   a batch of objects {"dtype": "<f8"}
    a type of numbers {"plain": {name: {"array": ...}}}                      an array of Python objects, as
    `inputs.plain` packs them {"model": class, "params": {...}}                      a model within a model, which is
    not fitted; one that is
                                                           has "values", "arrays", "expansion" and "objects" as well
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mercer._registry import INPUTS, KERNELS, LOSSES, Entry
from mercer.errors import ModelFileError
from mercer.storage import known
from mercer.storage.format import MAX_MEMBERS, Member, shown

FORMAT = "mercer model"
FORMAT_VERSION = 1  # increased whenever older versions of Mercer could not read new files
RECORDS: Mapping[str, dict[str, Entry]] = {"kernel": KERNELS, "loss": LOSSES}
FLOATS = ("inf", "-inf", "nan")
_DTYPE = re.compile(r"<f[48]|<[iu][248]|\|[iu]1|\|b1|<U[1-9][0-9]{0,6}")
_NAME = re.compile(r"[A-Za-z0-9_]+(/[A-Za-z0-9_]+)*")
_LONGEST_NAME = 1000  # characters: kernels within kernels give long paths, and zip allows 65,535
_LONGEST_AXIS = 2**40  # beyond any memory; sizes are compared with those of the file before anything is allocated
_MOST_AXES = 8  # axes of an array: kernels use three at most; NumPy allows 64


def check_header(header: Any) -> dict[str, Member]:
    """Refuse a header that Mercer would not have written; returns the declared arrays by name."""
    top = _object(header, "the header")
    if top.get("format") != FORMAT:
        raise ModelFileError("it is not a Mercer model file: the header does not say so.")
    version = _whole(top.get("version"), "version", 1)
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"it was written by mercer {shown(top.get('mercer'))} in version {version} of the format; this one reads "
            f"up to version {FORMAT_VERSION}. Upgrade mercer."
        )
    keys = ("format", "version", "mercer", "estimator", "params", "values", "arrays", "expansion", "objects", "members")
    _keys(top, "the header", keys, optional=("sklearn",))
    known.check_known(top["estimator"])
    if not isinstance(top.get("sklearn", ""), str):
        raise ModelFileError(f"the version of scikit-learn cannot be {shown(top['sklearn'])}.")
    members = {name: _member(name, value) for name, value in _object(top["members"], "members").items()}
    if len(members) > MAX_MEMBERS:
        raise ModelFileError(f"its header lists more than {MAX_MEMBERS:,} arrays.")
    _Tree(members).check_all(top)
    return members


def registered(table: Mapping[str, Entry], name: Any, what: str) -> Entry:
    """The entry of a class that Mercer knows; a file cannot name any other."""
    if not isinstance(name, str) or name not in table:
        raise ModelFileError(
            f"it asks for the {what} {shown(name)}, which this version of mercer does not have. Was it "
            "written by a newer one?"
        )
    return table[name]


def check_name(name: Any) -> str:
    """The name of an array: plain words between slashes, which are never a dangerous path."""
    if not isinstance(name, str) or len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise ModelFileError(f"{shown(name)} cannot be the name of an array in a model file.")
    return name


class _Tree:
    """Visits every value of the header; each array must be used exactly once."""

    def __init__(self, members: Mapping[str, Member]) -> None:
        self._members = members
        self._used: set[str] = set()

    def check_all(self, top: Mapping[str, Any]) -> None:
        self._values(top["params"], "params")
        self._learnt(top)
        unused = self._members.keys() - self._used
        if unused:
            raise ModelFileError(f"nothing in its header uses the array {shown(min(unused))}.")

    def _learnt(self, top: Mapping[str, Any]) -> None:
        self._values(top["values"], "values")
        for name, node in _object(top["arrays"], "arrays").items():
            self._array(node, f"arrays {shown(name)}")
        for name, node in _object(top["objects"], "objects").items():
            self._objects(node, f"objects {shown(name)}")
        if top["expansion"] is not None:
            self._expansion(top["expansion"])

    def _model(self, node: Any, where: str) -> None:
        learnt = ("values", "arrays", "expansion", "objects")
        found = _keys(node, where, ("model", "params", *(learnt if "values" in node else ())))
        known.check_known(found["model"])
        self._values(found["params"], f"the {found['model']}")
        if "values" in found:
            self._learnt(found)

    def _type(self, node: Any, where: str) -> None:
        name = _keys(node, where, ("dtype",))["dtype"]
        if not isinstance(name, str) or not _DTYPE.fullmatch(name):
            raise _unknown(node, where)

    def _plain(self, node: Any, where: str) -> None:
        for name, child in _object(_keys(node, where, ("plain",))["plain"], where).items():
            check_name(name)
            self._array(child, where)

    def _expansion(self, node: Any) -> None:
        where = "the expansion"
        found = _keys(node, where, ("kernel", "state", "support", "coefficients", "intercept"))
        self._value(found["kernel"], where)
        self._state(found["state"], where)
        self._objects(found["support"], where)
        self._array(found["coefficients"], where)
        self._array(found["intercept"], where)

    def _state(self, node: Any, where: str) -> None:
        found = _keys(node, where, ("values", "parts", "objects"))
        for child in _object(found["values"], where).values():
            self._array(child, where)
        for child in _list(found["parts"], where):
            self._state(child, where)
        if found["objects"] is not None:
            self._objects(found["objects"], where)

    def _objects(self, node: Any, where: str) -> None:
        found = _keys(node, where, ("objects", "arrays"))
        registered(INPUTS, found["objects"], "kind of objects")
        for name, child in _object(found["arrays"], where).items():
            check_name(name)
            self._array(child, where)

    def _array(self, node: Any, where: str) -> None:
        found = _keys(node, where, ("array",), optional=("as",))
        name = found["array"]
        if not isinstance(name, str) or name not in self._members or name in self._used:
            raise ModelFileError(f"{where}: the array {shown(name)} is missing, or used twice.")
        if "as" in found and (found["as"] != "object" or not self._members[name].dtype.startswith("<U")):
            raise ModelFileError(f"{where}: the array {shown(name)} cannot be made of Python objects.")
        self._used.add(name)

    def _values(self, node: Any, where: str) -> None:
        for name, child in _object(node, where).items():
            self._value(child, f"{where} {shown(name)}")

    def _value(self, node: Any, where: str) -> None:
        if node is None or isinstance(node, str | bool | int | float):
            return
        if isinstance(node, list):
            self._each(node, where)
            return
        tag = next(iter(_object(node, where)), "")
        if tag in _BY_TAG:
            _BY_TAG[tag](self, node, where)
        elif tag in RECORDS:
            self._record(node, tag, where)
        else:
            raise _unknown(node, where)

    def _each(self, nodes: Iterable[Any], where: str) -> None:
        for node in nodes:
            self._value(node, where)

    def _float(self, node: Any, where: str) -> None:
        if _keys(node, where, ("float",))["float"] not in FLOATS:
            raise _unknown(node, where)

    def _tuple(self, node: Any, where: str) -> None:
        self._each(_list(_keys(node, where, ("tuple",))["tuple"], where), where)

    def _dict(self, node: Any, where: str) -> None:
        for pair in _list(_keys(node, where, ("dict",))["dict"], where):
            self._each(_pair(pair, where), where)

    def _code(self, node: Any, where: str) -> None:
        tag = next(iter(node))
        if not isinstance(_keys(node, where, (tag,))[tag], str):
            raise _unknown(node, where)

    def _record(self, node: Any, tag: str, where: str) -> None:
        found = _keys(node, where, (tag, "fields"))
        entry = registered(RECORDS[tag], found[tag], tag)
        fields = _object(found["fields"], where)
        declared = {field.name: field for field in dataclasses.fields(entry.load())}
        needed = [name for name, field in declared.items() if _has_no_default(field)]
        _keys(fields, f"the {tag} {entry.name}", needed, optional=declared)
        self._values(fields, f"the {tag} {entry.name}")


_BY_TAG: dict[str, Callable[[_Tree, Any, str], None]] = {
    "array": _Tree._array,
    "objects": _Tree._objects,
    "float": _Tree._float,
    "tuple": _Tree._tuple,
    "dict": _Tree._dict,
    "function": _Tree._code,
    "user": _Tree._code,
    "model": _Tree._model,
    "dtype": _Tree._type,
    "plain": _Tree._plain,
}
"""How a value is checked, by its first key; records have their own tables."""


def _unknown(node: Any, where: str) -> ModelFileError:
    return ModelFileError(f"{where}: nothing in a model file looks like {shown(node)}.")


def _member(name: str, node: Any) -> Member:
    check_name(name)
    where = f"the array {shown(name)}"
    found = _keys(node, where, ("dtype", "shape", "sha256"))
    dtype, digest = found["dtype"], found["sha256"]
    if not isinstance(dtype, str) or not _DTYPE.fullmatch(dtype):
        raise ModelFileError(f"{where} has the type {shown(dtype)}, which model files do not hold.")
    if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
        raise ModelFileError(f"{where} has no checksum.")
    shape = tuple(_whole(length, where, 0, _LONGEST_AXIS) for length in _list(found["shape"], where))
    if len(shape) > _MOST_AXES:
        raise ModelFileError(f"{where} has {len(shape)} axes.")
    return Member(dtype, shape, digest)


def _object(node: Any, where: str) -> dict[str, Any]:
    if not isinstance(node, dict):
        raise ModelFileError(f"{where} must be an object, but is {shown(node)}.")
    return node


def _list(node: Any, where: str) -> list[Any]:
    if not isinstance(node, list):
        raise ModelFileError(f"{where} needs a list, but has {shown(node)}.")
    return node


def _pair(node: Any, where: str) -> list[Any]:
    pair = _list(node, where)
    if len(pair) != 2 or isinstance(pair[0], list | dict):
        raise ModelFileError(f"{where} needs a key and a value, but has {shown(node)}.")
    return pair


def _keys(node: Any, where: str, needed: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Any]:
    found = _object(node, where)
    missing = set(needed) - found.keys()
    unknown = found.keys() - set(needed) - set(optional)
    if missing or unknown:
        what = f"lacks {shown(min(missing))}" if missing else f"has {shown(min(unknown))}, which it should not"
        raise ModelFileError(f"{where} {what}.")
    return found


def _whole(node: Any, where: str, low: int, high: int = 2**31) -> int:
    if type(node) is not int or not low <= node <= high:
        raise ModelFileError(f"{where}: {shown(node)} is not a whole number from {low} to {high}.")
    return node


def _has_no_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING

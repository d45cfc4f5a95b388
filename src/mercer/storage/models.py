"""Estimators to header and arrays, and back; what is in them is the estimator's own business."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from mercer._record import Record
from mercer._registry import MODELS
from mercer._stored import Storable, Stored, from_stored, to_stored
from mercer._version import __version__
from mercer.errors import ModelFileError, UnfittedError
from mercer.storage import invariants
from mercer.storage.audit import FORMAT, FORMAT_VERSION, check_header
from mercer.storage.format import described
from mercer.storage.tree import Arrays, Decoder, Encoder


def take_apart(model: Any) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a fitted model, audited as if they had been read from a file."""
    stored = _stored(model)
    encoder = Encoder()
    for name, value in stored.params.items():
        if name != "kernel" and callable(value) and not isinstance(value, Record):
            raise ModelFileError(
                f"The {name!r} parameter of {type(model).__name__} is a Python function, and model files never hold "
                "code. Set it to a plain value before saving."
            )
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "mercer": __version__,
        "estimator": type(model).__name__,
        "params": {name: encoder.value(value, f"params/{name}") for name, value in stored.params.items()},
        "values": {name: encoder.value(value, f"values/{name}") for name, value in stored.values.items()},
        "arrays": {name: encoder.array(array, f"arrays/{name}") for name, array in stored.arrays.items()},
        "expansion": None if stored.expansion is None else encoder.expansion(stored.expansion, "expansion"),
        "objects": {name: encoder.objects(item, f"objects/{name}") for name, item in stored.objects.items()},
        "members": {},
    }
    for name, array in encoder.arrays.items():
        header["members"][name] = dataclasses.asdict(described(array)[0])
        header["members"][name]["shape"] = list(array.shape)
    check_header(header)
    return header, encoder.arrays


def put_together(header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], kernel: Any) -> Any:
    """The model that an audited header and its arrays describe."""
    decoder = Decoder(arrays)
    params = {
        name: decoder.kernel(node, kernel) if name == "kernel" and isinstance(node, dict) else decoder.value(node)
        for name, node in header["params"].items()
    }
    node = header["expansion"]
    expansion = None if node is None else decoder.expansion(node, kernel)
    if expansion is not None:
        invariants.check(expansion)
    stored = Stored(
        params,
        {name: decoder.value(item) for name, item in header["values"].items()},
        {name: decoder.array(item) for name, item in header["arrays"].items()},
        expansion,
        {name: decoder.objects(item) for name, item in header["objects"].items()},
    )
    estimator: type[Storable] = MODELS[header["estimator"]].load()
    return from_stored(estimator, stored)


def _stored(model: Any) -> Stored:
    from sklearn.exceptions import NotFittedError

    name = type(model).__name__
    if name not in MODELS or MODELS[name].load() is not type(model):
        raise ModelFileError(
            f"Cannot save a {name}: model files hold Mercer's own estimators. Save the estimator itself rather than a "
            "pipeline or a search around it, or pickle the whole yourself."
        )
    if not isinstance(model, Storable):
        raise ModelFileError(
            f"Cannot save a {name}: this estimator has no form in model files yet. Pickle it yourself."
        )
    try:
        return to_stored(model)
    except NotFittedError as error:
        raise UnfittedError(f"Cannot save this {name}: it is not fitted yet. Call fit first.") from error

"""Estimators to header and arrays, and back; what is in them is the estimator's own business."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._record import Record
from mercer._registry import MODELS
from mercer._stored import Storable, Stored, from_stored, to_stored
from mercer._version import __version__
from mercer.errors import ModelFileError, UnfittedError
from mercer.gram.expansion import Expansion
from mercer.kernels.base import State
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
        _check(expansion)
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


def _check(expansion: Expansion) -> None:
    """Refuse an expansion whose parts do not belong together."""
    kernel, support = expansion.kernel.kernel, expansion.support
    coefficients, intercept = expansion.coefficients, expansion.intercept
    if not isinstance(support, kernel.domain):
        raise ModelFileError(f"its kernel compares {kernel.domain.kind}, but its support objects are {support.kind}.")
    if coefficients.dtype != np.float64 or coefficients.ndim != 2 or len(coefficients) != len(support):
        raise ModelFileError(f"it has {len(support)} support objects, but coefficients of shape {coefficients.shape}.")
    if intercept.dtype != np.float64 or intercept.shape != coefficients.shape[1:]:
        raise ModelFileError(
            f"it has {coefficients.shape[1]} columns of coefficients, but intercepts of shape {intercept.shape}."
        )
    if not (np.isfinite(coefficients).all() and np.isfinite(intercept).all()):
        raise ModelFileError("its coefficients are not finite.")
    if len(support):
        _check_state(expansion)


def _check_state(expansion: Expansion) -> None:
    """The state must have the form that the kernel gives it: the one that it resolves from a few support objects."""
    kernel, state = expansion.kernel.kernel, expansion.kernel.state
    form: State | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few objects may well look odd
        # Some kernels cannot be resolved from so little (precomputed ones have no matrix any more).
        with contextlib.suppress(Exception):
            form = kernel.resolve(expansion.support.take(slice(0, 2)))
        if form is not None:
            _compare(state, form)
        expansion.kernel.features(expansion.support.take(slice(0, 1)))


def _compare(state: State, form: State) -> None:
    wrong = "its kernel has a state that does not belong to it"
    if state.values.keys() != form.values.keys() or len(state.parts) != len(form.parts):
        raise ModelFileError(f"{wrong}.")
    for name, array in form.values.items():
        found, expected = state.values[name], np.asarray(array)
        if found.dtype.kind != expected.dtype.kind or found.ndim != expected.ndim:
            raise ModelFileError(f"{wrong}: {name!r} is of the wrong type or shape.")
        if found.dtype.kind == "f" and np.isnan(found).any():
            raise ModelFileError(f"{wrong}: {name!r} holds NaN.")
    if type(state.objects) is not type(form.objects):
        raise ModelFileError(f"{wrong}: its objects are of another kind.")
    for part, part_form in zip(state.parts, form.parts, strict=True):
        _compare(part, part_form)

"""Conversion of estimators to header and arrays, and back; estimators define their own content."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from mercer._version import __version__
from mercer.storage.audit import FORMAT, FORMAT_VERSION, check_header
from mercer.storage.format import described
from mercer.storage.tree import Arrays, Decoder, Encoder


def take_apart(model: Any) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a fitted model, audited as if they had been read from a file."""
    encoder = Encoder()
    content = encoder.fitted(model)
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "mercer": __version__,
        "estimator": type(model).__name__,
        **content,
        "members": {},
    }
    if encoder.uses_sklearn:
        import sklearn

        header["sklearn"] = sklearn.__version__
    for name, array in encoder.arrays.items():
        header["members"][name] = dataclasses.asdict(described(array)[0])
        header["members"][name]["shape"] = list(array.shape)
    check_header(header)
    return header, encoder.arrays


def put_together(header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], kernel: Any) -> Any:
    """The model that an audited header and its arrays describe."""
    return Decoder(arrays, kernel).fitted(header["estimator"], header, whole=True)

"""Model files of machines with learnt kernel weights: the trained machine, and how its kernel was learnt."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from mercer._record import Record
from mercer._stored import Stored, checked_array, checked_value, unwrapped, wrapped
from mercer.errors import ModelFileError
from mercer.kernels.base import Kernel
from mercer.training.certificate import Certificate
from mercer.training.shares import ShareCertificate

_MARK = "mixed_"


def take_apart(params: dict[str, Any], machine: Any, weights: Any, proof: Any = None) -> Stored:
    """The parts of a model: `machine`, trained on the weighted sum, and the parameters and weights that led to it."""
    own = [kernel for kernel in params["kernels"] if _holds_code(kernel)]
    if own:
        raise ModelFileError(
            f"The kernel {own[0]} holds Python code of yours, and model files never hold code. Save the trained "
            "machine itself, `estimator_`: mercer.load then asks for its kernel."
        )
    template = params["estimator"].kernel
    values = {
        "kernels": list(params["kernels"]),
        "method": params["method"],
        "lam": float(params["lam"]),
        # `fit` replaces it, so one with Python code need not be kept.
        "kernel": template if isinstance(template, str | Kernel) and not _holds_code(template) else "rbf",
    }
    arrays = {"weights": weights}
    if proof is not None:
        arrays["weights_certificate"], values["weights_dtype"] = proof.to_array(), proof.dtype
    return wrapped(machine, _MARK, values, arrays)


def put_together(stored: Stored) -> tuple[dict[str, Any], Any, Any, Any]:
    """Parameters, trained machine, weights and their certificate."""
    machine, values, arrays = unwrapped(stored, _MARK)
    kind = type(machine)
    kernels, template = checked_value(values, "kernels", list), values.get("kernel")
    if not kernels or not all(isinstance(kernel, str | Kernel) for kernel in [*kernels, template]):
        raise ModelFileError("its list of kernels is empty, or holds something else.")
    if "kernel" not in stored.params:
        raise ModelFileError(f"a {kind.__name__} is not a machine with a kernel.")
    weights = checked_array(arrays, "weights", "f", (len(kernels),))
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ModelFileError("the weights of its kernels must be numbers from 0.")
    params = {
        "estimator": kind(**{**stored.params, "kernel": template}),
        "kernels": kernels,
        "method": checked_value(values, "method", str),
        "lam": checked_value(values, "lam", float),
    }
    return params, machine, weights, _certificate(values, arrays)


def _certificate(values: dict[str, Any], arrays: dict[str, Any]) -> Certificate | ShareCertificate | None:
    """The certificate of the weights, if the file has one: a row for alignment, a table for margins."""
    found = arrays.get("weights_certificate")
    if found is None:
        return None
    dtype = checked_value(values, "weights_dtype", str)
    if found.ndim == 1:
        numbers = checked_array(arrays, "weights_certificate", "f", (5,))
        if not np.isfinite(numbers).all():
            raise ModelFileError("the numbers of its certificate are not finite.")
        return ShareCertificate.from_array("weights", numbers, dtype)
    table = checked_array(arrays, "weights_certificate", "f", (max(len(found), 1), 7))
    return Certificate.from_array(table, dtype)


def _holds_code(value: Any) -> bool:
    if isinstance(value, Record):
        fields = (getattr(value, field.name) for field in dataclasses.fields(value))
        return any(_holds_code(field) for field in fields)
    if isinstance(value, list | tuple):
        return any(_holds_code(item) for item in value)
    return callable(value)

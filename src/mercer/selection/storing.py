"""Model files of machines with learnt kernel weights: the trained machine, and how its kernel came about."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from mercer._record import Record
from mercer._stored import Stored, checked_array, checked_value, unwrapped, wrapped
from mercer.errors import ModelFileError
from mercer.kernels.base import Kernel

_MARK = "mixed_"


def take_apart(params: dict[str, Any], machine: Any, weights: Any) -> Stored:
    """`machine` trained on the weighted sum, beside the parameters and the weights of what learnt them."""
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
        # `fit` replaces it, so that one with Python code need not be kept.
        "kernel": template if isinstance(template, str | Kernel) and not _holds_code(template) else "rbf",
    }
    return wrapped(machine, _MARK, values, {"weights": weights})


def put_together(stored: Stored) -> tuple[dict[str, Any], Any, Any]:
    """Parameters, trained machine and weights."""
    machine, values, arrays = unwrapped(stored, _MARK)
    kind = type(machine)
    kernels, template = checked_value(values, "kernels", list), values.get("kernel")
    if not kernels or not all(isinstance(kernel, str | Kernel) for kernel in [*kernels, template]):
        raise ModelFileError("its list of kernels is empty, or holds something else.")
    if "kernel" not in stored.params:
        raise ModelFileError(f"a {kind.__name__} is no machine with a kernel.")
    weights = checked_array(arrays, "weights", "f", (len(kernels),))
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ModelFileError("the weights of its kernels must be numbers from 0.")
    params = {
        "estimator": kind(**{**stored.params, "kernel": template}),
        "kernels": kernels,
        "method": checked_value(values, "method", str),
        "lam": checked_value(values, "lam", float),
    }
    return params, machine, weights


def _holds_code(value: Any) -> bool:
    if isinstance(value, Record):
        fields = (getattr(value, field.name) for field in dataclasses.fields(value))
        return any(_holds_code(field) for field in fields)
    if isinstance(value, list | tuple):
        return any(_holds_code(item) for item in value)
    return callable(value)

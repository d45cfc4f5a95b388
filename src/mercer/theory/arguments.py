"""Arguments that specify a kernel: an object, an expression, a function of two batches, or a matrix."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np
import scipy.sparse as sp

from mercer import _check, _deadline
from mercer.errors import InputError
from mercer.kernels.base import Kernel
from mercer.kernels.memory import calls
from mercer.kernels.text.expression import parse
from mercer.kernels.user import FromBlocks

Parameters = ParamSpec("Parameters")
Found = TypeVar("Found")

RULE = "a kernel object, an expression such as 'rbf(gamma=0.1)', or a function of two batches"


def kernel_of(owner: str, kernel: Any) -> Kernel:
    """The kernel that an argument specifies."""
    if isinstance(kernel, str):
        return parse(kernel)
    if not isinstance(kernel, Kernel) and callable(kernel):
        return FromBlocks(kernel)
    asked: Kernel = _check.instance(owner, "kernel", kernel, Kernel, RULE)
    return asked


def is_matrix(value: Any) -> bool:
    """Whether a Gram matrix was passed instead of a kernel."""
    return isinstance(value, np.ndarray | list | tuple) or sp.issparse(value) or hasattr(value, "to_numpy")


def matrix_of(owner: str, value: Any) -> Any:
    """A matrix of numbers as float64; not checked to be square or finite."""
    try:
        values: Any = value.toarray() if sp.issparse(value) else np.asarray(value)  # type: ignore[attr-defined]
        matrix = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{owner} needs a matrix of numbers: {error}") from error
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(f"{owner} needs a matrix with rows and columns; got an array of shape {matrix.shape}.")
    return matrix


def in_time(function: Callable[Parameters, Found]) -> Callable[Parameters, Found]:
    """Decorate a function so that all its work is done within its parameter `time_limit`, and no pair is compared twice
    by a user's function."""

    @functools.wraps(function)
    def limited(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Found:
        limit: Any = kwargs.get("time_limit")
        if limit is not None:
            limit = _check.real(function.__name__, "time_limit", limit, low=0, low_open=True)
        with calls.once(), _deadline.limited(limit):
            return function(*args, **kwargs)

    return limited

"""What parameters may be: types of those with a few values, which editors complete; and parameters of parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any, Literal

from mercer._record import Record
from mercer.errors import MercerError, ParameterError
from mercer.kernels.text.expression import parse

Gamma = float | Literal["scale", "auto", "median"] | None
Memory = float | Literal["auto"]
Psd = Literal["warn", "error", "ignore", "clip", "flip", "shift"]
Dual = bool | Literal["auto"]
Precision = Literal["auto", "float64"]
Variant = Literal["corrected", "constant", "printed"]
KernelWeights = Literal["alignment", "margin", "uniform"]


def parameter_of_a_name(owner: str, head: str, name: str, parameter: str, value: Any) -> ParameterError:
    """The error for ``kernel__gamma`` when the kernel is a name, which has no parameters of its own."""
    try:
        known = parse(name)
    except MercerError:
        known = None
    kind = type(known).__name__
    if known is None or parameter not in known.get_params():
        kind = "Polynomial" if parameter in ("degree", "coef0") else "RBF"
    own = f"Use set_params({parameter}={value!r}), or " if parameter in ("gamma", "degree", "coef0") else ""
    remedy = f"{own}give the kernel as an object: {head}=kernels.{kind}({parameter}={value!r})."
    return ParameterError(
        f"{head}__{parameter} needs a kernel object, but the {head} of this {owner} is the name {name!r}. "
        f"{remedy[0].upper()}{remedy[1:]}"
    )


def nested_parameters(estimator: Any, params: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The parameters of records among the parameters of an estimator, as in ``kernel__gamma``, and all others."""
    nested: dict[str, dict[str, Any]] = {}
    plain: dict[str, Any] = {}
    for path, value in params.items():
        head, _, rest = path.partition("__")
        target = params.get(head, getattr(estimator, head, None))
        if rest and isinstance(target, Record):
            nested.setdefault(head, {})[rest] = value
        elif rest and isinstance(target, str) and head.startswith("kernel"):
            raise parameter_of_a_name(type(estimator).__name__, head, target, rest, value)
        else:
            plain[path] = value
    return nested, plain


@functools.cache
def default_shapes(kind: Any) -> dict[str, Any]:
    """The defaults of the parameters that apply to named kernels."""
    parameters = inspect.signature(kind).parameters
    return {name: parameters[name].default for name in ("gamma", "degree", "coef0")}

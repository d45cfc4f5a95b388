"""Types for parameters with a few allowed values: editors complete them, type checkers refuse other values."""

from __future__ import annotations

from typing import Any, Literal

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

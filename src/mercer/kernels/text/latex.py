"""Pieces of LaTeX for the formulas of kernels."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.kernels.text.form import name_of

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

LONG = 120
"""A longer formula is not written out three times: nested ones would grow without bound."""
_GREEK = {"alpha", "beta", "gamma", "delta", "epsilon", "theta", "kappa", "lambda", "mu", "nu", "sigma", "tau", "omega"}
_SLOT = re.compile(r"(?P<plus> \+ )?<(?P<name>\w+)>(?P<times>\\,)?")


def filled(formula: str, kernel: Kernel, x: str, z: str) -> str:
    """The formula with its slots filled; a factor of 1 and a summand of 0 are left out."""

    def fill(slot: re.Match[str]) -> str:
        plus, name, times = slot.group("plus") or "", slot.group("name"), slot.group("times") or ""
        if name in ("x", "z"):
            return f"{plus}{x if name == 'x' else z}{times}"
        value = getattr(kernel, name)
        text = value.latex(x, z) if hasattr(value, "latex") else parameter(name, value)
        if (times and text == "1") or (plus and text == "0"):
            return plus if text == "1" else ""
        return f"{plus}{text}{times}"

    return _SLOT.sub(fill, formula)


def named(kernel: Kernel, x: str, z: str) -> str:
    """A kernel without a formula: its name, with the parameters that are numbers."""
    fields = ((item, getattr(kernel, item.name)) for item in dataclasses.fields(kernel))
    shown = [f"{words(item.name)} = {parameter(item.name, value)}" for item, value in fields if _is_number(value)]
    index = f"_{{{', '.join(shown)}}}" if shown else ""
    return rf"{words(name_of(kernel))}{index}({x}, {z})"


def parameter(name: str, value: Any) -> str:
    """A number, or the symbol of a parameter that depends on data or has no short form."""
    if _is_number(value):
        return number(value)
    return rf"\{name}" if name in _GREEK else words(name)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def number(value: Any) -> str:
    """A number to six digits, with powers of ten in LaTeX."""
    mantissa, _, exponent = f"{float(value):.6g}".partition("e")
    if mantissa.lstrip("-") == "inf":
        return mantissa.replace("inf", r"\infty")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"


def words(text: str) -> str:
    """Text in upright letters, with LaTeX commands escaped."""
    plain = re.sub(r"[^\w \-.,:+]", "?", text)
    return rf"\mathrm{{{plain.replace('_', chr(92) + '_').replace(' ', chr(92) + ' ')}}}"


def bracketed(latex: str) -> str:
    """In brackets that grow with their content."""
    return rf"\left({latex}\right)"


def factor(latex: str) -> str:
    """In brackets if there is a plus or minus at the outermost level."""
    return bracketed(latex) if any(sign in outermost for outermost in _outermost(latex) for sign in "+-") else latex


def _outermost(latex: str) -> Iterable[str]:
    depth = 0
    for character in latex:
        depth += (character in "({[") - (character in ")}]")
        if depth == 0:
            yield character

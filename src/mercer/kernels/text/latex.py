"""The formula of a kernel in LaTeX, which notebooks show.

A kernel gives its own in `Kernel.formula`; the algebra is put together here. Other kernels are shown by name.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from functools import singledispatch
from typing import Any

import numpy as np

from mercer.kernels.algebra.centred import Centred
from mercer.kernels.algebra.dag import DagKernel
from mercer.kernels.algebra.exp_of import ExpOf
from mercer.kernels.algebra.normalised import Normalised
from mercer.kernels.algebra.polynomial_of import PolynomialOf
from mercer.kernels.algebra.power import Power
from mercer.kernels.algebra.pull_back import PullBack
from mercer.kernels.algebra.sums import Product, Scaled, Sum
from mercer.kernels.algebra.tables import OnColumns
from mercer.kernels.base import Kernel
from mercer.kernels.text.form import name_of

_GREEK = {"alpha", "beta", "gamma", "delta", "epsilon", "theta", "kappa", "lambda", "mu", "nu", "sigma", "tau", "omega"}
_SLOT = re.compile(r"(?P<plus> \+ )?<(?P<name>\w+)>(?P<times>\\,)?")
_LONG = 120
"""A formula longer than this is not written out three times: nested ones would grow without bound."""
# Formulas of the first kernels on vectors; classes of their own give `Kernel.formula`.
_FORMULAS = {
    "Linear": r"<x>^\top <z>",
    "Polynomial": r"\left(<gamma>\,<x>^\top <z> + <coef0>\right)^{<degree>}",
}


@singledispatch
def latex_of(kernel: Kernel, x: str = "x", z: str = "z") -> str:
    r"""The formula of a kernel between the objects named `x` and `z`.

    >>> from mercer import kernels
    >>> from mercer.kernels.text.latex import latex_of
    >>> print(latex_of(kernels.Linear() + 0.5 * kernels.Polynomial(degree=2)))
    x^\top z + 0.5\,\left(x^\top z + 1\right)^{2}
    """
    if type(kernel).__name__ == "RBF":
        return _gaussian(kernel, x, z)
    formula = _FORMULAS.get(type(kernel).__name__, kernel.formula)
    return _filled(formula, kernel, x, z) if formula else _named(kernel, x, z)


@latex_of.register
def _(kernel: Sum, x: str = "x", z: str = "z") -> str:
    return " + ".join(latex_of(term, x, z) for term in kernel.terms)


@latex_of.register
def _(kernel: Product, x: str = "x", z: str = "z") -> str:
    return r" \cdot ".join(_factor(latex_of(term, x, z)) for term in kernel.terms)


@latex_of.register
def _(kernel: Scaled, x: str = "x", z: str = "z") -> str:
    return rf"{_number(kernel.factor)}\,{_factor(latex_of(kernel.kernel, x, z))}"


@latex_of.register
def _(kernel: Power, x: str = "x", z: str = "z") -> str:
    return rf"{_bracketed(latex_of(kernel.kernel, x, z))}^{{{kernel.exponent}}}"


@latex_of.register
def _(kernel: ExpOf, x: str = "x", z: str = "z") -> str:
    return rf"\exp{_bracketed(latex_of(kernel.kernel, x, z))}"


@latex_of.register
def _(kernel: PolynomialOf, x: str = "x", z: str = "z") -> str:
    base = latex_of(kernel.kernel, x, z)
    terms = []
    for power, coefficient in enumerate(kernel.coefficients):
        if coefficient:
            factors = [_number(coefficient)] if coefficient != 1 or power == 0 else []
            if power:
                factors.append(_factor(base) if power == 1 else rf"{_bracketed(base)}^{{{power}}}")
            terms.append(r"\,".join(factors))
    return " + ".join(terms) or "0"


@latex_of.register
def _(kernel: Normalised, x: str = "x", z: str = "z") -> str:
    inner, cross = kernel.kernel, latex_of(kernel.kernel, x, z)
    if len(cross) > _LONG:
        return rf"\operatorname{{normalise}}\left[{cross}\right]"
    lengths = rf"{_factor(latex_of(inner, x, x))} \cdot {_factor(latex_of(inner, z, z))}"
    return rf"\frac{{{cross}}}{{\sqrt{{{lengths}}}}}"


@latex_of.register
def _(kernel: Centred, x: str = "x", z: str = "z") -> str:
    return rf"\operatorname{{centre}}\left[{latex_of(kernel.kernel, x, z)}\right]"


@latex_of.register
def _(kernel: PullBack, x: str = "x", z: str = "z") -> str:
    return latex_of(kernel.kernel, rf"\varphi({x})", rf"\varphi({z})")


@latex_of.register
def _(kernel: OnColumns, x: str = "x", z: str = "z") -> str:
    columns = ", ".join(_words(name) for name in kernel.columns)
    return latex_of(kernel.kernel, f"{{{x}}}_{{{columns}}}", f"{{{z}}}_{{{columns}}}")


@latex_of.register
def _(kernel: DagKernel, x: str = "x", z: str = "z") -> str:
    ends = rf"{_words(str(kernel.source))} \to {_words(str(kernel.sink))}"
    return rf"\sum_{{p \colon {ends}}} \prod_{{e \in p}} k_e({x}, {z})"


def _gaussian(kernel: Any, x: str, z: str) -> str:
    if isinstance(kernel.gamma, tuple):
        return rf"\exp\left(-\sum_i \gamma_i\,({x}_i - {z}_i)^2\right)"
    if kernel.over is None:
        distance = rf"\left\lVert {x} - {z} \right\rVert^2"
    elif len(cross := latex_of(kernel.over, x, z)) > _LONG:
        distance = rf"d^2\left[{cross}\right]"
    else:
        own, other = latex_of(kernel.over, x, x), latex_of(kernel.over, z, z)
        distance = rf"\left({own} + {other} - 2\,{_factor(cross)}\right)"
    gamma = _value("gamma", kernel.gamma)
    return rf"\exp\left(-{'' if gamma == '1' else gamma + chr(92) + ','}{distance}\right)"


def _filled(formula: str, kernel: Kernel, x: str, z: str) -> str:
    """The formula with its slots filled; a factor of 1 and a summand of 0 are left out."""

    def fill(slot: re.Match[str]) -> str:
        plus, name, times = slot.group("plus") or "", slot.group("name"), slot.group("times") or ""
        if name in ("x", "z"):
            return f"{plus}{x if name == 'x' else z}{times}"
        value = getattr(kernel, name)
        text = latex_of(value, x, z) if isinstance(value, Kernel) else _value(name, value)
        if (times and text == "1") or (plus and text == "0"):
            return plus if text == "1" else ""
        return f"{plus}{text}{times}"

    return _SLOT.sub(fill, formula)


def _named(kernel: Kernel, x: str, z: str) -> str:
    fields = ((item, getattr(kernel, item.name)) for item in dataclasses.fields(kernel))
    shown = [f"{_words(item.name)} = {_value(item.name, value)}" for item, value in fields if _is_number(value)]
    index = f"_{{{', '.join(shown)}}}" if shown else ""
    return rf"{_words(name_of(kernel))}{index}({x}, {z})"


def _value(name: str, value: Any) -> str:
    """A number as such; what depends on data or has no short form by its symbol."""
    if _is_number(value):
        return _number(value)
    return rf"\{name}" if name in _GREEK else _words(name)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _number(value: Any) -> str:
    mantissa, _, exponent = f"{float(value):.6g}".partition("e")
    if mantissa.lstrip("-") == "inf":
        return mantissa.replace("inf", r"\infty")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \cdot {power}"


def _words(text: str) -> str:
    """Text in upright letters, with what LaTeX would read as a command disarmed."""
    plain = re.sub(r"[^\w \-.,:+]", "?", text)
    return rf"\mathrm{{{plain.replace('_', chr(92) + '_').replace(' ', chr(92) + ' ')}}}"


def _bracketed(latex: str) -> str:
    return rf"\left({latex}\right)"


def _factor(latex: str) -> str:
    """In brackets where a plus or minus at the outermost level would otherwise apply to less than all of it."""
    return _bracketed(latex) if any(sign in outermost for outermost in _outermost(latex) for sign in "+-") else latex


def _outermost(latex: str) -> Iterable[str]:
    depth = 0
    for character in latex:
        depth += (character in "({[") - (character in ")}]")
        if depth == 0:
            yield character

"""Formulas of whitelisted arithmetic over dot products, distances and norms: read, computed, proven by closure rules.

A formula is taken apart by Python's own grammar, after its length and characters are checked, and every node must be of
a kind listed here. Nothing is evaluated as code: `value` computes with NumPy, node by node.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mercer._parsing import undisturbed
from mercer._types import Float64
from mercer.studio.refusal import Refusal

MOST_CHARACTERS = 300
"""The longest formula: nobody thinks up longer ones."""
_ALLOWED = re.compile(r"[A-Za-z0-9_+\-*/().,\s]*", re.ASCII)
NAMES = {"dot": "x·z", "dist": "|x − z|", "norm_x": "|x|", "norm_z": "|z|"}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "abs": np.abs, "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
    "min": np.minimum, "max": np.maximum,
}  # fmt: skip
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power,
}  # fmt: skip
_TWO = ("min", "max")


def read(text: str) -> ast.expr:
    """The tree of a formula; an error names its character."""
    if len(text) > MOST_CHARACTERS:
        raise Refusal(f"A formula has at most {MOST_CHARACTERS} characters.", field="formula", position=MOST_CHARACTERS)
    plain = _ALLOWED.match(text)
    if plain is None or plain.end() < len(text):
        place = 0 if plain is None else plain.end()
        raise Refusal(f"The character {text[place]!r} has no place in a formula.", field="formula", position=place)
    start = len(text) - len(text.lstrip())
    flat = re.sub(r"\s", " ", text)[start:]
    try:
        tree = undisturbed(ast.parse)(flat, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        place = start + max((getattr(error, "offset", None) or 1) - 1, 0)
        said = (
            "Something is missing or out of place here." if text.strip() else "Write a formula, such as exp(-dist**2)."
        )
        raise Refusal(said, field="formula", position=min(place, len(text))) from error
    _check(tree, start)
    return tree


def _check(node: Any, start: int) -> None:
    match node:
        case ast.Constant() if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return None
        case ast.Name() if node.id in NAMES:
            return None
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            return _check(node.operand, start)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            _check(node.left, start)
            return _check(node.right, start)
        case ast.Call() if _name(node.func) in FUNCTIONS and not node.keywords:
            if len(node.args) == (2 if _name(node.func) in _TWO else 1):
                for one in node.args:
                    _check(one, start)
                return None
    known = f"Formulas have numbers, {', '.join(NAMES)}, + - * / **, and {', '.join(FUNCTIONS)}."
    raise Refusal(known, field="formula", position=start + node.col_offset)


def value(node: ast.expr, X: Float64) -> Float64:
    """The Gram matrix of a formula on rows of X."""
    dot = X @ X.T
    lengths = np.sqrt(np.diagonal(dot))
    squared = np.square(X[:, None, :] - X[None, :, :]).sum(axis=2)
    ones = np.ones_like(dot)
    known = {"dot": dot, "dist": np.sqrt(squared), "norm_x": lengths[:, None] * ones, "norm_z": lengths[None, :] * ones}
    with np.errstate(all="ignore"):
        return np.asarray(_value(node, known) * ones, dtype=np.float64)


def _value(node: Any, known: Mapping[str, Float64]) -> Any:
    match node:
        case ast.Constant():
            return float(str(node.value))
        case ast.Name():
            return known[node.id]
        case ast.UnaryOp():
            inner = _value(node.operand, known)
            return -inner if isinstance(node.op, ast.USub) else inner
        case ast.BinOp():
            return _OPERATORS[type(node.op)](_value(node.left, known), _value(node.right, known))
    return FUNCTIONS[node.func.id](*(_value(one, known) for one in node.args))


def proof(node: ast.expr) -> list[str] | None:
    """Why a formula is a kernel, by the closure rules, from the parts up; None if they do not cover it."""
    lines: list[str] = []
    return lines if _proven(node, lines) else None


def _proven(node: Any, lines: list[str]) -> bool:
    said = f"{ast.unparse(node)}: "
    number = constant(node)
    reason = None
    if number is not None:
        reason = "a constant that is not negative" if number >= 0 else None
    elif isinstance(node, ast.Name):
        reason = "the dot product is a kernel" if node.id == "dot" else None
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
        return _proven(node.operand, lines)
    elif isinstance(node, ast.BinOp):
        reason = _of_operation(node, lines)
    elif isinstance(node, ast.Call) and _name(node.func) == "exp":
        reason = _of_exponential(node.args[0], lines)
    if reason is None:
        return False
    lines.append(said + reason)
    return True


def _of_operation(node: ast.BinOp, lines: list[str]) -> str | None:
    rules: Mapping[type[ast.operator], Callable[[ast.BinOp, list[str]], str | None]] = {
        ast.Add: _of_sum, ast.Mult: _of_product, ast.Pow: _of_power, ast.Div: _of_quotient,
    }  # fmt: skip
    return rules[type(node.op)](node, lines) if type(node.op) in rules else None


def _of_sum(node: ast.BinOp, lines: list[str]) -> str | None:
    if _proven(node.left, lines) and _proven(node.right, lines):
        return "a sum of kernels is a kernel: their features stand side by side"
    return None


def _of_product(node: ast.BinOp, lines: list[str]) -> str | None:
    if _is_product_of_norms(node):
        return "f(x) f(z) has the one feature f"
    if _proven(node.left, lines) and _proven(node.right, lines):
        return "a product of kernels is a kernel (Schur): its features are all products of theirs"
    return None


def _of_power(node: ast.BinOp, lines: list[str]) -> str | None:
    power = constant(node.right)
    if power is not None and power >= 1 and power == int(power) and _proven(node.left, lines):
        return "a power of a kernel is a product of kernels"
    return None


def _of_quotient(node: ast.BinOp, lines: list[str]) -> str | None:
    below = constant(node.right)
    if below is not None and below > 0 and _proven(node.left, lines):
        return "a kernel divided by a positive number"
    if _is_product_of_norms(node.right) and _proven(node.left, lines):
        return "f(x) k(x, z) f(z) is a kernel, here with f = 1/|x|: the cosine in its feature space"
    if _is_one_plus_squared_distance(node.right) and _proven(node.left, lines):
        return "1/(a + c |x - z|^p) with p <= 2 is a mixture of kernels exp(-t |x - z|^p)"
    return None


def _of_exponential(inner: ast.expr, lines: list[str]) -> str | None:
    power, factor = _distance(inner)
    if power is not None and factor < 0 and 0 < power <= 2:
        return f"exp(-c |x - z|^p) is a kernel for 0 < p <= 2 (Schoenberg); here p = {power:g}"
    if _proven(inner, lines):
        return "the exponential of a kernel is a limit of sums of its powers"
    return None


def _distance(node: ast.expr) -> tuple[float | None, float]:
    """p and c, if a node is c |x - z|^p."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        power, factor = _distance(node.operand)
        return power, -factor
    if _name(node) == "dist":
        return 1.0, 1.0
    if isinstance(node, ast.BinOp):
        left, right = constant(node.left), constant(node.right)
        if isinstance(node.op, ast.Pow) and right is not None:
            power, factor = _distance(node.left)
            return (power * right if power is not None and factor == 1.0 else None), 1.0
        if isinstance(node.op, ast.Mult):
            number, other = (left, node.right) if left is not None else (right, node.left)
            if number is not None:
                power, factor = _distance(other)
                return power, factor * number
        if isinstance(node.op, ast.Div) and right:
            power, factor = _distance(node.left)
            return power, factor / right
    return None, 0.0


def _is_product_of_norms(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult)
        and ({_name(node.left), _name(node.right)} == {"norm_x", "norm_z"})
    )


def _is_one_plus_squared_distance(node: ast.expr) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return False
    for number, other in ((node.left, node.right), (node.right, node.left)):
        found = constant(number)
        power, factor = _distance(other)
        if found is not None and found > 0 and power is not None and 0 < power <= 2 and factor > 0:
            return True
    return False


def constant(node: Any) -> float | None:
    """The value of a formula without x or z."""
    if any(isinstance(one, ast.Name) and one.id in NAMES for one in ast.walk(node)):
        return None
    with np.errstate(all="ignore"):
        try:
            found = float(_value(node, {}))
        except (OverflowError, ZeroDivisionError, TypeError):
            return None
    return found if math.isfinite(found) else None


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""

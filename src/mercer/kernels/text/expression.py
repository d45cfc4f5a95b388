"""Kernels from text: ``parse("rbf(gamma=0.1) + 0.5*poly(degree=2)**2")``.

The text is scanned for allowed tokens, which are counted, before Python's own parser reads it; then every node of the
tree must be of a kind listed here, and every name in the registry. Nothing is ever evaluated.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from mercer import _check, kernels
from mercer._parsing import undisturbed
from mercer._registry import KERNELS, find
from mercer.errors import ExpressionError, MercerError
from mercer.kernels.base import Kernel

Made = TypeVar("Made")

MAX_CHARACTERS = 500
"""Longer texts are refused before anything is parsed, so hostile input costs nothing; larger kernels can be built in
Python."""
MAX_NODES = 100
"""The most names, values, operators and brackets: bounds the depth of the tree, which Python's parser walks
recursively."""
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<string>'(?:[^'\\\x00-\x1f]|\\ESCAPE)*'|"(?:[^"\\\x00-\x1f]|\\ESCAPE)*")
    | (?P<operator>\*\*|[+*-])
    | (?P<open>[(\[])
    | (?P<close>[)\]])
    | (?P<mark>[,=])""".replace("ESCAPE", r"(?:[\\'\"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"),
    re.VERBOSE,
)
_PARAMETER = re.compile(r"The '(\w+)[^']*' parameter")
_NOWHERE: Mapping[str, ast.AST] = MappingProxyType({})
_WORDS = ("number", "name", "string")
_BRACKETS = {")": "(", "]": "["}


def parse(text: str) -> Kernel:
    """The kernel that a text describes; the inverse of ``str(kernel)``.

    Kernels are called by their names in `mercer.kernels` or their short names, with numbers, strings, booleans, None,
    lists of these and other kernels as parameters; ``+``, ``*`` and ``**`` combine them. A name alone means all
    defaults. Errors point at the character. Functions and arrays have no text form.

    >>> from mercer import kernels
    >>> kernels.parse("rbf(gamma=0.1) + 0.5*poly(degree=2)**2").terms[0]
    RBF(gamma=0.1, over=None)
    >>> kernels.parse("on('text', normalise(spectrum(p=4))) * on(['a', 'b'], rbf)").domain.__name__
    'Table'
    """
    _check.instance("parse", "text", text, str, "a kernel expression, such as 'rbf(gamma=0.1)'")
    return _read(text)


@functools.lru_cache
def _read(text: str) -> Kernel:
    return _Reader(text).read()  # kernels are immutable, so equal texts can share one


class _Reader:
    """Reads one text as a kernel."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.start = len(text) - len(text.lstrip())
        """Where Python starts to read: leading spaces would be indentation."""

    def read(self) -> Kernel:
        flat = self.scan()[self.start :]
        try:
            tree = undisturbed(ast.parse)(flat, mode="eval").body
        except SyntaxError as error:
            place = self.start + (error.offset or 1) - 1
            raise self.wrong("something is missing or out of place here", place) from error
        except ValueError as error:  # lone surrogates
            raise self.wrong("a string contains an invalid character", self.start) from error
        value = self.build(tree)
        if not isinstance(value, Kernel):
            raise self.wrong(f"{_shown(value)} is not a kernel", self.start)
        return value

    def scan(self) -> str:
        """The text with plain spaces instead of line breaks.

        Refuses every character and every length that a kernel expression cannot have, before anything is parsed.
        """
        if len(self.text) > MAX_CHARACTERS:
            raise self.wrong(f"it has {len(self.text)} characters, more than {MAX_CHARACTERS}", MAX_CHARACTERS)
        position, nodes, before = 0, 0, ""
        opened: list[tuple[str, int]] = []
        plain: list[str] = []
        while position < len(self.text):
            token = _TOKEN.match(self.text, position)
            if token is None:
                raise self.wrong(self.why_not(position), position)
            kind = str(token.lastgroup)
            if kind in _WORDS and before in _WORDS:
                raise self.wrong(f"{_shown(token.group())} follows without a space or an operator", position)
            nodes += kind in (*_WORDS, "operator", "open")
            if nodes > MAX_NODES:
                raise self.wrong(f"it has more than {MAX_NODES} names, values, operators and brackets", position)
            if kind == "open":
                opened.append((token.group(), position))
            elif kind == "close":
                if not opened or opened[-1][0] != _BRACKETS[token.group()]:
                    raise self.wrong(f"{token.group()!r} closes nothing", position)
                opened.pop()
            plain.append(" " * len(token.group()) if kind == "space" else token.group())
            position, before = token.end(), kind
        if opened:
            raise self.wrong(f"{opened[-1][0]!r} is never closed", opened[-1][1])
        if not nodes:
            raise self.wrong("it is empty. Write for example 'rbf(gamma=0.1)'", 0)
        return "".join(plain)

    def why_not(self, position: int) -> str:
        character = self.text[position]
        if character == "<":
            return (
                "'<...>' stands for an array or a function, which has no text form. "
                "Build this kernel in Python, with mercer.kernels"
            )
        if character in "'\"":
            return "this string is not closed, or holds an escape that is not read here"
        return f"the character {character!r} is not allowed in a kernel expression"

    def build(self, node: ast.expr) -> Any:
        """The value of a node: a kernel, a number, a string, a boolean, None, or a tuple of these."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return math.inf if node.id == "inf" else self.call(node, node.id, [], [])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self.call(node, node.func.id, node.args, node.keywords)
        if isinstance(node, ast.List | ast.Tuple):
            return tuple(self.build(item) for item in node.elts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.build(node.operand)
            if _is_number(value):
                return -value
            raise self.wrong(f"a minus sign must stand before a number, not before {_shown(value)}", node)
        if isinstance(node, ast.BinOp):
            return self.combine(node)
        raise self.wrong("only names, calls, numbers, strings, lists, and + * ** are read here", node)

    def combine(self, node: ast.BinOp) -> Kernel:
        left, right = self.build(node.left), self.build(node.right)
        if not isinstance(left, Kernel) and not isinstance(right, Kernel):
            raise self.wrong("+ * ** combine kernels, and there is none here; numbers are not computed", node)
        if isinstance(node.op, ast.Pow) and not (isinstance(left, Kernel) and _is_number(right)):
            raise self.wrong("** takes a kernel on its left and a whole number on its right", node.right)
        for side, value in ((node.left, left), (node.right, right)):
            if not isinstance(value, Kernel) and not _is_number(value):
                raise self.wrong(f"{_shown(value)} is neither a kernel nor a number", side)
        ways: dict[type[ast.operator], Callable[[], Kernel]] = {
            ast.Add: lambda: left + right,
            ast.Mult: lambda: left * right,
            ast.Pow: lambda: left**right,
        }
        if type(node.op) not in ways:
            raise self.wrong(
                "kernels are combined by + * ** only: differences and quotients are not kernels", node.right
            )
        return self.made(ways[type(node.op)], node.right)

    def call(self, node: ast.expr, name: str, args: list[ast.expr], keywords: list[ast.keyword]) -> Kernel:
        maker = self.made(lambda: maker_of(name), node)
        known = parameters_of(maker)
        if len(args) > len(known):
            raise self.wrong(
                f"{name} takes at most {len(known)} parameters: {', '.join(known) or 'none'}", args[len(known)]
            )
        places: dict[str, ast.AST] = dict(zip(known, args, strict=False))
        values = {key: self.build(argument) for key, argument in zip(known, args, strict=False)}
        for keyword in keywords:
            if keyword.arg is None:
                raise self.wrong("parameters are written one by one, name=value", keyword)
            if keyword.arg not in known:
                listed = f"It has {', '.join(known)}." if known else "It has none."
                hint = _check.did_you_mean(keyword.arg, known)
                raise self.wrong(f"{name} has no parameter {keyword.arg!r}. {hint} {listed}", keyword)
            if keyword.arg in values:
                raise self.wrong(f"{keyword.arg!r} is given twice", keyword)
            places[keyword.arg] = keyword
            values[keyword.arg] = self.build(keyword.value)
        missing = [key for key, item in known.items() if item.default is item.empty and key not in values]
        if missing:
            raise self.wrong(f"{name} needs {' and '.join(missing)}", node)
        return self.made(lambda: maker(**values), node, places)

    def made(self, make: Callable[[], Made], node: ast.AST, places: Mapping[str, ast.AST] = _NOWHERE) -> Made:
        """The result of `make`; its error points at the parameter that it names, else at the node."""
        try:
            return make()
        except MercerError as error:
            named = _PARAMETER.match(str(error))
            raise self.wrong(str(error), places.get(named.group(1), node) if named else node) from error
        except Exception as error:  # a parameter of an unexpected type
            raise self.wrong(f"these parameters do not fit: {error}", node) from error

    def wrong(self, why: str, where: int | ast.AST) -> ExpressionError:
        """The error that shows the text, with a caret under the wrong character."""
        position = where if isinstance(where, int) else self.place(where)
        first = max(0, position - 60)
        window = "".join(one if one.isprintable() else " " for one in self.text[first : position + 40])
        sentence = " ".join(why.split()).rstrip(".")
        message = f"Cannot read the kernel expression at character {position + 1}: {sentence}.\n"
        shown = f"{message}    {window}\n    {' ' * (position - first)}^"
        return ExpressionError(shown, reason=f"{sentence}.", position=position)

    def place(self, node: Any) -> int:
        """The character at which a node starts; Python counts bytes."""
        read = self.text[self.start :].encode()
        return self.start + len(read[: node.col_offset].decode())


def maker_of(name: str) -> Callable[..., Kernel]:
    """The class of that name, or the function of that name that creates a kernel, such as `kernels.on`."""
    entry = find(KERNELS, name, "kernel")
    made_by_function = name == entry.text and name in kernels.__all__
    maker: Callable[..., Kernel] = getattr(kernels, name) if made_by_function else entry.load()
    return maker


@functools.cache
def parameters_of(maker: Callable[..., Kernel]) -> Mapping[str, inspect.Parameter]:
    """The parameters that a maker takes, by name."""
    return inspect.signature(maker).parameters


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, Kernel) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."

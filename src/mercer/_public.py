"""The public names of a package, loaded on first use.

The stub of the package (`__init__.pyi`) lists each name once, with the module that defines it. Type checkers read the
stub, and so does `attach`: importing the package imports none of these modules.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any


def homes(package: str) -> dict[str, str]:
    """The names in the stub of a package, and the module that each is imported from."""
    stub = pkgutil.get_data(package, "__init__.pyi")
    assert stub is not None
    imports = (node for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom))
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` for the `__init__.py` of a package that has a stub."""
    known = homes(package)
    names = sorted(known)

    def load(name: str) -> Any:
        if name not in known:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if known[name] == package:
            return importlib.import_module(f"{package}.{name}")  # a subpackage, as in `from mercer import kernels`
        return getattr(importlib.import_module(known[name]), name)

    return load, lambda: names, names

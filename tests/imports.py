"""How files of Python depend on each other: what they import, also inside functions, and the cycles that makes."""

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

SRC = Path(__file__).resolve().parents[1] / "src"
OPERATORS = r"mercer\.kernels\.(base$|algebra\.)"
"""`a + b` of kernels makes a kernel of the algebra, which is a kernel: these modules need each other."""


@functools.lru_cache(maxsize=1)  # several rules look at the same file in turn
def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), filename=str(file))


@functools.lru_cache(maxsize=1)
def nodes(file: Path) -> list[ast.AST]:
    """All nodes of a file, at any depth."""
    return list(ast.walk(parse(file)))


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything that a file imports, at any depth; `from a import b` gives `a.b`."""
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def import_cycles(files: Iterable[Path]) -> list[str]:
    """No module imports itself through others, neither at its head nor inside functions."""
    graph: dict[str, set[str]] = {module_name(file): set() for file in files}
    for file in files:
        for name in runtime_imports(file):
            while name and name not in graph:
                name = name.rpartition(".")[0]
            if name and name != module_name(file):
                graph[module_name(file)].add(name)
    cycles = [part for part in _components(graph) if len(part) > 1]
    return [" -> ".join(sorted(part)) for part in cycles if not all(re.match(OPERATORS, name) for name in part)]


def module_name(file: Path) -> str:
    parts = file.relative_to(SRC).with_suffix("").parts if file.is_relative_to(SRC) else (file.stem,)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def runtime_imports(file: Path) -> Iterator[str]:
    """What a file imports while it runs, at any depth: not what type checkers alone see."""
    hidden = {id(inner) for node in nodes(file) if _for_types(node) for inner in ast.walk(node)}
    for node in nodes(file):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _components(graph: dict[str, set[str]]) -> list[set[str]]:
    """The strongly connected components, by Kosaraju's two passes."""
    order: list[str] = []
    seen: set[str] = set()

    def visit(edges: dict[str, set[str]], node: str, into: list[str]) -> None:
        stack = [(node, iter(edges[node]))]
        seen.add(node)
        while stack:
            here, following = stack[-1]
            fresh = next((name for name in following if name not in seen), None)
            if fresh is None:
                into.append(here)
                stack.pop()
            else:
                seen.add(fresh)
                stack.append((fresh, iter(edges[fresh])))

    for node in graph:
        if node not in seen:
            visit(graph, node, order)
    backwards: dict[str, set[str]] = {node: set() for node in graph}
    for node, targets in graph.items():
        for target in targets:
            backwards[target].add(node)
    seen.clear()
    found = []
    for node in reversed(order):
        if node not in seen:
            part: list[str] = []
            visit(backwards, node, part)
            found.append(set(part))
    return found

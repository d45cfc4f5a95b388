"""Rules of the house that no linter knows, each a function from files to a list of complaints."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

SRC = Path(__file__).resolve().parents[1] / "src"
LONGEST_FILE = 400
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal"}


def too_long(files: Iterable[Path]) -> list[str]:
    """A file that outgrows the ceiling holds more than one idea."""
    lengths = ((file, len(file.read_text(encoding="utf-8").splitlines())) for file in files)
    return [f"{file}: {length} lines, at most {LONGEST_FILE}" for file, length in lengths if length > LONGEST_FILE]


def numba_outside_jit(files: Iterable[Path]) -> list[str]:
    """Only `_jit.py` knows numba, so that the options of every compiled loop are decided in one place."""
    return [
        f"{file}:{line}: imports {module}; use mercer._jit"
        for file in files
        if file.name != "_jit.py"
        for line, module in imports(file)
        if module.partition(".")[0] == "numba"
    ]


def parallel_loops(files: Iterable[Path]) -> list[str]:
    """`parallel=True` can abort the user's process; tiles on threads are as fast."""
    return [
        f"{file}:{node.value.lineno}: parallel=True"
        for file in files
        for node in ast.walk(parse(file))
        if isinstance(node, ast.keyword)
        and node.arg == "parallel"
        and isinstance(node.value, ast.Constant)
        and node.value.value is True
    ]


def compiled_from_elsewhere(files: Iterable[Path]) -> list[str]:
    """A compiled loop takes names from files that mention `_jit` alone: the others are not part of the cache's key."""
    complaints = []
    for file in files:
        tree = parse(file)
        origin = {
            alias.asname or alias.name: node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mercer.")
            for alias in node.names
        }
        for loop in compiled_functions(tree):
            for name in {node.id for node in ast.walk(loop) if isinstance(node, ast.Name)} & set(origin):
                source = SRC / (origin[name].replace(".", "/") + ".py")
                if not source.exists() or "_jit" not in source.read_text(encoding="utf-8"):
                    complaints.append(f"{file}:{loop.lineno}: {loop.name} takes {name} from {origin[name]}")
    return complaints


def compiled_functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions under `@jit`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(mark) for mark in node.decorator_list):
            yield node


def code_from_data(files: Iterable[Path]) -> list[str]:
    """Nothing in the package turns data into code: no pickle, eval or exec, no arrays of objects from files."""
    complaints = []
    for file in files:
        complaints += [
            f"{file}:{line}: imports {module}"
            for line, module in imports(file)
            if module.partition(".")[0] in FORBIDDEN_MODULES or module == "joblib.load"
        ]
        for node in ast.walk(parse(file)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS:
                complaints.append(f"{file}:{node.lineno}: calls {node.func.id}")
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "joblib.load":
                complaints.append(f"{file}:{node.lineno}: calls joblib.load")
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
                complaints.append(f"{file}:{node.value.lineno}: allow_pickle={ast.unparse(node.value)}")
    return complaints


def addresses(files: Iterable[Path]) -> list[str]:
    """Lock files name packages and hashes, never where to fetch them: that is the user's choice."""
    pattern = re.compile(r"://|--(extra-)?index-url|--find-links|--trusted-host|^-[if]\b|@ *file:", re.MULTILINE)
    return [
        f"{file}: {match.group()!r}" for file in files for match in pattern.finditer(file.read_text(encoding="utf-8"))
    ]


def unhashed(files: Iterable[Path]) -> list[str]:
    """Every requirement of a lock file is pinned and carries hashes."""
    return [
        f"{file}: {entry[:60]}"
        for file in files
        for entry in file.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
        if entry.strip() and not entry.startswith("#") and not ("==" in entry and "--hash=sha256:" in entry)
    ]


def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), filename=str(file))


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything that a file imports, at any depth; `from a import b` gives `a.b`."""
    for node in ast.walk(parse(file)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)

"""Rules of the house that no linter knows, each a function from files to a list of complaints.

`python -m tests.house_rules [FOLDER ...]` prints all complaints about these folders of `src/mercer`.
"""

import ast
import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeGuard

from tests.imports import SRC, import_cycles, imports, nodes, parse

LONGEST_FILE = 400
MOST_BRANCHES = 15
MOST_PARAMETERS = 8
MOST_LEVELS = 3
ARRAY_TYPES = "_types.py"
NAMED_TUPLE = {"_replace", "_asdict", "_fields", "_make"}
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


def locking_properties(files: Iterable[Path]) -> list[str]:
    """`functools.cached_property` holds a lock before Python 3.12, which a forked process may never get."""
    return [
        f"{file}:{node.lineno}: functools.cached_property; use mercer._cached"
        for file in files
        if file.name != "_cached.py"
        for node in nodes(file)
        if (
            isinstance(node, ast.ImportFrom)
            and node.module == "functools"
            and any(alias.name == "cached_property" for alias in node.names)
        )
        or (isinstance(node, ast.Attribute) and ast.unparse(node) == "functools.cached_property")
    ]


def parallel_loops(files: Iterable[Path]) -> list[str]:
    """`parallel=True` can abort the user's process; tiles on threads are as fast."""
    return [
        f"{file}:{node.value.lineno}: parallel=True"
        for file in files
        for node in nodes(file)
        if isinstance(node, ast.keyword)
        and node.arg == "parallel"
        and isinstance(node.value, ast.Constant)
        and node.value.value is True
    ]


def compiled_from_elsewhere(files: Iterable[Path]) -> list[str]:
    """A compiled loop takes names from files that mention `_jit` alone: the others are not part of the cache's key."""
    complaints = []
    for file in files:
        origin = {
            alias.asname or alias.name: node.module
            for node in nodes(file)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mercer.")
            for alias in node.names
        }
        for loop in compiled_functions(file):
            for name in {node.id for node in ast.walk(loop) if isinstance(node, ast.Name)} & set(origin):
                source = SRC / (origin[name].replace(".", "/") + ".py")
                if not source.exists() or "_jit" not in source.read_text(encoding="utf-8"):
                    complaints.append(f"{file}:{loop.lineno}: {loop.name} takes {name} from {origin[name]}")
    return complaints


def compiled_functions(file: Path) -> Iterator[ast.FunctionDef]:
    """The functions under `@jit`."""
    for node in nodes(file):
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(mark) for mark in node.decorator_list):
            yield node


def too_complex(files: Iterable[Path]) -> list[str]:
    """A function with more branches than this cannot be held in mind. Compiled loops have no choice."""
    complaints = []
    for file in files:
        compiled = {id(inner) for loop in compiled_functions(file) for inner in ast.walk(loop)}
        for node in nodes(file):
            if isinstance(node, ast.FunctionDef) and id(node) not in compiled:
                branches = 1 + sum(_branches(inner) for inner in ast.walk(node))
                if branches > MOST_BRANCHES:
                    complaints.append(f"{file}:{node.lineno}: {node.name} has complexity {branches}")
    return complaints


def _branches(node: ast.AST) -> int:
    """What a node adds to the cyclomatic complexity of the function around it."""
    match node:
        case ast.If() | ast.IfExp() | ast.ExceptHandler() | ast.Assert() | ast.Lambda() | ast.match_case():
            return 1
        case ast.For() | ast.While():
            return 1 + bool(node.orelse)
        case ast.BoolOp():
            return len(node.values) - 1
        case ast.comprehension():
            return 1 + len(node.ifs)
    return 0


def too_many_parameters(files: Iterable[Path]) -> list[str]:
    """More parameters than this are a record that nobody has named.

    Compiled loops take arrays one by one, scikit-learn's constructors and the commands of the command line have the
    parameters that users see.
    """
    complaints = []
    for file in files:
        compiled = {id(loop) for loop in compiled_functions(file)}
        for node in nodes(file):
            if not isinstance(node, ast.FunctionDef) or id(node) in compiled or node.name == "__init__":
                continue
            if any(".command(" in ast.unparse(mark) for mark in node.decorator_list):
                continue
            taken = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            number = len([name for name in taken if name not in ("self", "cls")])
            if number > MOST_PARAMETERS:
                complaints.append(f"{file}:{node.lineno}: {node.name} takes {number} parameters")
    return complaints


def private_attributes(files: Iterable[Path]) -> list[str]:
    """An attribute with a leading underscore is read in the file that defines it and nowhere else."""
    complaints = []
    for file in files:
        defined = {node.attr for node in nodes(file) if isinstance(node, ast.Attribute) and _own(node.value)}
        defined |= {node.name for node in nodes(file) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        defined |= {node.id for node in nodes(file) if isinstance(node, ast.Name)}
        for node in nodes(file):
            if not isinstance(node, ast.Attribute) or not re.match("_[a-z]", node.attr) or _own(node.value):
                continue
            if node.attr not in defined | NAMED_TUPLE:
                complaints.append(f"{file}:{node.lineno}: reads {ast.unparse(node)}")
    return complaints


def _own(value: ast.AST) -> bool:
    if isinstance(value, ast.Name):
        return value.id in ("self", "cls")
    return isinstance(value, ast.Call) and ast.unparse(value) in ("super()", "type(self)")


def array_types(files: Iterable[Path]) -> list[str]:
    """Names for types of arrays are defined once."""
    return [
        f"{file}:{number}: {line}"
        for file in files
        if file.name != ARRAY_TYPES
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if re.match(r"\w+ = npt\.NDArray\[", line)
    ]


def unexplained_constants(files: Iterable[Path]) -> list[str]:
    """A number with a name says what it trades and where it comes from: in a string below it, or a comment by it."""
    complaints = []
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()
        body = parse(file).body
        for node, after in zip(body, [*body[1:], None], strict=True):
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            names = re.findall(r"\b_*[A-Z][A-Z0-9_]+\b", ast.unparse(target))
            if not names or not _is_number(node.value):
                continue
            documented = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            above, own = lines[node.lineno - 2].strip(), lines[(node.end_lineno or node.lineno) - 1]
            if not (documented or above.startswith("#") or "  # " in own):
                complaints.append(f"{file}:{node.lineno}: {', '.join(names)} is not explained")
    return complaints


def _is_number(value: ast.AST) -> bool:
    """Whether an expression is made of literal numbers alone, such as 2**20."""
    match value:
        case ast.Constant():
            return isinstance(value.value, int | float) and not isinstance(value.value, bool)
        case ast.UnaryOp():
            return _is_number(value.operand)
        case ast.BinOp():
            return _is_number(value.left) and _is_number(value.right)
        case ast.Tuple():
            return bool(value.elts) and all(_is_number(part) for part in value.elts)
    return False


KERNEL_CLASSES_ASKED_FOR = {
    "storage/libsvm.py": "LIBSVM's files have five kernels by name, and no others",
    "theory/capacity.py": "the VC dimension is known of polynomials, and of what is made of them",
    "testing/samples.py": "three classes compare documents, aligned strings or nodes of a graph of their own",
}
"""Files that may ask for the class of a kernel, and why: they speak of particular kernels, not of what a kernel can."""


def kernels_by_class(files: Iterable[Path]) -> list[str]:
    """Kernels answer for themselves: nobody asks for their class."""
    names = kernel_classes()
    complaints = []
    for file in files:
        if any(str(file).endswith(f"mercer/{place}") for place in KERNEL_CLASSES_ASKED_FOR):
            continue
        for node in nodes(file):
            asked: list[ast.AST] = []
            if _calls(node, "isinstance", "issubclass"):
                asked = list(node.args[1:])
            elif isinstance(node, ast.MatchClass):
                asked = [node.cls]
            found = {name for part in asked for name in re.findall(r"(?<!ast\.)\b\w+", ast.unparse(part))} & names
            if found:
                complaints.append(f"{file}:{node.lineno}: asks for {', '.join(sorted(found))}")  # type: ignore[attr-defined]
    return complaints


def _calls(node: ast.AST, *names: str) -> TypeGuard[ast.Call]:
    """Whether a node calls something by one of these plain names."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


@functools.cache
def kernel_classes() -> set[str]:
    """The names of all classes of kernels, concrete or not, apart from `Kernel` itself."""
    bases: dict[str, set[str]] = {}
    for file in sorted((SRC / "mercer" / "kernels").rglob("*.py")):
        for node in nodes(file):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {ast.unparse(base).partition("[")[0] for base in node.bases}
    known = {"Kernel"}
    while True:
        more = {name for name, above in bases.items() if above & known} - known
        if not more:
            return known - {"Kernel"}
        known |= more


def deep_inheritance(files: Iterable[Path]) -> list[str]:
    """Estimators share by functions: at most three classes of ours, one above the other, stand on scikit-learn's."""
    own = [(file, name, found) for file in files for name, found in _bases(file).items()]
    bases = {name: found for file in sorted((SRC / "mercer").rglob("*.py")) for name, found in _bases(file).items()}
    bases |= {name: found for _, name, found in own}

    def chain(name: str) -> list[str]:
        """The longest line of our classes from this one down to BaseEstimator; empty if it is no estimator."""
        if name not in bases:
            return []
        lines = [chain(base) for base in bases[name]]
        if not any(lines) and "BaseEstimator" not in bases[name]:
            return []
        return [name, *max(lines, key=len, default=[])]

    deep = ((file, chain(name)) for file, name, _ in own)
    return [f"{file}: {' -> '.join(line)}" for file, line in deep if len(line) > MOST_LEVELS]


@functools.cache
def _bases(file: Path) -> dict[str, list[str]]:
    """The classes that a file defines, with the names of their bases."""
    classes = (node for node in ast.walk(parse(file)) if isinstance(node, ast.ClassDef))
    return {node.name: [ast.unparse(base).partition("[")[0] for base in node.bases] for node in classes}


def untested_modules(files: Iterable[Path]) -> list[str]:
    """Each module has a test file in the same place, or is named in a group of `tests/README.md`.

    A line of a group reads "- `kernels/vectors/l1`, `kernels/vectors/ratios`: `kernels/vectors/test_distances.py`".
    """
    tests = SRC.parent / "tests"
    grouped: dict[str, str] = {}
    for line in (tests / "README.md").read_text(encoding="utf-8").splitlines():
        modules, colon, places = line.partition(": ")
        if line.startswith("- `") and colon:
            for module in re.findall("`([^`]+)`", modules):
                grouped[module] = places
    complaints = [
        f"tests/README.md: {place} of {module} does not exist"
        for module, places in grouped.items()
        for place in re.findall("`([^`]+)`", places)
        if not (tests / place).exists()
    ]
    for file in files:
        place = file.relative_to(SRC / "mercer") if file.is_relative_to(SRC) else Path(file.name)
        if file.name in ("__init__.py", "__main__.py", "_version.py"):
            continue
        mirrored = tests / place.parent / f"test_{place.stem.lstrip('_')}.py"
        if not mirrored.exists() and str(place.with_suffix("")) not in grouped:
            complaints.append(f"{file}: no test file {mirrored.relative_to(tests)}, and in no group of tests/README.md")
    return complaints


def code_from_data(files: Iterable[Path]) -> list[str]:
    """Nothing in the package turns data into code: no pickle, eval or exec, no arrays of objects from files."""
    complaints = []
    for file in files:
        complaints += [
            f"{file}:{line}: imports {module}"
            for line, module in imports(file)
            if module.partition(".")[0] in FORBIDDEN_MODULES or module == "joblib.load"
        ]
        for node in nodes(file):
            if _calls(node, *FORBIDDEN_CALLS):
                complaints.append(f"{file}:{node.lineno}: calls {ast.unparse(node.func)}")
            if isinstance(node, ast.Attribute) and node.attr == "load" and ast.unparse(node) == "joblib.load":
                complaints.append(f"{file}:{node.lineno}: names joblib.load")
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


def broken(rules: Iterable[Callable[[list[Path]], list[str]]], files: Iterable[Path]) -> dict[str, list[str]]:
    """What rules that look at one file at a time find, by the name of the rule. Each file is parsed once."""
    rules = list(rules)
    found: dict[str, list[str]] = {rule.__name__: [] for rule in rules}
    for file in files:
        for rule in rules:
            found[rule.__name__] += rule([file])
    return found


def main(folders: list[str]) -> None:
    rooms = [SRC / "mercer" / folder for folder in folders] or [SRC]
    files = [file for room in rooms for file in (sorted(room.rglob("*.py")) if room.is_dir() else [room])]
    rules = (
        too_long, too_complex, too_many_parameters, private_attributes, array_types, unexplained_constants,
        kernels_by_class, compiled_from_elsewhere,
    )  # fmt: skip
    for name, complaints in broken(rules, files).items():
        for complaint in complaints:
            print(f"{name}: {complaint}")  # noqa: T201
    for complaint in deep_inheritance(files):
        print(f"deep_inheritance: {complaint}")  # noqa: T201
    for complaint in untested_modules(files):
        print(f"untested_modules: {complaint}")  # noqa: T201
    for cycle in import_cycles(sorted(SRC.rglob("*.py"))):
        print(f"import_cycles: {cycle}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])

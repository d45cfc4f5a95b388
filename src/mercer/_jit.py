"""The only door to Numba: one decorator for every hot loop of the library.

- Numba is imported when the first loop is called, which many a command never does. Until then a `Loop` stands in for
  each function; that first call puts the compiled ones into place, and modules imported later get theirs at once.
  Loops that predictions of tables need have a twin in NumPy, for commands that compute little (`numba_spared`).
- ``nogil``: loops run side by side in Python threads; ``parallel=True`` is never used, because two threads that
  call such functions can abort the process.
- ``error_model="numpy"``: no exception branches inside a loop, so that it vectorises.
- An explicit set of fast-math flags. It leaves out ``nnan`` and ``ninf``: infinities are legal inside our loops.
- Every loop has its own copies of the functions that it calls. LLVM optimises such a copy together with the loop, into
  code that rounds otherwise, and the loader would take whichever copy the process met first. The last bits of a result
  would depend on what was called before it, and on whether a loop was compiled or read from the cache.
- A disk cache of our own. Numba's default cache does not notice that a function called from *another* file
  changed, and fails at import where nothing is writable. Ours is a folder for each build (this copy of the library,
  Numba, the processor, Numba's flags) and in it one for each file, named by the text of that file and of all that it
  imports: an edit compiles anew what depends on it, and nothing else. Where no folder is writable there is no cache.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, overload

from mercer._process import free_when_forking, interrupt_held_back

Function = TypeVar("Function", bound=Callable[..., Any])

Array = Any
"""The type of array arguments of hot loops, which Numba checks, not mypy."""
FASTMATH = frozenset({"contract", "reassoc", "nsz", "arcp"})
_WITHOUT_EFFECT = (
    "NUMBA_CACHE_DIR",
    "NUMBA_NUM_THREADS",
    "NUMBA_THREADING_LAYER",
    "NUMBA_THREADING_LAYER_PRIORITY",
)
"""Settings on which our compiled code does not depend, since it never asks Numba for threads; joblib sets some of them
in its workers, which would otherwise compile everything anew."""
_KEPT_FOLDERS = 6
"""Compiled code of so many other builds is kept, and of so many other versions of a file, for those who go back ..."""
_SECONDS_BEFORE_PRUNING = 24 * 3600.0
"""... and what was used within a day is kept in any case, since another process may be about to read it."""
_IMPORT = re.compile(
    rb"^\s*(?:from\s+(mercer[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+(mercer[\w.]*))", re.MULTILINE
)
"""An import of ours, with the names it takes: some of them may be modules."""
_PACKAGE = Path(__file__).parent
_decorating = free_when_forking(threading.RLock())
_MODULE, _OPTIMISE = "_final_module", "_optimize_final_module"
"""What Numba calls the code of a library before it is optimised, and what optimises it: no public name does."""
_ours = threading.local()
"""Whether the thread compiles a loop of ours: what others compile is theirs."""
_waiting: list[Loop] = []
"""Loops that stand in modules, to be replaced there when Numba is imported."""
_tellers: list[Callable[[], None]] = []
_LITTLE = 2e6
"""Kernel values that NumPy computes in a tenth of a second or two, where Numba takes three tenths to import."""
_sparing = threading.Event()
"""Set while loops that have a twin in NumPy use it."""


@overload
def jit(function: Function) -> Function: ...
@overload
def jit(
    *, reassociate: bool = True, cache: bool = True, inline: bool = False, plain: Callable[..., Any] | None = None
) -> Callable[[Function], Function]: ...
def jit(
    function: Any = None,
    *,
    reassociate: bool = True,
    cache: bool = True,
    inline: bool = False,
    plain: Callable[..., Any] | None = None,
) -> Any:
    """Compile a function of arrays and scalars, without the GIL.

    `reassociate=False` for formulas whose order of operations matters (compensated sums, range reductions);
    `cache=False` for functions made at run time (closures over a user's function cannot be cached). `inline=True` for
    short ones that compiled loops alone call: they are compiled as part of these, and not by themselves first.
    `plain` is the same function in NumPy, which may differ in last bits.
    """
    if function is None:
        return functools.partial(jit, reassociate=reassociate, cache=cache, inline=inline, plain=plain)
    loop = Loop(function, set(FASTMATH) if reassociate else {"contract"}, cache, inline, plain)
    with _decorating:
        if "numba" in sys.modules and not loop.is_spared:
            if _waiting:
                _put_into_place()
            return loop.compiled
        _waiting.append(loop)
    return loop


class Loop:
    """A function to be compiled, as long as nobody has called one: it does all that the compiled one would."""

    def __init__(
        self,
        function: Callable[..., Any],
        flags: set[str],
        cache: bool,
        inline: bool,
        plain: Callable[..., Any] | None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.plain = plain
        self._function, self._flags, self._cache, self._inline = function, flags, cache, inline
        self._compiled: Any = None

    @property
    def compiled(self) -> Any:
        """What Numba makes of the function."""
        if self._compiled is None:
            with _decorating:
                if self._compiled is None:
                    self._compiled = self._decorated()
        return self._compiled

    def _decorated(self) -> Any:
        folder = _folder_of(Path(self._function.__code__.co_filename)) if self._cache else None
        options: dict[str, Any] = {"inline": "always"} if self._inline else {}
        with _numba_cache_at(folder):
            decorate = _numba().njit(
                nogil=True, error_model="numpy", fastmath=self._flags, cache=folder is not None, **options
            )
            compiled = decorate(self._function)
        compiled.compile = interrupt_held_back()(_with_own_copies(compiled.compile))
        return compiled

    @property
    def is_spared(self) -> bool:
        """Whether its twin works in its place."""
        return _sparing.is_set() and self.plain is not None

    def __call__(self, *given: Any, **named: Any) -> Any:
        if self.is_spared:
            assert self.plain is not None
            return self.plain(*given, **named)
        if _waiting:
            _put_into_place()
        return self.compiled(*given, **named)

    def __getattr__(self, name: str) -> Any:
        """Whatever Numba knows of it, also for compiled functions that call it where it was not replaced."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.compiled, name)

    def __reduce__(self) -> Any:
        return self.compiled.__reduce__()


@interrupt_held_back()
def _put_into_place() -> None:
    """Replace what stands for loops in modules by the loops, so that calls of them take no detour."""
    with _decorating:
        homes = {loop.__module__ for loop in _waiting}
        modules = [(name, module) for name, module in list(sys.modules.items()) if isinstance(module, ModuleType)]
        for name, module in modules:
            if name in homes or name.partition(".")[0] == "mercer":
                for key, value in list(vars(module).items()):
                    if isinstance(value, Loop) and not value.is_spared:
                        setattr(module, key, value.compiled)
        unfinished = {name for name, module in modules if getattr(module.__spec__, "_initializing", False)}
        # Those that another thread is importing, and those whose turn comes later, wait on.
        _waiting[:] = [loop for loop in _waiting if loop.is_spared or loop.__module__ in unfinished]


@contextlib.contextmanager
def numba_spared(numbers: float) -> Iterator[None]:
    """Let loops that have a twin in NumPy use it inside, if Numba was not imported yet and so few kernel values are to
    be computed that the twin is done before it would be. It is for commands that come and go: their answers may differ
    in last bits from those of a longer process, but are the same each time, for any number of threads."""
    if numbers > _LITTLE or "numba" in sys.modules:
        yield
        return
    _sparing.set()
    try:
        yield
    finally:
        _sparing.clear()


@functools.cache
def _numba() -> Any:
    """Numba, imported and told what we want of it."""
    import numba
    from numba.core.codegen import CPUCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock

    free_when_forking(global_compiler_lock)  # a child could not compile while a thread that it does not have held this
    if hasattr(CPUCodeLibrary, _OPTIMISE):  # a Numba that names it otherwise serves as well, but for last bits
        setattr(CPUCodeLibrary, _OPTIMISE, _make_called_functions_own(getattr(CPUCodeLibrary, _OPTIMISE)))
    for tell in _tellers:
        _register(tell)
    return numba


def _with_own_copies(compile_: Callable[..., Any]) -> Callable[..., Any]:
    """What is compiled inside shares no function with other loops of the process."""

    @functools.wraps(compile_)
    def compiling(*given: Any, **options: Any) -> Any:
        before, _ours.compiling = getattr(_ours, "compiling", False), True
        try:
            return compile_(*given, **options)
        finally:
            _ours.compiling = before

    return compiling


def _make_called_functions_own(optimise: Callable[[Any], None]) -> Callable[[Any], None]:
    """Numba links what a loop calls as functions that all loops share: before it optimises, they become internal."""
    from llvmlite.binding import Linkage

    @functools.wraps(optimise)
    def optimised(library: Any) -> None:
        if getattr(_ours, "compiling", False):
            for function in getattr(getattr(library, _MODULE, None), "functions", ()):
                if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                    function.linkage = Linkage.internal
        optimise(library)

    return optimised


def tell_when_compiling(tell: Callable[[], None]) -> None:
    """Have a function called whenever a loop is about to be compiled, which takes a second or so; one that is read from
    the cache is not. It is for whoever shows somebody that waits."""
    with _decorating:
        _tellers.append(tell)
        if _numba.cache_info().currsize:
            _register(tell)


def _register(tell: Callable[[], None]) -> None:
    from numba.core import event

    class Teller(event.Listener):
        def on_start(self, event: Any) -> None:
            tell()

        def on_end(self, event: Any) -> None:
            pass

    register: Any = event.register
    register("numba:compile", Teller())


def is_jitted(function: object) -> bool:
    """Whether a user's function was compiled by Numba, so that a compiled loop can call it."""
    if "numba" not in sys.modules:
        return isinstance(function, Loop)
    from numba.core.registry import CPUDispatcher

    return isinstance(function, (CPUDispatcher, Loop))


@contextlib.contextmanager
def _numba_cache_at(folder: Path | None) -> Iterator[None]:
    # Numba reads its (process-wide) cache folder while decorating; the user's own setting is put back at once.
    with _decorating:
        config: Any = _numba().config
        before = config.CACHE_DIR
        try:
            if folder is not None:
                config.CACHE_DIR = str(folder)
            yield
        finally:
            config.CACHE_DIR = before


@functools.cache
def cache_folder() -> Path | None:
    """The folder for this build of the library, or None where nothing can be written."""
    for root in _candidate_roots():
        folder = root / _build_key()
        if _usable(folder):
            _prune(root, keep=folder)
            return folder
    return None


@functools.cache
def _folder_of(source: Path) -> Path | None:
    """Where the compiled loops of a file are kept: a folder named by the file and all that it depends on."""
    build = cache_folder()
    if build is None or not source.is_file():  # a function typed at a prompt has no file
        return None
    digest = hashlib.sha256()
    for path in sorted(_dependencies(source)):
        digest.update(str(path).encode())
        digest.update(_text(path))
    inside = source.is_relative_to(_PACKAGE)
    home = build / (".".join(source.relative_to(_PACKAGE).with_suffix("").parts) if inside else source.stem)
    folder = home / digest.hexdigest()[:16]
    if folder.is_dir():
        with contextlib.suppress(OSError):
            os.utime(folder)  # marks it as in use, for the pruning
        return folder
    if not _usable(folder):
        return None
    _prune(home, keep=folder)
    return folder


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        os.utime(folder)  # marks it as in use, for the pruning
    except OSError:
        return False
    return True


def _dependencies(source: Path) -> set[Path]:
    """A file and the files with compiled loops that it imports, directly or through others of them."""
    found, waiting = {source}, [source]
    while waiting:
        for path in _imported(waiting.pop()) - found:
            found.add(path)
            waiting.append(path)
    return found


@functools.cache
def _imported(source: Path) -> frozenset[Path]:
    # Compiled loops take names from files with compiled loops alone, which a test asserts.
    modules = set()
    for match in _IMPORT.finditer(_text(source)):
        module = (match[1] or match[3]).decode()
        modules.add(module)
        modules.update(f"{module}.{name.decode()}" for name in re.findall(rb"\w+", match[2] or b""))
    homes = [_PACKAGE.joinpath(*module.split(".")[1:]) for module in modules]
    paths = [path for home in homes for path in (home.with_suffix(".py"), home / "__init__.py")]
    return frozenset(path for path in paths if path.is_file() and b"_jit" in _text(path))


@functools.cache
def _text(source: Path) -> bytes:
    return source.read_bytes()


def _candidate_roots() -> Iterator[Path]:
    if os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(os.environ["NUMBA_CACHE_DIR"]) / "mercer"
    if os.environ.get("XDG_CACHE_HOME"):
        yield Path(os.environ["XDG_CACHE_HOME"]) / "mercer" / "numba"
    with contextlib.suppress(RuntimeError):  # no home directory
        if sys.platform == "darwin":
            yield Path.home() / "Library" / "Caches" / "mercer" / "numba"
        elif sys.platform == "win32":
            yield Path(os.environ.get("LOCALAPPDATA", Path.home())) / "mercer" / "numba"
        else:
            yield Path.home() / ".cache" / "mercer" / "numba"


@functools.cache
def _build_key() -> str:
    digest = hashlib.sha256()
    digest.update(str(_PACKAGE).encode())  # two checkouts never share object code
    digest.update(f"{_numba().__version__} {sys.version} {sys.platform}".encode())
    digest.update(_processor().encode())
    for name, value in sorted(os.environ.items()):
        if name.startswith("NUMBA_") and name not in _WITHOUT_EFFECT:
            digest.update(f"{name}={value}".encode())
    return digest.hexdigest()[:24]


def _processor() -> str:
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return f"{llvm.get_host_cpu_name()} {features}"


def _prune(root: Path, keep: Path) -> None:
    """Drop folders of old builds: beyond the newest few, and not touched for a day (another process may use them)."""
    with contextlib.suppress(OSError):
        others = [path for path in root.iterdir() if path.is_dir() and path != keep]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in others[_KEPT_FOLDERS:]:
            if time.time() - path.stat().st_mtime > _SECONDS_BEFORE_PRUNING:
                shutil.rmtree(path, ignore_errors=True)

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
- A disk cache of our own (`_compiled.py`). Numba's default cache does not notice that a function called from *another*
  file changed, fails at import where nothing is writable, and confuses what two processes compile at a time. Ours is a
  folder for each build (this copy of the library, Numba, the processor, Numba's flags) and in it one for each file,
  named by the text of that file and of all that it imports: an edit compiles anew what depends on it, and nothing else.
  Where no folder is writable there is no cache.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, overload

from mercer._compiled import Files, folder_of
from mercer._process import free_when_forking, interrupt_held_back

Function = TypeVar("Function", bound=Callable[..., Any])

Array = Any
"""The type of array arguments of hot loops, which Numba checks, not mypy."""
FASTMATH = frozenset({"contract", "reassoc", "nsz", "arcp"})
_decorating = free_when_forking(threading.RLock())
_MODULE, _OPTIMISE = "_final_module", "_optimize_final_module"
"""What Numba calls the code of a library before it is optimised, and what optimises it: no public name does."""
_CACHE, _IMPLEMENTATION, _NUMBERED = "_cache", "_impl", "_cache_file"
"""What it calls the cache of a function, what knows the name of its files, and its index with the files."""
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
        folder = folder_of(Path(self._function.__code__.co_filename)) if self._cache else None
        # Without the wrapper for C, which nobody calls, compiling takes a twentieth less time.
        options: dict[str, Any] = {"no_cfunc_wrapper": True} | ({"inline": "always"} if self._inline else {})
        with _numba_cache_at(folder):
            decorate = _numba().njit(
                nogil=True, error_model="numpy", fastmath=self._flags, cache=folder is not None, **options
            )
            compiled = decorate(self._function)
        _keep_apart(getattr(compiled, _CACHE, None))
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


def _keep_apart(cache: Any) -> None:
    """Replace the index and numbered files of Numba's cache of a function, which two processes can confuse."""
    numbered = getattr(cache, _NUMBERED, None)
    if numbered is not None:  # a Numba that names it otherwise keeps its own way
        setattr(
            cache,
            _NUMBERED,
            Files(Path(cache.cache_path), getattr(cache, _IMPLEMENTATION).filename_base, type(numbered)),
        )


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

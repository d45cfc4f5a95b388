"""Where compiled loops are kept on disk: a folder for each version of each file, a file for each loop and signature.

Numba's own cache keeps numbered files and an index of them for each function. Two processes that compile two signatures
of one function at the same time may give both the same number, and a third, or either of them next time, then runs the
code of one signature on arrays of the other: it crashes. Here each signature has an index and a file of its own, named
by it.
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
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

_WITHOUT_EFFECT = (
    "NUMBA_CACHE_DIR",
    "NUMBA_NUM_THREADS",
    "NUMBA_THREADING_LAYER",
    "NUMBA_THREADING_LAYER_PRIORITY",
)
"""Settings on which compiled code does not depend, since it never asks Numba for threads; joblib sets some of them in
its workers, which would otherwise compile everything anew.
"""
_KEPT_FOLDERS = 6
"""The number of other builds, and of other versions of a file, whose compiled code is kept for those who go back ..."""
_SECONDS_BEFORE_PRUNING = 24 * 3600.0
"""... and what was used within a day is kept in any case, since another process may be about to read it."""
_IMPORT = re.compile(
    rb"^\s*(?:from\s+(mercer[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+(mercer[\w.]*))", re.MULTILINE
)
"""An import from this package, with the names it takes: some of them may be modules."""
_PACKAGE = Path(__file__).parent


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
def folder_of(source: Path) -> Path | None:
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


class Files:
    """The compiled signatures of one function, each in files of its own; Numba asks for them by a key."""

    def __init__(self, folder: Path, name: str, files: Callable[[str, str, Any], Any]) -> None:
        """`files` is Numba's class of an index with its files, of a folder, a name and a stamp of the source."""
        self._folder, self._name, self._files = folder, name, files

    def load(self, key: Any) -> Any:
        """What was compiled for a key, or None: Numba then compiles it."""
        return self._of(key).load(key)

    def save(self, key: Any, code: Any) -> None:
        """Keep what was compiled for a key."""
        self._of(key).save(key, code)

    def flush(self) -> None:
        """Forget all of them."""
        for path in self._folder.glob(f"{self._name}.*.nb[ic]"):
            path.unlink(missing_ok=True)

    def _of(self, key: Any) -> Any:
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:20]
        return self._files(str(self._folder), f"{self._name}.{digest}", None)  # the folder's name is the stamp


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
    digest.update(f"{version('numba')} {sys.version} {sys.platform}".encode())
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

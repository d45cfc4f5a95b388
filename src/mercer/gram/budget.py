"""How much memory may be used, and the refusal of what does not fit."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mercer import _check
from mercer.errors import MemoryBudgetError

MIB = 2**20  # bytes
LEAST = 16 * MIB
"""At least this much counts as available: NumPy alone takes more."""
SURE = LEAST // 2
"""This much may be stored without asking the system, because asking takes longer than using it."""
_UNLIMITED = 2**60  # bytes; systems without a limit state one beyond this

Memory = str | float


def stored_bytes(memory: Memory) -> int:
    """The bytes that stored Gram matrices may take: ``"auto"`` is half of what is available, a number is MiB."""
    if memory == "auto":
        return available_bytes() // 2  # the rest is for solvers, and for whatever else runs here
    if isinstance(memory, str):
        raise _check.fail("Gram", "memory", "'auto' or a number of MiB", memory)
    return int(_check.real("Gram", "memory", memory, low=0, low_open=True, high_open=True) * MIB)


def holds(memory: Memory, needed: float) -> bool:
    """Whether this many bytes may be stored; for a few, the system is not asked, because that takes longer.

    >>> holds("auto", 1000), holds(0.5, MIB)
    (True, False)
    """
    if memory == "auto" and needed <= SURE:
        return True
    return needed <= stored_bytes(memory)


def require(needed: int, budget: int, what: str, remedy: str) -> None:
    """Refuse, before anything is allocated, what cannot fit."""
    if needed > budget:
        raise MemoryBudgetError(
            f"{what} needs {_shown(needed)}; the budget is {_shown(budget)} ({_shown(available_bytes())} of memory are "
            f"available). {remedy}"
        )


def available_bytes() -> int:
    """Memory that could be allocated now: what the system has free, or the container allows, whichever is less."""
    return max(LEAST, min(_system_bytes(), _container_bytes()))


def _system_bytes() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    if sys.platform == "win32":
        return _windows_bytes()
    try:  # macOS reports only the total
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return 4 * 1024 * MIB


def _windows_bytes() -> int:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "free", "page", "page_free", "virtual", "virtual_free")),
            ("extended", ctypes.c_ulonglong),
        )

    status = Status()
    status.length = ctypes.sizeof(Status)
    ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined,unused-ignore]
    return int(status.free)


def _container_bytes() -> int:
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            allowed = int(Path(limit).read_text())
            return max(0, allowed - int(Path(used).read_text())) if allowed < _UNLIMITED else _UNLIMITED
        except (OSError, ValueError):  # not in such a container, or "max"
            continue
    return _UNLIMITED


def _shown(size: int) -> str:
    return f"{size / 1024**3:,.1f} GiB" if size >= 1024**3 else f"{size / MIB:,.1f} MiB"

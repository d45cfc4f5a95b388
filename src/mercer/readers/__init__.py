"""Files of every kind: Mercer detects what is in them from content and suffix, checks it, and reports it.

    from mercer.readers import read

    data = read("patients.csv", target="diagnosis")

Nothing in a file is ever executed; files that are too large, broken or hostile are refused with messages that name the
file, the line and the column.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.readers.data import Data as Data
    from mercer.readers.options import Options as Options
    from mercer.readers.reading import read as read

_HOMES = {
    "Data": "mercer.readers.data",
    "Options": "mercer.readers.options",
    "read": "mercer.readers.reading",
}

__all__ = ["Data", "Options", "read"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mercer.readers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

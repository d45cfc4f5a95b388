"""The files of the page, read once when the server starts."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import final

TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
_IMPORT_MAP = re.compile(r'<script type="importmap">(.*?)</script>', re.DOTALL)


@final
@dataclass(frozen=True)
class Asset:
    """One file, ready to be sent."""

    content: bytes
    type: str
    tag: str
    """Its entity tag: a page that has the file already is told so."""


def load() -> dict[str, Asset]:
    """Every file by its address: index.html is "/", the others are below /static/."""
    found = {f"/static/{name}": _asset(file) for name, file in _files(resources.files("mercer.studio") / "static")}
    found["/"] = found.pop("/static/index.html")
    return found


def policy(index: bytes) -> str:
    """The content policy of the page: scripts, styles and requests of this server alone, and no markup from text."""
    inline = _IMPORT_MAP.search(index.decode())
    assert inline is not None
    digest = base64.b64encode(hashlib.sha256(inline.group(1).encode()).digest()).decode()
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'self' 'sha256-{digest}'",
            "style-src 'self'",
            "connect-src 'self'",
            "frame-src 'self'",
            "img-src 'self' data: blob:",
            "form-action 'none'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _files(folder: Traversable, prefix: str = "") -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for item in folder.iterdir():
        if item.is_dir():
            found += _files(item, f"{prefix}{item.name}/")
        elif item.name.rpartition(".")[2] in TYPES:
            found.append((prefix + item.name, item))
    return found


def _asset(file: Traversable) -> Asset:
    content = file.read_bytes()
    return Asset(content, TYPES[file.name.rpartition(".")[2]], f'"{hashlib.sha256(content).hexdigest()[:20]}"')

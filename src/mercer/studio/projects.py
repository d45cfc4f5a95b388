"""Projects as plain files, which the command line reads too.

::

    home/<project>/project.json          what the file is called, when it came
    home/<project>/data/<file>           the file itself
    home/<project>/jobs/<job>/plan.json  what was asked
                              events.jsonl  what happened, line by line
                              model.mercer.partial, model.mercer, report.html, result.json

Everything is written completely or not at all, except events, whose last line may be cut off.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
import unicodedata
from pathlib import Path
from typing import Any, final

from mercer.studio.refusal import refuse

_ID = re.compile(r"[a-z0-9]{12}", re.ASCII)
_LONGEST_NAME = 100
"""Characters of a file name that are kept; file systems take 255 bytes."""
FILES = {"model": "model.mercer", "report": "report.html"}
"""What a finished job offers for download."""


def default_home() -> Path:
    """Where projects are stored, unless the user says otherwise: with the data of other programs."""
    base = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return Path(base) / "mercer" / "studio"


@final
class Projects:
    """All projects in one folder."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def new(self, name: str) -> tuple[str, Path]:
        """A new project for a file of this name: its id, and where the file is to be written."""
        key = secrets.token_hex(6)
        folder = self.home / key
        (folder / "data").mkdir(parents=True)
        (folder / "jobs").mkdir()
        kept = safe_name(name)
        write_json(folder / "project.json", {"id": key, "name": kept, "created": time.time()})
        return key, folder / "data" / kept

    def folder(self, key: str) -> Path:
        """The folder of a project that exists."""
        found = self.home / key
        if not _ID.fullmatch(key) or not (found / "project.json").is_file():
            refuse("There is no such project.", "project")
        return found

    def job(self, key: str, job: str) -> Path:
        """The folder of a job that exists."""
        found = self.folder(key) / "jobs" / job
        if not _ID.fullmatch(job) or not (found / "plan.json").is_file():
            refuse("There is no such search.", "job")
        return found

    def data(self, key: str) -> Path:
        """The file of a project."""
        return next(iter(sorted((self.folder(key) / "data").iterdir())), self.folder(key) / "data" / "missing")

    def told(self, key: str) -> dict[str, Any]:
        """What is known about a project, with its jobs, the latest first."""
        folder = self.folder(key)
        about = read_json(folder / "project.json")
        plans = [job / "plan.json" for job in (folder / "jobs").iterdir()]  # written once, when a job begins
        begun = sorted(filter(Path.is_file, plans), key=lambda plan: plan.stat().st_mtime_ns, reverse=True)
        file = self.data(key)
        size = file.stat().st_size if file.exists() else 0
        return {**about, "file": file.name, "path": str(file), "size": size,
                "jobs": [plan.parent.name for plan in begun]}  # fmt: skip

    def all(self) -> list[dict[str, Any]]:
        """Every project, the latest first; folders that are not projects are ignored."""
        if not self.home.is_dir():
            return []
        keys = [item.name for item in self.home.iterdir() if _ID.fullmatch(item.name)]
        found = [self.told(key) for key in keys if (self.home / key / "project.json").is_file()]
        return sorted(found, key=lambda one: -float(one.get("created", 0)))

    def remove(self, key: str) -> None:
        """Delete a project with all its files."""
        shutil.rmtree(self.folder(key))


def safe_name(name: str) -> str:
    """A file name without folders, control characters or leading dots; "data" if nothing is left."""
    base = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    kept = "".join(one for one in base if one.isprintable() and one not in '<>:"|?*').strip().lstrip(".")
    if len(kept) > _LONGEST_NAME:
        stem, dot, suffix = kept.rpartition(".")
        kept = f"{stem[: _LONGEST_NAME - len(suffix) - 1]}{dot}{suffix}" if len(suffix) < 20 else kept[:_LONGEST_NAME]
    return kept.encode("utf-8", "ignore").decode() or "data"


def write_json(path: Path, content: Any) -> None:
    """Replace a file completely or not at all."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    beside.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
    os.replace(beside, path)


def read_json(path: Path) -> dict[str, Any]:
    """A file that `write_json` wrote; an empty object if it is missing or damaged."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def read_events(path: Path, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """The complete lines from a position on, and the position after them."""
    try:
        with open(path, "rb") as stream:
            stream.seek(offset)
            content = stream.read()
    except OSError:
        return [], offset
    whole = content[: content.rfind(b"\n") + 1]
    events = []
    for line in whole.splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            continue  # a line that a killed process cut off
        if isinstance(told, dict):
            events.append(told)
    return events, offset + len(whole)

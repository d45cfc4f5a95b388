"""Searches under way: one process each, which the server starts, watches and ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, final

from mercer.studio.projects import Projects, read_events, read_json, write_json
from mercer.studio.refusal import refuse

_GRACE = 0.25
"""Seconds that a cancelled search has to report back before it is killed: what it finished is already on disk."""
_MOST = 2
"""The most searches that run at once: each uses every core."""
ENDS = ("finished", "failed")


@final
class Searches:
    """The processes of this server."""

    def __init__(self, projects: Projects) -> None:
        self.projects = projects
        self._running: dict[str, asyncio.subprocess.Process] = {}

    async def start(self, project: str, plan: dict[str, Any]) -> str:
        """Start a search; the id of its job."""
        self._refuse_too_many()
        job = secrets.token_hex(6)
        folder = self.projects.folder(project) / "jobs" / job
        folder.mkdir()
        write_json(folder / "plan.json", plan)
        await self._launch(folder, job)
        return job

    async def resume(self, project: str, job: str) -> None:
        """Resume a search that was cancelled or killed."""
        folder = self.projects.job(project, job)
        if self.state(folder) not in ("stopped", "interrupted"):
            refuse("Only a search that was stopped can be resumed.", "job")
        self._refuse_too_many()
        await self._launch(folder, job)

    async def cancel(self, job: str) -> None:
        """End a search within half a second; what it has finished stays."""
        process = self._running.get(job)
        if process is None or process.returncode is not None:
            refuse("This search is not running.", "job")
        _signal(process, signal.SIGINT)
        try:
            async with asyncio.timeout(_GRACE):
                await process.wait()
        except TimeoutError:
            _signal(process, signal.SIGKILL)
            await process.wait()

    async def stop(self) -> None:
        """End all searches, as the server ends."""
        for process in self._running.values():
            if process.returncode is None:
                _signal(process, signal.SIGKILL)
                await process.wait()

    def is_running(self, job: str) -> bool:
        process = self._running.get(job)
        return process is not None and process.returncode is None

    def state(self, folder: Path) -> str:
        """running, finished, failed, stopped (by the user) or interrupted (it, or the server, was killed)."""
        if self.is_running(folder.name):
            return "running"
        last = [event["type"] for event in read_events(folder / "events.jsonl")[0] if event.get("type") in STATES]
        return last[-1] if last and last[-1] != "started" else "interrupted"

    def told(self, project: str, job: str) -> dict[str, Any]:
        """What is known about a job."""
        folder = self.projects.job(project, job)
        return {"id": job, "state": self.state(folder), "plan": read_json(folder / "plan.json"),
                "result": read_json(folder / "result.json") or None}  # fmt: skip

    def _refuse_too_many(self) -> None:
        if sum(self.is_running(job) for job in self._running) >= _MOST:
            refuse(f"{_MOST} searches are running already; wait for one, or cancel it.", "job")

    async def _launch(self, folder: Path, job: str) -> None:
        attempt = 1 + sum(event.get("type") == "started" for event in read_events(folder / "events.jsonl")[0])
        with open(folder / "events.jsonl", "ab") as stream:
            # End a line that a killed process left half written.
            stream.write(b'\n{"type": "started", "attempt": %d, "time": %f}\n' % (attempt, time.time()))
        with open(folder / "output.txt", "ab") as output:
            self._running[job] = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "mercer.studio.job", str(folder),
                stdin=subprocess.PIPE,  # closing it tells the search that the server is gone
                stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip


STATES = ("started", "finished", "failed", "stopped")


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)

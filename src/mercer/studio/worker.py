"""The server's side of the worker: one process, one question at a time, and a limit after which it is replaced."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from typing import Any, final

LIMIT = 5.0
"""Seconds for an answer: nobody watches a page longer than that without wondering."""
WARM_LIMIT = 300.0
"""Seconds for the first answer of a new worker, which may have to compile every loop first."""
_LINE = 64 * 2**20
"""Bytes of the longest answer. The largest picture, 400 points with all views, has 1 MB."""

TOO_LONG = {
    "message": "This took longer than 5 seconds and was stopped. Use fewer points, or a cheaper kernel.",
    "field": "",
    "position": None,
}
STOPPED = {"message": "The worker ended unexpectedly; a new one is starting.", "field": "", "position": None}


@final
class Worker:
    """A process that answers questions; it is started when it is first needed, and again after it was killed."""

    def __init__(self, command: list[str] | None = None, *, limit: float = LIMIT) -> None:
        self._command = command or [sys.executable, "-P", "-m", "mercer.studio.desk"]
        self._limit = limit
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self.warm = False
        self.started = 0

    async def ask(self, method: str, told: dict[str, Any], limit: float | None = None) -> dict[str, Any]:
        """The answer, or an error: of the question, of its time, or of the process."""
        async with self._turn:
            if not self.warm and method != "warm":
                first = await self._exchange("warm", {}, WARM_LIMIT)
                self.warm = "answer" in first
            return await self._exchange(method, told, limit or self._limit)

    async def warm_up(self) -> None:
        """Start the process and have it compile, so that the first question is answered like any other."""
        async with self._turn:
            if not self.warm:
                told = await self._exchange("warm", {}, WARM_LIMIT)
                self.warm = "answer" in told

    async def _exchange(self, method: str, told: dict[str, Any], limit: float) -> dict[str, Any]:
        process = await self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            async with asyncio.timeout(limit):
                process.stdin.write(json.dumps({"method": method, "told": told}).encode() + b"\n")
                await process.stdin.drain()
                line = await process.stdout.readline()
        except TimeoutError:
            await self.stop()
            return {"error": dict(TOO_LONG), "slow": True}
        except asyncio.CancelledError:
            await self.stop()  # half an exchange: the next question must not get its answer
            raise
        except (OSError, ValueError):
            line = b""
        if not line.endswith(b"\n"):
            await self.stop()
            return {"error": dict(STOPPED)}
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self.warm = False
            self.started += 1
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                limit=_LINE,
                start_new_session=True,  # Ctrl-C is for the server, which ends the worker itself
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # matrices are small: threads would only wait
            )
        return self._process

    async def stop(self) -> None:
        """Kill the process, if there is one."""
        process, self._process, self.warm = self._process, None, False
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

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

LIMIT = 4.5
"""Seconds for an answer: even with the way there and back, nobody waits longer than five."""
COMPILING_LIMIT = 300.0
"""Seconds for an answer whose loops must be compiled first, which happens once; the page is told, and asks again."""
_GRACE = 0.4
"""Seconds beyond its limit after which a question is certainly answered, or its process killed, unless it compiles."""
_KEPT = 10.0
"""Seconds for which a late answer is kept for whoever asks again."""
COMPILING = b'{"compiling": true}\n'
"""The line that a process writes before its answer, if it has to compile something."""
_LINE = 64 * 2**20
"""Bytes of the longest answer. The largest picture, 400 points with all views, has 1 MB."""

TOO_LONG = {
    "message": "This took more than 5 seconds and was stopped. Try fewer points, smaller objects or a cheaper kernel.",
    "field": "",
    "position": None,
}
WAITING = {"waiting": True}
"""There is no answer yet, because something is being compiled or another question takes long: ask again."""
STOPPED = {"message": "The worker ended unexpectedly; a new one is starting.", "field": "", "position": None}


@final
class Worker:
    """A process that answers questions; it is started when it is first needed, and again after it was killed."""

    def __init__(self, command: list[str] | None = None, *, limit: float = LIMIT) -> None:
        self._command = command or [sys.executable, "-P", "-m", "mercer.studio.desk"]
        self._limit = limit
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._late: dict[str, asyncio.Task[dict[str, Any]]] = {}
        self.warm = False
        self.started = 0

    async def ask(self, method: str, told: dict[str, Any], limit: float | None = None) -> dict[str, Any]:
        """The answer, or an error: a bad question, a timeout, or a failed process.

        A question without a `limit` of its own that has to wait for compilation gets `WAITING` within the usual limit.
        Compilation goes on, and whoever asks again gets the result.
        """
        patience = self._limit if limit is None else None
        began = asyncio.get_running_loop().time()
        question = json.dumps([method, told], sort_keys=True)
        work = self._late.get(question)
        if work is None:
            try:
                async with asyncio.timeout(patience):
                    await self._turn.acquire()
            except TimeoutError:
                return dict(WAITING)
            work = asyncio.create_task(self._in_turn(method, told, self._limit if limit is None else limit))
        if patience is not None:
            patience = max(patience + _GRACE - (asyncio.get_running_loop().time() - began), 0.0)
        try:
            done, _ = await asyncio.wait({work}, timeout=patience)
        except asyncio.CancelledError:
            work.cancel()  # half an exchange: the next question must not get this answer
            await asyncio.gather(work, return_exceptions=True)
            raise
        if done:
            self._late.pop(question, None)
            return work.result()
        if question not in self._late:
            self._late[question] = work
            work.add_done_callback(lambda _: self._forget_later(question))
        return dict(WAITING)

    def _forget_later(self, question: str) -> None:
        asyncio.get_running_loop().call_later(_KEPT, self._late.pop, question, None)

    async def _in_turn(self, method: str, told: dict[str, Any], limit: float) -> dict[str, Any]:
        """The answer of the process, which is warmed up first; the turn ends with it."""
        try:
            await self._warmed()
            return await self._exchange(method, told, limit)
        finally:
            self._turn.release()

    async def _warmed(self) -> None:
        if not self.warm:
            first = await self._exchange("warm", {}, COMPILING_LIMIT)
            self.warm = "answer" in first

    async def warm_up(self) -> None:
        """Start the process and compile ahead, so that the first questions are answered as fast as any others.

        What the first picture needs comes first, since a page that has just opened waits for it; then the rest, with
        questions answered between the steps.
        """
        async with self._turn:
            await self._warmed()
        step, more = 0, True
        while more:
            told = await self.ask("warm_lab", {"step": step}, COMPILING_LIMIT)
            step, more = step + 1, bool(told.get("answer"))

    async def _exchange(self, method: str, told: dict[str, Any], limit: float) -> dict[str, Any]:
        process = await self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            async with asyncio.timeout(limit) as timer:
                process.stdin.write(json.dumps({"method": method, "told": told}).encode() + b"\n")
                await process.stdin.drain()
                line = await process.stdout.readline()
                while line == COMPILING:
                    timer.reschedule(asyncio.get_running_loop().time() + COMPILING_LIMIT)
                    line = await process.stdout.readline()
        except TimeoutError:
            await self._kill()
            return {"error": dict(TOO_LONG), "slow": True}
        except asyncio.CancelledError:
            await self._kill()
            raise
        except (OSError, ValueError):
            line = b""
        if not line.endswith(b"\n"):
            await self._kill()
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
        """Abandon what is under way, and kill the process, if there is one."""
        late, self._late = list(self._late.values()), {}
        for work in late:
            work.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        await self._kill()

    async def _kill(self) -> None:
        process, self._process, self.warm = self._process, None, False
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

"""Bodies of requests: read within limits of size and time, so that nobody can fill the memory or hold a place."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

if TYPE_CHECKING:
    from starlette.requests import Request

MOST_JSON = 2 * 2**20
"""The most bytes of a question: 400 points take 20 kB, a hundred pasted objects less than this."""
MOST_UPLOAD = 2**30
"""The most bytes of a file, the same as `mercer fit` reads by default."""
PATIENCE = 10.0
"""Seconds to wait for the next part of a body."""


async def parts(request: Request, most: int, patience: float = PATIENCE) -> AsyncIterator[bytes]:
    """The body, part by part; refuses one that is longer than declared or allowed, or does not arrive."""
    said = request.headers.get("content-length", "")
    if said and (not said.isascii() or not said.isdigit()):
        raise HTTPException(400, "The length of the body is not a number.")
    if said and int(said[:20]) > most:
        raise HTTPException(413, f"The body has more than {most:,} bytes.")
    stream, size = request.stream(), 0
    while True:
        try:
            async with asyncio.timeout(patience):
                part = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError as error:
            raise HTTPException(408, "The rest of the body did not arrive.") from error
        except ClientDisconnect as error:
            raise HTTPException(400, "The connection ended before the body did.") from error
        size += len(part)
        if size > most:
            raise HTTPException(413, f"The body has more than {most:,} bytes.")
        yield part


async def question(request: Request) -> dict[str, Any]:
    """The body as a JSON object; an empty body gives an empty object."""
    content = b"".join([part async for part in parts(request, MOST_JSON)])
    try:
        told = json.loads(content.decode() or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "The body is not JSON.") from error
    if not isinstance(told, dict):
        raise HTTPException(400, "The body must be a JSON object.")
    return told


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")

"""The web application: what is answered at which address. It computes nothing itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from mercer._version import __version__
from mercer.studio import assets, bodies
from mercer.studio.guard import Guard, Signer
from mercer.studio.worker import Worker

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

ASKED_FREELY = frozenset({"picture", "trace", "complete"})
"""What a page may ask the worker directly."""


def application(token: str, worker: Worker) -> ASGIApp:
    """The whole application behind its guard."""
    files = assets.load()
    policy = assets.policy(files["/"].content)
    signer = Signer(token)
    del signer

    async def file(request: Request) -> Response:
        found = files.get(request.url.path)
        if found is None:
            raise HTTPException(404)
        headers = {"etag": found.tag, "cache-control": "no-cache"}
        if request.url.path == "/":
            headers["content-security-policy"] = policy
        if request.headers.get("if-none-match") == found.tag:
            return Response(status_code=304, headers=headers)
        return Response(found.content, media_type=found.type, headers=headers)

    async def hello(request: Request) -> Response:
        return _json({"version": __version__, "warm": worker.warm})

    async def lab(request: Request) -> Response:
        method = request.path_params["method"]
        if method not in ASKED_FREELY:
            raise HTTPException(404)
        return _answered(await worker.ask(method, await bodies.question(request)))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        warming = asyncio.create_task(worker.warm_up())
        try:
            yield
        finally:
            warming.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await warming
            await worker.stop()

    routes = [
        Route("/", file),
        Route("/static/{path:path}", file),
        Route("/api/hello", hello),
        Route("/api/lab/{method}", lab, methods=["POST"]),
    ]
    app = Starlette(
        routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _refused, Exception: _unexpected}
    )
    app.router.redirect_slashes = False  # an address is right or wrong
    return Guard(app, token)


def _answered(told: dict[str, Any]) -> Response:
    """An answer of the worker: 200, or 422 with the field to blame, or 504 if it took too long."""
    if "error" not in told:
        return _json(told["answer"])
    status = 504 if told.get("slow") else 422
    return _json({"error": told["error"]}, status)


def _json(content: Any, status: int = 200) -> Response:
    return JSONResponse(content, status, headers={"cache-control": "no-store"})


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if request.url.path.startswith("/api/"):
        return _json({"error": {"message": error.detail, "field": "", "position": None}}, error.status_code)
    return PlainTextResponse(error.detail, error.status_code)


def _unexpected(request: Request, error: Exception) -> Response:
    return PlainTextResponse("Something unexpected went wrong; the terminal has the details.", 500)

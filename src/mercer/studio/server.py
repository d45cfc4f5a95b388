"""The web application: what is answered at which address. It computes nothing itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mercer._version import __version__
from mercer.studio import assets, bodies
from mercer.studio.answers import answered, as_json
from mercer.studio.guard import Guard, Signer
from mercer.studio.projects import Projects
from mercer.studio.refusal import Refusal
from mercer.studio.searches import Searches
from mercer.studio.workbench_routes import workbench_routes
from mercer.studio.worker import Worker

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

ASKED_FREELY = frozenset({"picture", "trace", "complete", "parse", "pair", "question"})
"""What a page may ask the worker directly."""


def application(token: str, worker: Worker, home: Path, closing: Callable[[], bool] = lambda: False) -> ASGIApp:
    """The whole application behind its guard; `closing` says whether the server is about to end."""
    files = assets.load()
    policy = assets.policy(files["/"].content)
    searches = Searches(Projects(home))

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
        return as_json({"version": __version__, "warm": worker.warm})

    async def lab(request: Request) -> Response:
        method = request.path_params["method"]
        if method not in ASKED_FREELY:
            raise HTTPException(404)
        return answered(await worker.ask(method, await bodies.question(request)))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        warming = asyncio.create_task(worker.warm_up())
        try:
            yield
        finally:
            warming.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await warming
            await searches.stop()
            await worker.stop()

    routes = [
        Route("/", file),
        Route("/static/{path:path}", file),
        Route("/api/hello", hello),
        Route("/api/lab/{method}", lab, methods=["POST"]),
        *workbench_routes(worker, searches, Signer(token), closing),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={HTTPException: _refused, Refusal: _cannot, Exception: _unexpected},
    )
    app.state.searches = searches
    app.router.redirect_slashes = False  # an address is right or wrong
    return Guard(app, token)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if request.url.path.startswith("/api/"):
        return as_json({"error": {"message": error.detail, "field": "", "position": None}}, error.status_code)
    return PlainTextResponse(error.detail, error.status_code)


def _cannot(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return as_json({"error": error.told()}, 404 if error.field in ("project", "job") else 422)


def _unexpected(request: Request, error: Exception) -> Response:
    return PlainTextResponse("Something unexpected went wrong; the terminal has the details.", 500)

"""The HTTP service; needs the extra ``studio``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mercer.errors import MercerError, missing_extra
from mercer.serving.service import Service, as_csv

MOST_BYTES = 16 * 2**20
"""The largest request body in bytes: larger ones are refused before they are read."""


def application(service: Service) -> Any:
    """An ASGI application: ``GET /health``, ``GET /schema``, ``POST /predict`` with JSON or CSV."""
    try:
        from starlette.applications import Starlette
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import JSONResponse, PlainTextResponse, Response
        from starlette.routing import Route
    except ImportError as error:
        raise missing_extra("Serving a model", "starlette", "studio") from error

    def refused(status: int, message: str) -> Response:
        return JSONResponse({"error": message}, status_code=status)

    async def health(request: Any) -> Response:
        return JSONResponse(service.health())

    async def schema(request: Any) -> Response:
        return JSONResponse(service.schema())

    async def predict(request: Any) -> Response:
        kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        readers: dict[str, Callable[[bytes], list[dict[str, Any]]]] = {
            "application/json": service.from_json,
            "text/csv": service.from_csv,
        }
        if kind not in readers:
            return refused(415, f"The body is {kind}; only application/json and text/csv are accepted.")
        body = await _body(request)
        if body is None:
            return refused(413, f"The body is larger than {MOST_BYTES // 2**20} MiB. Send it in parts.")
        try:
            found = await run_in_threadpool(readers[kind], body)
        except MercerError as error:
            return refused(422, " ".join([str(error), *getattr(error, "__notes__", ())]))
        if "text/csv" in request.headers.get("accept", ""):
            return PlainTextResponse(as_csv(found), media_type="text/csv")
        return JSONResponse({"predictions": found})

    return Starlette(
        routes=[
            Route("/health", health),
            Route("/schema", schema),
            Route("/predict", predict, methods=["POST"]),
        ]
    )


async def _body(request: Any) -> bytes | None:
    """The whole body; None as soon as it is too large."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


def serve(service: Service, host: str, port: int) -> None:
    """Answer until interrupted."""
    try:
        import uvicorn
    except ImportError as error:
        raise missing_extra("Serving a model", "uvicorn", "studio") from error
    uvicorn.run(application(service), host=host, port=port, log_level="warning")

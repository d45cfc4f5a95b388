"""Answers as JSON."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse, Response


def answered(told: dict[str, Any]) -> Response:
    """An answer of the worker: 200; 202 if the page should ask again; 422 with the field at fault; 504 if too late."""
    if told.get("waiting"):
        return as_json(told, 202)
    if "error" not in told:
        return as_json(told["answer"])
    status = 504 if told.get("slow") else 422
    return as_json({"error": told["error"]}, status)


def as_json(content: Any, status: int = 200) -> Response:
    """A JSON response that the browser never caches, because it is about data."""
    return JSONResponse(content, status, headers={"cache-control": "no-store"})

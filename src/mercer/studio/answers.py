"""Answers as JSON."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse, Response


def answered(told: dict[str, Any]) -> Response:
    """An answer of the worker: 200; 202 if it is to be asked again; 422 with the field to blame; 504 if it took too
    long."""
    if told.get("waiting"):
        return as_json(told, 202)
    if "error" not in told:
        return as_json(told["answer"])
    status = 504 if told.get("slow") else 422
    return as_json({"error": told["error"]}, status)


def as_json(content: Any, status: int = 200) -> Response:
    """Never kept by the browser: it is about data."""
    return JSONResponse(content, status, headers={"cache-control": "no-store"})

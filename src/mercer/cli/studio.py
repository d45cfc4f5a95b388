"""`mercer studio`."""

from __future__ import annotations

from mercer.cli.failures import UsageError
from mercer.errors import missing_extra


def run(port: int | None, *, browser: bool) -> None:
    """Serve until Ctrl-C."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise missing_extra("mercer studio", error.name or "starlette", "studio") from error
    from mercer.studio.serving import serve

    try:
        serve(port, browser=browser, tell=_tell)
    except OSError as error:
        where = "a port" if port is None else f"port {port}"
        raise UsageError(
            f"cannot listen on {where}: {error.strerror or error}", "Choose another with --port, or leave it out."
        ) from error


def _tell(address: str) -> None:
    print(f"Mercer Studio: {address}", flush=True)
    print("Ctrl-C ends it.", flush=True)

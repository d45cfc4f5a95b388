"""`mercer studio`."""

from __future__ import annotations

from pathlib import Path

from mercer.cli.failures import UsageError
from mercer.errors import missing_extra


def run(file: str | None, port: int | None, home: str | None, *, browser: bool) -> None:
    """Serve until Ctrl-C; a file is copied into a project of its own."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise missing_extra("mercer studio", error.name or "starlette", "studio") from error
    from mercer.studio.projects import default_home
    from mercer.studio.serving import serve

    given = None if file is None else Path(file)
    if given is not None and not given.is_file():
        what = "is a folder" if given.is_dir() else "does not exist"
        raise UsageError(f"{file} {what}", "Give one file; folders are for `mercer fit`.")
    try:
        serve(port, home=Path(home) if home else default_home(), file=given, browser=browser, tell=_tell)
    except OSError as error:
        where = "a port" if port is None else f"port {port}"
        raise UsageError(
            f"cannot listen on {where}: {error.strerror or error}", "Choose another with --port, or leave it out."
        ) from error


def _tell(address: str) -> None:
    print(f"Mercer Studio: {address}", flush=True)
    print("Ctrl-C ends it.", flush=True)

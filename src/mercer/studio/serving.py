"""Starting and ending the server."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from mercer.studio.projects import Projects
from mercer.studio.server import application
from mercer.studio.worker import Worker

PORT = 8275
"""The port that is tried first, always the same so that tunnels and bookmarks keep working."""
_TRIES = 20
"""Ports that are tried in turn before the system chooses one."""


def listening(port: int | None) -> socket.socket:
    """A socket on this machine's own address: the port asked for, or the first free one from 8275 on."""
    wanted = [port] if port is not None else [*range(PORT, PORT + _TRIES), 0]
    for number in wanted:
        place = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            place.bind(("127.0.0.1", number))
            place.listen(64)
        except OSError:
            place.close()
            if number == wanted[-1]:
                raise
            continue
        return place
    raise OSError("no free port")


def serve(
    port: int | None,
    *,
    home: Path,
    file: Path | None = None,
    browser: bool = True,
    tell: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until Ctrl-C. A `file` is opened as a new project; `tell` gets the address."""
    place = listening(port)
    token = secrets.token_urlsafe(24)
    address = f"http://127.0.0.1:{place.getsockname()[1]}/#token={token}"
    if file is not None:
        key, target = Projects(home).new(file.name)
        shutil.copy(file, target)
        address += f"&/workbench/{key}"
    closing: list[uvicorn.Server] = []
    app = application(token, Worker(), home, lambda: bool(closing) and closing[0].should_exit)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,  # an open page keeps a stream open: Ctrl-C must not wait for it
        timeout_keep_alive=30,
        limit_concurrency=200,
        ws="none",
    )
    server = uvicorn.Server(config)
    closing.append(server)
    tell(address)
    if browser:
        with contextlib.suppress(webbrowser.Error):
            webbrowser.open(address)
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn raises it again once everything is closed
        server.run(sockets=[place])

"""Requests to the application without a network, and a worker without a process."""

import asyncio
import json
from dataclasses import dataclass
from urllib.parse import unquote

from mercer.studio import desk

TOKEN = "a-token-for-tests"
HOST_ONLY = {"host": "127.0.0.1:8275"}
OWN = {"host": "127.0.0.1:8275", "authorization": f"Bearer {TOKEN}"}


class DeskWorker:
    """The worker's questions, answered in this process."""

    warm = True

    def __init__(self):
        self.asked = []

    async def ask(self, method, told, limit=None):
        self.asked.append(method)
        return json.loads(json.dumps(desk.answer(json.dumps({"method": method, "told": told}))))

    async def warm_up(self):
        pass

    async def stop(self):
        pass


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body)


def request(app, method, path, *, headers=OWN, body=b"", parts=None, query=""):
    """One request; `parts` are pieces of the body, of which None stands for one that never comes."""
    return asyncio.run(exchange(app, method, path, headers=headers, body=body, parts=parts, query=query))


async def exchange(app, method, path, *, headers=OWN, body=b"", parts=None, query=""):
    pieces = [body] if parts is None else list(parts)
    sent = []

    async def receive():
        if not pieces:
            await asyncio.sleep(3600)  # nothing more comes, and the connection stays open
        piece = pieces.pop(0)
        if piece is None:
            await asyncio.sleep(3600)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message):
        sent.append(message)

    listed = headers.items() if isinstance(headers, dict) else headers
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in listed],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 8275),
        "state": {},
    }
    await app(scope, receive, send)
    start = next(message for message in sent if message["type"] == "http.response.start")
    content = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
    told = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
    return Answer(start["status"], told, content)

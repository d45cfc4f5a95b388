"""Who may ask: every request passes here before anything else looks at it.

The server answers only to names of this machine (otherwise a page of another site could reach it by a name of its own
that points here), only its own pages may ask, and everything under /api needs the token. A page knows the token from
the fragment of its address, which browsers never send. There are no cookies, because other servers on a shared machine
would get them.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?", re.ASCII)
_SIGNED_SECONDS = 120
"""Seconds for which a signed address works: long enough to open it, too short to find it in a log."""

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


@final
class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # web sockets: closed without a word
        refused = self._refused(scope)
        if refused is None:
            await self._app(scope, receive, _with_headers(send))
            return
        status, reason = refused
        body = reason.encode()
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        wrapped = _with_headers(send)
        await wrapped({"type": "http.response.start", "status": status, "headers": headers})
        await wrapped({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        """Status and reason, if the request is refused."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        hosts = [value.decode("latin-1") for value in headers.get(b"host", [])]
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            return 403, "This server answers to localhost only."
        own = f"http://{hosts[0]}".encode("latin-1")
        if any(origin != own for origin in headers.get(b"origin", [])):
            return 403, "Requests of other origins are refused."
        path = scope["path"]
        followed = (
            path == "/" and scope["method"] in ("GET", "HEAD") and headers.get(b"sec-fetch-dest") == [b"document"]
        )
        allowed = {b"same-origin", b"none"} | ({b"cross-site", b"same-site"} if followed else set())
        if any(site not in allowed for site in headers.get(b"sec-fetch-site", [])):
            return 403, "Requests of other sites are refused."
        if path.startswith("/api/") and not self._knows_token(headers.get(b"authorization", [])):
            return 401, "The token is missing or wrong. Open the address that `mercer studio` printed."
        return None

    def _knows_token(self, given: list[bytes]) -> bool:
        return len(given) == 1 and hmac.compare_digest(given[0], f"Bearer {self._token}".encode())


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message.get("headers", [])}
            more = [header for header in HEADERS if header[0] not in present]
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return sending


@final
class Signer:
    """Addresses that work without the token, for a short while: for frames and downloads, which cannot send one."""

    def __init__(self, token: str) -> None:
        self._key = hashlib.sha256(f"signed addresses {token}".encode()).digest()

    def signed(self, path: str, now: float | None = None) -> str:
        """The path with its expiry and signature."""
        until = int(time.time() if now is None else now) + _SIGNED_SECONDS
        return f"{path}?until={until}&signature={self._signature(path, until)}"

    def holds(self, path: str, until: str, signature: str) -> bool:
        """Whether an address was signed here, and has not expired."""
        if not re.fullmatch("[0-9]{1,12}", until, re.ASCII) or not signature.isascii():
            return False
        return hmac.compare_digest(signature, self._signature(path, int(until))) and time.time() <= int(until)

    def _signature(self, path: str, until: int) -> str:
        return hmac.new(self._key, f"{until} {path}".encode(), hashlib.sha256).hexdigest()

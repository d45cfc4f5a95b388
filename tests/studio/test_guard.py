"""Strangers are refused: without the token, under another name, from another origin or site."""

import pytest

from mercer.studio.guard import Signer
from tests.studio.asgi import OWN, TOKEN, request

HOST = {"host": "127.0.0.1:8275"}
DOCUMENT = {"sec-fetch-dest": "document", "sec-fetch-mode": "navigate"}

HOSTILE = [
    # no token, or a wrong one
    ("GET", "/api/hello", HOST, 401),
    ("GET", "/api/hello", HOST | {"authorization": "Bearer wrong"}, 401),
    ("GET", "/api/hello", HOST | {"authorization": f"Basic {TOKEN}"}, 401),
    ("GET", "/api/hello", HOST | {"authorization": TOKEN}, 401),
    ("GET", "/api/hello", HOST | {"authorization": f"bearer {TOKEN}"}, 401),
    ("GET", "/api/hello", HOST | {"authorization": f"Bearer {TOKEN} "}, 401),
    ("GET", "/api/hello", HOST | {"cookie": f"token={TOKEN}"}, 401),
    ("GET", "/api/hello", HOST | {"authorization": "Bearer \xff\xfe"}, 401),
    ("GET", "/api/hello", [*HOST.items(), ("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer x")], 401),
    ("POST", "/api/lab/picture", HOST, 401),
    ("POST", "/api/lab/warm", HOST, 401),
    ("GET", "/api/", HOST, 401),
    ("GET", "/api/nothing", HOST, 401),
    ("OPTIONS", "/api/hello", HOST, 401),
    # names that are not this machine's: a page of another site whose name points here
    *(
        ("GET", "/api/hello", OWN | {"host": name}, 403)
        for name in (
            "evil.example",
            "evil.example:8275",
            "127.0.0.1.evil.example",
            "localhost.evil.example:8275",
            "evil-localhost",
            "127.0.0.1:8275.evil.example",
            "127.0.0.1:",
            "127.0.0.1:80a",
            "127.0.0.1:123456",
            "127.0.0.1@evil.example",
            "localhost/",
            "LOCALHOST",
            "0.0.0.0:8275",
            "192.168.0.4:8275",
            "[::]",
            "[::1",
            "",
            " 127.0.0.1",
            "127.0.0.1\t",
            "\u00b927.0.0.1",
        )
    ),
    ("GET", "/api/hello", {"authorization": f"Bearer {TOKEN}"}, 403),
    ("GET", "/api/hello", [*OWN.items(), ("host", "127.0.0.1:8275")], 403),
    # other origins
    *(
        ("POST", "/api/lab/complete", OWN | {"origin": origin}, 403)
        for origin in (
            "http://evil.example",
            "null",
            "",
            "https://127.0.0.1:8275",
            "http://127.0.0.1:8276",
            "http://localhost:8275",
            "http://127.0.0.1",
            "http://127.0.0.1:8275/",
            "file://",
        )
    ),
    # other sites
    ("GET", "/api/hello", OWN | {"sec-fetch-site": "cross-site"}, 403),
    ("GET", "/api/hello", OWN | {"sec-fetch-site": "same-site"}, 403),
    ("GET", "/api/hello", OWN | {"sec-fetch-site": "cross-site", **DOCUMENT}, 403),
    ("GET", "/static/app.js", HOST | {"sec-fetch-site": "cross-site"}, 403),
    ("GET", "/", HOST | {"sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe"}, 403),
    ("POST", "/", HOST | {"sec-fetch-site": "cross-site", **DOCUMENT}, 403),
    ("GET", "/api/hello", OWN | {"sec-fetch-site": "nonsense"}, 403),
    # addresses that are none
    *(
        ("GET", path, OWN, 404)
        for path in (
            "/static/../server.py",
            "/static/..%2fserver.py",
            "/static/%2e%2e/server.py",
            "/static/../../../../etc/passwd",
            "/static//etc/passwd",
            "/static/vendor/",
            "/static/",
            "/static",
            "/static/app.js/",
            "/static/app.js%00",
            "/etc/passwd",
            "//evil.example",
            "/api/../static/app.js",
            "/index.html",
        )
    ),
    ("POST", "/api/lab/warm", OWN, 404),
    ("POST", "/api/lab/__class__", OWN, 404),
    ("GET", "/api/lab/picture", OWN, 405),
    ("DELETE", "/api/hello", OWN, 405),
    ("POST", "/", HOST, 405),
]


@pytest.mark.parametrize(("method", "path", "headers", "status"), HOSTILE)
def test_hostile_requests(app, method, path, headers, status):
    answer = request(app, method, path, headers=headers)
    assert answer.status == status
    assert TOKEN.encode() not in answer.body


def test_there_are_sixty_of_them():
    assert len(HOSTILE) >= 60


@pytest.mark.parametrize("host", ["127.0.0.1:8275", "localhost:8275", "localhost:9999", "127.0.0.1", "[::1]:8275"])
def test_own_names_are_answered_whatever_the_port_of_a_tunnel(app, host):
    assert request(app, "GET", "/api/hello", headers=OWN | {"host": host, "origin": f"http://{host}"}).status == 200


def test_a_link_from_elsewhere_opens_the_page_and_nothing_else(app):
    headers = HOST | {"sec-fetch-site": "cross-site", **DOCUMENT}
    assert request(app, "GET", "/", headers=headers).status == 200
    assert request(app, "GET", "/static/app.js", headers=headers).status == 403


def test_every_answer_carries_its_headers(app):
    for path, headers in (("/", HOST), ("/api/hello", OWN), ("/api/hello", HOST), ("/nothing", HOST)):
        told = request(app, "GET", path, headers=headers).headers
        assert told["x-content-type-options"] == "nosniff"
        assert told["referrer-policy"] == "no-referrer"
        assert told["cross-origin-resource-policy"] == "same-origin"
        assert "set-cookie" not in told


def test_the_page_has_a_strict_policy(app):
    policy = request(app, "GET", "/", headers=HOST).headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "trusted-types 'none'" in policy
    assert "frame-ancestors 'none'" in policy


class TestSigner:
    def test_a_signed_address_holds_for_its_path_and_time_alone(self):
        signer = Signer(TOKEN)
        path, _, query = signer.signed("/files/a").partition("?")
        until, signature = (part.partition("=")[2] for part in query.split("&"))
        assert signer.holds(path, until, signature)
        assert not signer.holds("/files/b", until, signature)
        assert not signer.holds(path, str(int(until) + 1), signature)
        assert not signer.holds(path, until, signature[:-1] + ("0" if signature[-1] != "0" else "1"))
        assert not Signer("another").holds(path, until, signature)

    def test_it_expires(self):
        path, _, query = Signer(TOKEN).signed("/files/a", now=1000.0).partition("?")
        until, signature = (part.partition("=")[2] for part in query.split("&"))
        assert not Signer(TOKEN).holds(path, until, signature)

    @pytest.mark.parametrize(
        ("until", "signature"), [("", ""), ("x", "y"), ("-1", "a"), ("9" * 30, "a"), ("1", "\u00e9")]
    )
    def test_nonsense_is_no_signature(self, until, signature):
        assert not Signer(TOKEN).holds("/files/a", until, signature)

"""Bodies that are too long, too slow or no JSON get an answer, and nothing of them is kept."""

import json

import pytest

from mercer.studio import bodies
from tests.studio.asgi import OWN, request

COMPLETE = "/api/lab/complete"


def test_a_question(app):
    told = request(app, "POST", COMPLETE, body=b'{"text": "rb"}')
    assert told.status == 200
    assert told.json()[0]["text"] == "rbf"


def test_said_to_be_too_long(app):
    headers = OWN | {"content-length": str(bodies.MOST_JSON + 1)}
    assert request(app, "POST", COMPLETE, headers=headers, body=b"{}").status == 413
    headers = OWN | {"content-length": str(bodies.MOST_JSON)}
    assert request(app, "POST", COMPLETE, headers=headers, body=b'{"text": "rb"}').status == 200


def test_longer_than_said(app):
    parts = [b"x" * 2**20] * 3
    assert request(app, "POST", COMPLETE, headers=OWN | {"content-length": "10"}, parts=parts).status == 413


@pytest.mark.parametrize("length", ["-1", "abc", "1e9", "\u0661", "9" * 40])
def test_lengths_that_are_none(app, length):
    headers = [*OWN.items()]
    answer = request(app, "POST", COMPLETE, headers=[*headers, ("content-length", length.encode().decode("latin-1"))])
    assert answer.status in (400, 413)


def test_a_body_that_does_not_come(app, monkeypatch):
    monkeypatch.setattr(bodies.parts, "__defaults__", (0.05,))
    assert request(app, "POST", COMPLETE, parts=[b'{"text"', None]).status == 408


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"3",
        b'"text"',
        b"null",
        b"\xff\xfe",
        b'{"text": NaN}',
        b'{"text": Infinity}',
        b"[" * 100_000,
        b"{}x",
    ],
)
def test_what_is_no_object_of_json(app, body):
    told = request(app, "POST", COMPLETE, body=body)
    assert told.status == 400
    assert told.json()["error"]["message"]


@pytest.mark.parametrize("told", [{}, {"text": 3}, {"text": None}, {"text": "x" * 2000}, {"text": "a", "caret": "b"}])
def test_fields_that_do_not_fit(app, told):
    answer = request(app, "POST", COMPLETE, body=json.dumps(told).encode())
    assert answer.status == 422
    assert answer.json()["error"]["field"] in ("text", "caret")
